/* Prints the class of the text on the command line, with a model in flash and statically allocated memory. The build
 * makes model_memory.h (`fovea inspect --header`) and model.S. */
#include <fovea/model.h>
#include <fovea/session.h>
#include <fovea/text.h>
#include <string.h>

#include "board.h"
#include "one_session.h"

static char text[MODEL_LONGEST_TEXT + 1];
static int32_t ids[MAX_TOKENS], types[MAX_TOKENS];

static int Classify(const fovea_model* model, fovea_session* session, fovea_error* error) {
  fovea_text_tokens tokens = {.struct_size = sizeof(tokens), .capacity = MAX_TOKENS, .ids = ids, .types = types};
  const fovea_text_encode_options cut = {.struct_size = sizeof(cut), .max_length = MAX_TOKENS};
  if (fovea_text_encode(model, text, strlen(text), NULL, 0, &cut, model_text, sizeof(model_text), &tokens, error) !=
      FOVEA_OK) {
    return sample_failed("text", error);
  }
  if (fovea_text_bind(session, &tokens, 1, error) != FOVEA_OK) return sample_failed("bind", error);
  if (fovea_session_run(session, error) != FOVEA_OK) return sample_failed("run", error);
  sample_number("tokens", tokens.count);
  return 0;
}

int main(void) {
  fovea_error error = {0};
  fovea_model* model;
  fovea_session* session;
  if (!board_command_line(text, sizeof(text))) {
    board_write("no text, or too long\n");
    return 2;
  }
  const uint64_t begin = board_ticks();
  if (sample_model(model_model, sizeof(model_model), &model, &error) != 0) return 1;
  if (one_session(model, NULL, &session, &error) != 0) return 1;
  const uint64_t made = board_ticks();
  if (Classify(model, session, &error) != 0) return 1;
  return one_answer(model, session, made - begin, board_ticks() - made, &error);
}
