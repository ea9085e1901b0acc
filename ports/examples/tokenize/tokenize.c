/* Prints the token ids of a text and the text that they spell: tokenize BLOB TEXT
 * A library with FOVEA_PROFILE=text suffices. */
#include "../example.h"

enum { TOKENS = 512, BYTES = 4096 };

static int tokenize(example* self, const char* path, const char* text) {
  static int32_t ids[TOKENS];
  static char decoded[BYTES];
  fovea_model* model;
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  uint64_t room = 0, size = 0, i;
  if (example_open(self, path, &model) != 0) return 1;

  EXAMPLE_TRY(self, fovea_text_scratch_size(model, strlen(text), &room, &self->error));
  tokens.capacity = TOKENS;
  tokens.ids = ids;
  EXAMPLE_TRY(self, fovea_text_encode(model, text, strlen(text), NULL, 0, NULL,
                                      example_memory(self, room, FOVEA_BLOCK_SCRATCH), room, &tokens, &self->error));
  for (i = 0; i < tokens.count; ++i) printf(i == 0 ? "%ld" : " %ld", (long)ids[i]);
  EXAMPLE_TRY(self, fovea_text_decode(model, ids, tokens.count, FOVEA_TEXT_CLEAN_UP, decoded, sizeof(decoded) - 1,
                                      &size, &self->error));
  decoded[size] = '\0';
  printf("\n%s\n", decoded);
  return 0;
}

int main(int argc, char** argv) {
  static example self;
  int status;
  if (argc != 3) {
    fprintf(stderr, "usage: %s BLOB TEXT\n", argv[0]);
    return 2;
  }
  status = tokenize(&self, argv[1], argv[2]);
  example_close(&self);
  return status;
}
