/* Prints the best answers to a question about a context of any length, with their scores: answer BLOB QUESTION CONTEXT
 * A long context is read in parts, each with the question; the parts share tokens. */
#include "../example.h"

enum { TOKENS = 16384, WINDOWS = 64, LENGTH = 384, TOP = 3 };

/* Tokens of the pair, and of its windows one after the other. */
typedef struct arrays {
  int32_t ids[TOKENS], types[TOKENS];
  uint8_t special[TOKENS];
  uint32_t ranges[2 * TOKENS];
} arrays;

static fovea_text_tokens tokens_in(arrays* in, uint64_t first) {
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  tokens.capacity = TOKENS - first;
  tokens.ids = in->ids + first;
  tokens.types = in->types + first;
  tokens.special = in->special + first;
  tokens.ranges = in->ranges + 2 * first;
  return tokens;
}

static int answer(example* self, const char* path, const char* question, const char* context) {
  static arrays whole, parts;
  static fovea_text_tokens windows[WINDOWS];
  static float scores[2 * TOKENS];
  static fovea_answer answers[WINDOWS * TOP + 1];
  fovea_model* model;
  fovea_session* session;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_text_info text = FOVEA_TEXT_INFO_INIT;
  fovea_text_encode_options unlimited = FOVEA_TEXT_ENCODE_OPTIONS_INIT;
  fovea_result_info info = FOVEA_RESULT_INFO_INIT;
  fovea_answer_options rules = FOVEA_ANSWER_OPTIONS_INIT;
  fovea_text_tokens pair = tokens_in(&whole, 0);
  const uint64_t sizes[2] = {strlen(question), strlen(context)};
  uint64_t room = 0, used = 0, found = 0, i;
  uint32_t count = 0, length = LENGTH;
  void* scratch;
  if (example_open(self, path, &model) != 0) return 1;
  EXAMPLE_TRY(self, fovea_result_get_info(model, options.program, NULL, &info, &self->error));
  EXAMPLE_TRY(self, fovea_text_get_info(model, &text, &self->error));
  if (text.max_length != 0 && text.max_length < length) length = text.max_length;
  if (info.kind != FOVEA_RESULT_ANSWERS) {
    fprintf(stderr, "%s: the model does not answer questions\n", path);
    return 1;
  }

  EXAMPLE_TRY(self, fovea_text_scratch_size(model, sizes[0] > sizes[1] ? sizes[0] : sizes[1], &room, &self->error));
  scratch = example_memory(self, room, FOVEA_BLOCK_SCRATCH);
  unlimited.flags = FOVEA_TEXT_UNLIMITED;
  EXAMPLE_TRY(self, fovea_text_encode(model, question, sizes[0], context, sizes[1], &unlimited, scratch, room, &pair,
                                      &self->error));
  options.rows = length;
  options.texts = 1;
  EXAMPLE_TRY(self, fovea_session_make(model, &options, example_memory, self, &session, &self->error));
  do {
    fovea_text_tokens* window = &windows[count];
    if (count == WINDOWS) {
      fprintf(stderr, "the context has more than %d parts\n", WINDOWS);
      return 1;
    }
    *window = tokens_in(&parts, used);
    EXAMPLE_TRY(self, fovea_result_get_window(&pair, length, length / 3, count, window, &self->error));
    EXAMPLE_TRY(self, fovea_text_bind(session, window, 1, &self->error));
    EXAMPLE_TRY(self, fovea_session_run(session, &self->error));
    EXAMPLE_TRY(self, fovea_result_read(session, &info, 0, (uint32_t)window->count, scores + 2 * used,
                                        2 * (TOKENS - used), &self->error));
    used += window->count;
    ++count;
  } while (count < windows[0].windows);

  rules.top = TOP;
  EXAMPLE_TRY(self, fovea_result_get_answers(model, windows, count, scores, context, sizes[1], &rules, answers,
                                             WINDOWS * TOP + 1, &found, &self->error));
  for (i = 0; i < found; ++i) {
    printf("%.4f %.*s\n", answers[i].score, (int)(answers[i].end - answers[i].begin), context + answers[i].begin);
  }
  return 0;
}

int main(int argc, char** argv) {
  static example self;
  int status;
  if (argc != 4) {
    fprintf(stderr, "usage: %s BLOB QUESTION CONTEXT\n", argv[0]);
    return 2;
  }
  status = answer(&self, argv[1], argv[2], argv[3]);
  example_close(&self);
  return status;
}
