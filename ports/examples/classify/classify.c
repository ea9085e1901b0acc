/* Prints the likeliest class of a text, with its probability: classify BLOB TEXT */
#include "../example.h"

enum { TOKENS = 512, CLASSES = 1024 };

static int classify(example* self, const char* path, const char* text) {
  static int32_t ids[TOKENS], types[TOKENS];
  fovea_model* model;
  fovea_session* session;
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_result_info info = FOVEA_RESULT_INFO_INIT;
  uint64_t room = 0;
  void* scratch;
  float scores[CLASSES];
  uint32_t best;
  if (example_open(self, path, &model) != 0) return 1;

  EXAMPLE_TRY(self, fovea_text_scratch_size(model, strlen(text), &room, &self->error));
  scratch = example_memory(self, room, FOVEA_BLOCK_SCRATCH);
  tokens.capacity = TOKENS;
  tokens.ids = ids;
  tokens.types = types;
  EXAMPLE_TRY(self, fovea_text_encode(model, text, strlen(text), NULL, 0, NULL, scratch, room, &tokens, &self->error));
  if (tokens.text_tokens[0] > tokens.count) fprintf(stderr, "the text is longer than the model reads and was cut\n");

  options.rows = tokens.count;
  EXAMPLE_TRY(self, fovea_session_make(model, &options, example_memory, self, &session, &self->error));
  EXAMPLE_TRY(self, fovea_text_bind(session, &tokens, 1, &self->error));
  EXAMPLE_TRY(self, fovea_session_run(session, &self->error));

  EXAMPLE_TRY(self, fovea_result_get_info(model, options.program, NULL, &info, &self->error));
  EXAMPLE_TRY(self, fovea_result_read(session, &info, 0, 1, scores, CLASSES, &self->error));
  fovea_result_rank(scores, info.width, 1, &best);
  printf("%s %.4f\n", fovea_model_get_label(model, best), (double)scores[best]);
  return 0;
}

int main(int argc, char** argv) {
  static example self;
  int status;
  if (argc != 3) {
    fprintf(stderr, "usage: %s BLOB TEXT\n", argv[0]);
    return 2;
  }
  status = classify(&self, argv[1], argv[2]);
  example_close(&self);
  return status;
}
