/* Prints which tokens of a text receive most attention in a model's last attention layer, as a share of all weights:
 * taps BLOB TEXT */
#include "../example.h"

enum { TOKENS = 512, TOP = 5 };

/* The program's last attention step, or FOVEA_NONE. */
static uint32_t last_attention(const fovea_model* model, uint32_t program, uint32_t steps) {
  uint32_t step, last = FOVEA_NONE;
  for (step = 0; step < steps; ++step) {
    fovea_step_info info = FOVEA_STEP_INFO_INIT;
    if (fovea_program_get_step(model, program, step, &info) == FOVEA_OK && strcmp(info.op, "attention") == 0) {
      last = step;
    }
  }
  return last;
}

static int look(example* self, const char* path, const char* text) {
  static int32_t ids[TOKENS], types[TOKENS];
  static uint32_t ranges[2 * TOKENS];
  static uint8_t special[TOKENS];
  static float received[TOKENS];
  fovea_model* model;
  fovea_session* session;
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_program_info program = FOVEA_PROGRAM_INFO_INIT;
  fovea_tap tap = FOVEA_TAP_INIT;
  fovea_attention_map map = FOVEA_ATTENTION_MAP_INIT;
  uint64_t room = 0;
  uint32_t row, key, n;
  if (example_open(self, path, &model) != 0) return 1;

  EXAMPLE_TRY(self, fovea_text_scratch_size(model, strlen(text), &room, &self->error));
  tokens.capacity = TOKENS;
  tokens.ids = ids;
  tokens.types = types;
  tokens.ranges = ranges;
  tokens.special = special;
  EXAMPLE_TRY(self, fovea_text_encode(model, text, strlen(text), NULL, 0, NULL,
                                      example_memory(self, room, FOVEA_BLOCK_SCRATCH), room, &tokens, &self->error));

  /* The tap is part of the session's exact size. */
  EXAMPLE_TRY(self, fovea_model_get_program(model, options.program, &program));
  tap.step = last_attention(model, options.program, program.step_count);
  tap.reduce = FOVEA_REDUCE_MEAN;
  options.taps = &tap;
  options.tap_count = 1;
  options.rows = tokens.count;
  EXAMPLE_TRY(self, fovea_session_make(model, &options, example_memory, self, &session, &self->error));
  EXAMPLE_TRY(self, fovea_text_bind(session, &tokens, 1, &self->error));
  EXAMPLE_TRY(self, fovea_session_run(session, &self->error));
  EXAMPLE_TRY(self, fovea_session_get_attention_map(session, 0, &map, &self->error));

  for (row = 0; row < map.rows; ++row) {
    for (key = 0; key < map.key_rows; ++key) {
      if (!special[key]) received[key] += map.data[(size_t)row * map.stride + key] / (float)map.rows;
    }
  }
  for (n = 0; n < TOP; ++n) {
    uint32_t best = 0;
    for (key = 1; key < map.key_rows; ++key) best = received[key] > received[best] ? key : best;
    if (!(received[best] > 0.0f)) break;
    printf("%.3f %.*s\n", (double)received[best], (int)(ranges[2 * best + 1] - ranges[2 * best]),
           text + ranges[2 * best]);
    received[best] = 0.0f;
  }
  return 0;
}

int main(int argc, char** argv) {
  static example self;
  int status;
  if (argc != 3) {
    fprintf(stderr, "usage: %s BLOB TEXT\n", argv[0]);
    return 2;
  }
  status = look(&self, argv[1], argv[2]);
  example_close(&self);
  return status;
}
