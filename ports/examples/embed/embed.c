/* Prints how similar two texts are, by the measure that the model was trained for: embed BLOB A B
 * Both texts are one batch; nothing is padded. */
#include "../example.h"

enum { TOKENS = 512, NUMBERS = 4096 };

static int embed(example* self, const char* path, char** texts) {
  static int32_t ids[2][TOKENS], types[2][TOKENS];
  static fovea_text_tokens tokens[2];
  fovea_model* model;
  fovea_session* session;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_result_info info = FOVEA_RESULT_INFO_INIT;
  static float rows[2 * NUMBERS];
  uint32_t i;
  if (example_open(self, path, &model) != 0) return 1;

  for (i = 0; i < 2; ++i) {
    uint64_t room = 0;
    EXAMPLE_TRY(self, fovea_text_scratch_size(model, strlen(texts[i]), &room, &self->error));
    tokens[i].struct_size = sizeof(tokens[i]);
    tokens[i].capacity = TOKENS;
    tokens[i].ids = ids[i];
    tokens[i].types = types[i];
    EXAMPLE_TRY(self,
                fovea_text_encode(model, texts[i], strlen(texts[i]), NULL, 0, NULL,
                                  example_memory(self, room, FOVEA_BLOCK_SCRATCH), room, &tokens[i], &self->error));
    options.rows += tokens[i].count;
  }
  options.texts = 2;
  EXAMPLE_TRY(self, fovea_session_make(model, &options, example_memory, self, &session, &self->error));
  EXAMPLE_TRY(self, fovea_text_bind(session, tokens, 2, &self->error));
  EXAMPLE_TRY(self, fovea_session_run(session, &self->error));

  EXAMPLE_TRY(self, fovea_result_get_info(model, options.program, NULL, &info, &self->error));
  EXAMPLE_TRY(self, fovea_result_read(session, &info, 0, 2, rows, 2 * NUMBERS, &self->error));
  printf("%.4f\n", fovea_result_similarity(info.measure, rows, 1, rows + info.width, 1, info.width));
  return 0;
}

int main(int argc, char** argv) {
  static example self;
  int status;
  if (argc != 4) {
    fprintf(stderr, "usage: %s BLOB TEXT TEXT\n", argv[0]);
    return 2;
  }
  status = embed(&self, argv[1], argv + 2);
  example_close(&self);
  return status;
}
