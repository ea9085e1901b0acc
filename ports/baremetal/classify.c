/* Says which class the text on the command line is of, with a model in flash and memory that was counted beforehand.
 * The build makes classifier_memory.h (`fovea inspect --header`) and model.S; MAX_TOKENS and TILE_ROWS are theirs. */
#include <fovea/model.h>
#include <fovea/session.h>
#include <fovea/text.h>
#include <string.h>

#include "board.h"
#include "classifier_memory.h"

#define MAX_TEXT 256

extern const unsigned char model_blob[], model_blob_end[];

static FOVEA_ALIGN64 uint8_t text_workspace[TEXT_WORKSPACE];
static char text[MAX_TEXT];
static int32_t ids[MAX_TOKENS], types[MAX_TOKENS];

static void WriteNumber(const char* name, uint64_t number) {
  board_write(name);
  board_write(" ");
  board_write_number(number);
  board_write("\n");
}

static int Failed(const char* what, const fovea_error* error) {
  board_write(what);
  board_write(": ");
  board_write(error->text);
  board_write("\n");
  WriteNumber("status", (uint64_t)error->status);
  if (error->step != FOVEA_NOWHERE) WriteNumber("step", error->step);
  WriteNumber("expected", error->expected);
  WriteNumber("found", error->found);
  return 1;
}

static int MakeSession(fovea_model** model, fovea_session** session, fovea_error* error) {
  const fovea_model_options how = {.struct_size = sizeof(how), .backend = FOVEA_BACKEND_HIGHWAY};
  const fovea_session_options options = {.struct_size = sizeof(options), .rows = MAX_TOKENS, .tile_rows = TILE_ROWS};
  const fovea_session_memory memory = {.struct_size = sizeof(memory),
                                       .fixed_size = CLASSIFIER_FIXED_BYTES,
                                       .state_size = CLASSIFIER_STATE_BYTES,
                                       .scratch_size = CLASSIFIER_SCRATCH_BYTES,
                                       .fixed = classifier_fixed,
                                       .state = classifier_state,
                                       .scratch = classifier_scratch};
  if (fovea_model_init(model_blob, (uint64_t)(model_blob_end - model_blob), &how, classifier_model,
                       sizeof(classifier_model), model, error) != FOVEA_OK) {
    return Failed("model", error);
  }
  if (fovea_session_init(*model, &options, &memory, session, error) != FOVEA_OK) return Failed("session", error);
  return 0;
}

static int Classify(const fovea_model* model, fovea_session* session, fovea_error* error) {
  fovea_text_tokens tokens = {.struct_size = sizeof(tokens), .capacity = MAX_TOKENS, .ids = ids, .types = types};
  const fovea_text_encode_options cut = {.struct_size = sizeof(cut), .max_length = MAX_TOKENS};
  if (fovea_text_encode(model, text, strlen(text), NULL, 0, &cut, text_workspace, sizeof(text_workspace), &tokens,
                        error) != FOVEA_OK) {
    return Failed("text", error);
  }
  if (fovea_text_bind(session, &tokens, 1, error) != FOVEA_OK) return Failed("bind", error);
  if (fovea_session_run(session, error) != FOVEA_OK) return Failed("run", error);
  WriteNumber("tokens", tokens.count);
  return 0;
}

int main(void) {
  fovea_error error = {0};
  fovea_model* model;
  fovea_session* session;
  fovea_view logits;
  if (!board_command_line(text, sizeof(text))) {
    board_write("no text, or too long\n");
    return 2;
  }
  const uint64_t begin = board_ticks();
  if (MakeSession(&model, &session, &error) != 0) return 1;
  const uint64_t made = board_ticks();
  if (Classify(model, session, &error) != 0) return 1;
  const uint64_t done = board_ticks();
  if (fovea_session_find_output(session, "logits", &logits, &error) != FOVEA_OK) return Failed("logits", &error);

  const float* scores = logits.data;
  uint32_t best = 0;
  for (uint32_t i = 1; i < logits.width; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  board_write("class ");
  board_write(fovea_model_label(model, best));
  board_write("\n");
  WriteNumber("init_ticks", made - begin);
  WriteNumber("run_ticks", done - made);
  WriteNumber("blob_bytes", (uint64_t)(model_blob_end - model_blob));
  WriteNumber("model_bytes", CLASSIFIER_MODEL_BYTES);
  WriteNumber("fixed_bytes", CLASSIFIER_FIXED_BYTES);
  WriteNumber("state_bytes", CLASSIFIER_STATE_BYTES);
  WriteNumber("scratch_bytes", CLASSIFIER_SCRATCH_BYTES);
  WriteNumber("stack_bytes", board_stack_used());
  WriteNumber("stack_limit", board_stack_size());
  return 0;
}
