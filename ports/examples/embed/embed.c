/* Prints how similar two texts are: the cosine of their embeddings, means of the last hidden states: embed BLOB A B
 * Both texts are one batch; nothing is padded. */
#include <math.h>

#include "../example.h"

enum { TOKENS = 512 };

static int embed(example* self, const char* path, char** texts) {
  static int32_t ids[2][TOKENS], types[2][TOKENS];
  static fovea_text_tokens tokens[2];
  fovea_model* model;
  fovea_session* session;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_value_info info = FOVEA_VALUE_INFO_INIT;
  fovea_space_info tokens_space = FOVEA_SPACE_INFO_INIT;
  fovea_limit texts_limit = {0, 2, 0};
  fovea_view rows;
  const uint32_t* offsets;
  uint32_t value, count, i;
  double product = 0.0, squares[2] = {0.0, 0.0};
  if (example_open(self, path, &model) != 0) return 1;

  for (i = 0; i < 2; ++i) {
    uint64_t room = 0;
    EXAMPLE_TRY(self, fovea_text_scratch_size(model, strlen(texts[i]), &room, &self->error));
    tokens[i].struct_size = sizeof(tokens[i]);
    tokens[i].capacity = TOKENS;
    tokens[i].ids = ids[i];
    tokens[i].types = types[i];
    EXAMPLE_TRY(self, fovea_text_encode(model, texts[i], strlen(texts[i]), NULL, 0, NULL, example_memory(self, room),
                                        room, &tokens[i], &self->error));
    options.rows += tokens[i].count;
  }
  /* A batch: the space of the texts is the parent of the space of their tokens. */
  EXAMPLE_TRY(self, fovea_program_find_value(model, options.program, "input_ids", &value));
  EXAMPLE_TRY(self, fovea_program_get_value(model, options.program, value, &info));
  EXAMPLE_TRY(self, fovea_model_get_space(model, info.space, &tokens_space));
  texts_limit.space = tokens_space.parent;
  options.limits = &texts_limit;
  options.limit_count = 1;
  EXAMPLE_TRY(self, fovea_session_make(model, &options, example_memory, self, &session, &self->error));
  EXAMPLE_TRY(self, fovea_text_bind(session, tokens, 2, &self->error));
  EXAMPLE_TRY(self, fovea_session_run(session, &self->error));

  EXAMPLE_TRY(self, fovea_program_find_value(model, options.program, "last_hidden_state", &value));
  EXAMPLE_TRY(self, fovea_program_get_value(model, options.program, value, &info));
  EXAMPLE_TRY(self, fovea_session_get_output(session, value, &rows, &self->error));
  EXAMPLE_TRY(self, fovea_session_get_segments(session, info.space, &offsets, &count, &self->error));
  for (i = 0; i < rows.width; ++i) {
    double mean[2];
    uint32_t text, row;
    for (text = 0; text < 2; ++text) {
      double sum = 0.0;
      for (row = offsets[text]; row < offsets[text + 1]; ++row) {
        sum += (double)((const float*)(const void*)((const char*)rows.data + (size_t)row * rows.row_bytes))[i];
      }
      mean[text] = sum / (offsets[text + 1] - offsets[text]);
      squares[text] += mean[text] * mean[text];
    }
    product += mean[0] * mean[1];
  }
  printf("%.4f\n", product / sqrt(squares[0] * squares[1]));
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
