/* Continues the text on the command line, or prints the output of an encoder and its decoder, with a model in flash
 * and statically allocated memory. The build makes model_memory.h (`fovea inspect --generation --header`) and
 * model.S. MAX_TOKENS limits the tokens read, MAX_NEW the tokens generated; TEXT_END ends the text that is read. */
#include <fovea/generate.h>
#include <fovea/model.h>
#include <fovea/text.h>
#include <string.h>

#include "board.h"
#include "model_memory.h"
#include "sample.h"

#define MAX_LINKED 8

static char text[MODEL_LONGEST_TEXT + 1], written[1024];
static int32_t ids[MAX_TOKENS], types[MAX_TOKENS], made_ids[MAX_NEW];

#ifdef MODEL_ENCODE_PROGRAM

static int MakeEncoder(const fovea_model* model, fovea_session** encode, fovea_error* error) {
  static const fovea_limit limits[] = {MODEL_ENCODE_LIMITS};
  const fovea_session_options options = SAMPLE_OPTIONS(MODEL_ENCODE, limits);
  const fovea_session_memory memory = SAMPLE_MEMORY(MODEL_ENCODE, model_encode);
  return fovea_session_init(model, &options, &memory, encode, error) == FOVEA_OK ? 0 : sample_failed("encoder", error);
}

static int Read(fovea_session* encode, const fovea_text_tokens* tokens, fovea_error* error) {
  if (fovea_text_bind(encode, tokens, 1, error) != FOVEA_OK) return sample_failed("bind", error);
  return fovea_session_run(encode, error) == FOVEA_OK ? 0 : sample_failed("run", error);
}

#else

static int MakeEncoder(const fovea_model* model, fovea_session** encode, fovea_error* error) {
  (void)model, (void)error;
  *encode = NULL;
  return 0;
}

#endif

static int MakeDecoder(const fovea_model* model, fovea_session** decode, fovea_error* error) {
  static const fovea_limit limits[] = {MODEL_DECODE_LIMITS};
  uint32_t linked[MAX_LINKED], linked_count = 0;
#ifdef MODEL_ENCODE_PROGRAM
  if (fovea_generate_get_linked(model, MODEL_DECODE_PROGRAM, linked, MAX_LINKED, &linked_count, error) != FOVEA_OK) {
    return sample_failed("links", error);
  }
#endif
  fovea_session_options options = SAMPLE_OPTIONS(MODEL_DECODE, limits);
  options.linked = linked;
  options.linked_count = linked_count;
  const fovea_session_memory memory = SAMPLE_MEMORY(MODEL_DECODE, model_decode);
  return fovea_session_init(model, &options, &memory, decode, error) == FOVEA_OK ? 0 : sample_failed("decoder", error);
}

/* Reads the text and starts generation. */
static int Begin(fovea_session* encode, fovea_generator* generator, const fovea_text_tokens* tokens,
                 fovea_error* error) {
#ifdef MODEL_ENCODE_PROGRAM
  if (Read(encode, tokens, error) != 0) return 1;
  return fovea_generate_start(generator, error) == FOVEA_OK ? 0 : sample_failed("start", error);
#else
  static uint32_t length;
  (void)encode;
  length = (uint32_t)tokens->count;
  if (fovea_generate_start(generator, error) != FOVEA_OK) return sample_failed("start", error);
  if (fovea_generate_set_prompts(generator, tokens->ids, &length, 1, 0, error) == FOVEA_OK) return 0;
  return sample_failed("prompt", error);
#endif
}

static int Write(const fovea_model* model, fovea_generator* generator, fovea_error* error) {
  fovea_generated step = {.struct_size = sizeof(step), .left = 1};
  uint32_t count = 0;
  while (step.left != 0 && count < MAX_NEW) {
    if (fovea_generate_next(generator, NULL, &step, error) != FOVEA_OK) return sample_failed("next", error);
    made_ids[count++] = step.tokens[0];
  }
  uint64_t size;
  if (fovea_text_decode(model, made_ids, count, 0, written, sizeof(written) - 1, &size, error) != FOVEA_OK) {
    return sample_failed("decode", error);
  }
  written[size] = '\0';
  sample_number("new_tokens", count);
  return 0;
}

int main(void) {
  fovea_error error = {0};
  fovea_model* model;
  fovea_session *encode, *decode;
  fovea_generator* generator;
  if (!board_command_line(text, sizeof(text) + 1 - sizeof(TEXT_END))) {
    board_write("no text, or too long\n");
    return 2;
  }
  strcat(text, TEXT_END);
  const uint64_t begin = board_ticks();
  if (sample_model(model_model, sizeof(model_model), &model, &error) != 0) return 1;
  if (MakeEncoder(model, &encode, &error) != 0 || MakeDecoder(model, &decode, &error) != 0) return 1;
  const fovea_generate_options options = {
      .struct_size = sizeof(options), .decode = decode, .encode = encode, .max_tokens = MAX_NEW};
  if (fovea_generate_init(&options, model_generator, sizeof(model_generator), &generator, &error) != FOVEA_OK) {
    return sample_failed("generator", &error);
  }
  const uint64_t made = board_ticks();
  fovea_text_tokens tokens = {.struct_size = sizeof(tokens), .capacity = MAX_TOKENS, .ids = ids, .types = types};
  const fovea_text_encode_options cut = {.struct_size = sizeof(cut), .max_length = MAX_TOKENS};
  if (fovea_text_encode(model, text, strlen(text), NULL, 0, &cut, model_text, sizeof(model_text), &tokens, &error) !=
      FOVEA_OK) {
    return sample_failed("text", &error);
  }
  if (Begin(encode, generator, &tokens, &error) != 0 || Write(model, generator, &error) != 0) return 1;
  const uint64_t done = board_ticks();
  sample_number("tokens", tokens.count);
  sample_number("model_bytes", MODEL_MODEL_BYTES);
#ifdef MODEL_ENCODE_PROGRAM
  sample_number("encoder_bytes", MODEL_ENCODE_FIXED_BYTES + MODEL_ENCODE_STATE_BYTES + MODEL_ENCODE_SCRATCH_BYTES);
#endif
  sample_number("decoder_bytes", MODEL_DECODE_FIXED_BYTES + MODEL_DECODE_STATE_BYTES + MODEL_DECODE_SCRATCH_BYTES);
  sample_number("generator_bytes", MODEL_GENERATOR_BYTES);
  sample_report(made - begin, done - made);
  board_write("text ");
  board_write(written);
  board_write("\n");
  return 0;
}
