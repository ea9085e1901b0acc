/* A model in memory of the port, with a session that grows on demand. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

static fovea_status fail(fovea_error* error, fovea_status status, const char* text) {
  memset(error, 0, sizeof(*error));
  error->status = status;
  error->text = text;
  return status;
}

static fovea_status no_memory(fovea_error* error) {
  return fail(error, FOVEA_E_TOO_SMALL, "the port has no memory for it");
}

/* ---- Sessions ---- */

static void placed_free(struct placed* placed) {
  fovea_port_free(placed->memory.scratch);
  fovea_port_free(placed->memory.state);
  fovea_port_free(placed->memory.fixed);
  memset(placed, 0, sizeof(*placed));
}

static int give(void** block, uint64_t size) {
  if (size > 0) *block = fovea_port_memory(NULL, size, FOVEA_BLOCK_SCRATCH);
  return size == 0 || *block != NULL;
}

static fovea_status place(const struct model* model, fovea_session_options* options, struct placed* placed,
                          fovea_error* error) {
  fovea_session_memory* memory = &placed->memory;
  memset(placed, 0, sizeof(*placed));
  memory->struct_size = sizeof(*memory);
  if (model->threads != NULL) {
    options->workers = fovea_port_count(model->threads);
    options->runner = fovea_port_run;
    options->runner_context = model->threads;
    options->barrier = fovea_port_barrier;
  }
  fovea_status status = fovea_session_size(model->model, options, memory, error);
  if (status == FOVEA_OK && !(give(&memory->fixed, memory->fixed_size) && give(&memory->state, memory->state_size) &&
                              give(&memory->scratch, memory->scratch_size))) {
    status = no_memory(error);
  }
  if (status == FOVEA_OK) status = fovea_session_init(model->model, options, memory, &placed->session, error);
  if (status != FOVEA_OK) placed_free(placed);
  return status;
}

/* ---- The model ---- */

fovea_status model_open(const void* blob, uint64_t size, uint32_t threads, struct model* model, fovea_error* error) {
  uint64_t needed = 0;
  fovea_status status = fovea_model_size(blob, size, NULL, &needed, error);
  if (status != FOVEA_OK) return status;
  model->memory = fovea_port_memory(NULL, needed, FOVEA_BLOCK_SCRATCH);
  if (model->memory == NULL) return no_memory(error);
  status = fovea_model_init(blob, size, NULL, model->memory, needed, &model->model, error);
  if (status == FOVEA_OK && threads > 1) {
    model->threads = threads <= 64 ? fovea_port_start(threads) : NULL;
    if (model->threads == NULL) status = fail(error, FOVEA_E_OPTION, "cannot start this many threads");
  }
  return status;
}

void model_close(struct model* model) {
  placed_free(&model->classify);
  fovea_port_stop(model->threads);
  fovea_port_free(model->memory);
  fovea_port_free(model->copy);
  fovea_port_close(&model->file);
  memset(model, 0, sizeof(*model));
}

/* ---- Tokens ---- */

void tokens_free(struct tokens* tokens) {
  fovea_port_free(tokens->block);
  memset(tokens, 0, sizeof(*tokens));
}

/* Allocates arrays of ids and types for `capacity` tokens, in one block. */
static int tokens_make(struct tokens* tokens, uint64_t capacity) {
  tokens_free(tokens);
  tokens->block = fovea_port_memory(NULL, 2 * capacity * sizeof(int32_t), FOVEA_BLOCK_SCRATCH);
  if (tokens->block == NULL) return 0;
  tokens->tokens.struct_size = sizeof(tokens->tokens);
  tokens->tokens.capacity = capacity;
  tokens->tokens.ids = tokens->block;
  tokens->tokens.types = tokens->tokens.ids + capacity;
  return 1;
}

fovea_status tokens_of(const struct model* model, const char* text, uint64_t size, struct tokens* tokens,
                       fovea_error* error) {
  uint64_t needed = 0, capacity = size + 16; /* Enough for nearly every text. */
  memset(tokens, 0, sizeof(*tokens));
  fovea_status status = fovea_text_scratch_size(model->model, size, &needed, error);
  if (status != FOVEA_OK) return status;
  void* scratch = fovea_port_memory(NULL, needed, FOVEA_BLOCK_SCRATCH);
  if (scratch == NULL) return no_memory(error);
  for (int turn = 0; turn < 2; ++turn) {
    status = tokens_make(tokens, capacity)
                 ? fovea_text_encode(model->model, text, size, NULL, 0, NULL, scratch, needed, &tokens->tokens, error)
                 : no_memory(error);
    if (status != FOVEA_E_CAPACITY) break;
    capacity = tokens->tokens.count;
  }
  fovea_port_free(scratch);
  if (status != FOVEA_OK) tokens_free(tokens);
  return status;
}

/* ---- Classes ---- */

/* Makes a session for `tokens` tokens of one text; it is reused for the next text. */
static fovea_status grow(struct model* model, uint32_t tokens, fovea_error* error) {
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  if (model->classify.session != NULL && tokens <= model->classify_tokens) return FOVEA_OK;
  placed_free(&model->classify);
  options.rows = 32;
  while (options.rows < tokens) options.rows *= 2;
  fovea_status status = place(model, &options, &model->classify, error);
  if (status != FOVEA_OK) return status;
  model->classify_tokens = (uint32_t)options.rows;
  return FOVEA_OK;
}

fovea_status model_logits(struct model* model, const char* text, uint64_t size, fovea_view* logits,
                          fovea_error* error) {
  struct tokens tokens;
  fovea_status status = tokens_of(model, text, size, &tokens, error);
  if (status != FOVEA_OK) return status;
  status = grow(model, (uint32_t)tokens.tokens.count, error);
  if (status == FOVEA_OK) status = fovea_text_bind(model->classify.session, &tokens.tokens, 1, error);
  if (status == FOVEA_OK) status = fovea_session_run(model->classify.session, error);
  if (status == FOVEA_OK) status = fovea_session_find_output(model->classify.session, "logits", logits, error);
  if (status == FOVEA_OK && (logits->rows != 1 || logits->type != FOVEA_TYPE_F32)) {
    status = fail(error, FOVEA_E_NAME, "the model has no output for a text as a whole");
  }
  tokens_free(&tokens);
  return status;
}

/* ---- Texts ---- */

static const char* metadata_or(const struct model* model, const char* key, const char* absent) {
  const char* value = fovea_model_find_metadata(model->model, key);
  return value == NULL ? absent : value;
}

/* The decoder's session: prefill reads up to 512 tokens of a prompt at a time. */
static fovea_status place_decoder(const struct model* model, uint32_t prompt, uint32_t max_tokens,
                                  struct placed* placed, fovea_error* error) {
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_value_info token = FOVEA_VALUE_INFO_INIT;
  fovea_space_info space = FOVEA_SPACE_INFO_INIT;
  uint32_t value = 0, encoder = 0;
  if (fovea_model_find_program(model->model, metadata_or(model, "generate.decode", "decode"), &options.program) !=
          FOVEA_OK ||
      fovea_program_find_value(model->model, options.program, metadata_or(model, "generate.token", "input_ids"),
                               &value) != FOVEA_OK) {
    return fail(error, FOVEA_E_NAME, "the model has no decoder");
  }
  if (fovea_model_find_program(model->model, metadata_or(model, "generate.encode", "encode"), &encoder) == FOVEA_OK) {
    return fail(error, FOVEA_E_NAME, "the model has an encoder, so it cannot continue texts");
  }
  fovea_program_get_value(model->model, options.program, value, &token);
  fovea_model_get_space(model->model, token.space, &space);
  const fovea_limit limit = {token.space, prompt < 512 ? prompt : 512, 0};
  options.limits = &limit;
  options.limit_count = 1;
  options.rows = (uint64_t)prompt + max_tokens;
  if (options.rows > space.max_segment_rows) options.rows = space.max_segment_rows;
  return place(model, &options, placed, error);
}

static fovea_status start(struct text* text, uint32_t max_tokens, const fovea_sampling* sampling, fovea_error* error) {
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  uint64_t needed = 0;
  options.decode = text->decode.session;
  options.max_tokens = max_tokens;
  options.sampling = sampling;
  fovea_status status = fovea_generate_size(&options, &needed, error);
  if (status != FOVEA_OK) return status;
  text->memory = fovea_port_memory(NULL, needed, FOVEA_BLOCK_SCRATCH);
  if (text->memory == NULL) return no_memory(error);
  status = fovea_generate_init(&options, text->memory, needed, &text->generator, error);
  if (status == FOVEA_OK) status = fovea_generate_start(text->generator, error);
  if (status != FOVEA_OK) return status;
  text->prompt_length = (uint32_t)text->prompt.tokens.count; /* Not moved before the first step. */
  return fovea_generate_set_prompts(text->generator, text->prompt.tokens.ids, &text->prompt_length, 1, 0, error);
}

fovea_status text_start(struct model* model, const char* prompt, uint64_t size, uint32_t max_tokens,
                        const fovea_sampling* sampling, struct text* text, fovea_error* error) {
  memset(text, 0, sizeof(*text));
  text->model = model;
  text->stream.struct_size = sizeof(text->stream);
  fovea_status status = tokens_of(model, prompt, size, &text->prompt, error);
  if (status != FOVEA_OK) return status;
  const uint32_t length = text->prompt.tokens.count > 0 ? (uint32_t)text->prompt.tokens.count : 1;
  status = place_decoder(model, length, max_tokens, &text->decode, error);
  if (status == FOVEA_OK) status = start(text, max_tokens, sampling, error);
  if (status != FOVEA_OK) text_close(text);
  return status;
}

/* Whether metadata lists the token among the stop ids. */
static uint32_t is_stop(const struct model* model, int32_t token) {
  const char* ids = metadata_or(model, "generate.stop_ids", metadata_or(model, "generate.end", ""));
  char* end;
  for (long id = strtol(ids, &end, 10); end != ids; ids = end, id = strtol(ids, &end, 10)) {
    if (id == token) return 1;
  }
  return 0;
}

fovea_status text_next(struct text* text, int32_t* token, uint32_t* stops, fovea_error* error) {
  fovea_generated generated = FOVEA_GENERATED_INIT;
  *token = -1;
  *stops = 0;
  if (text->ended) return FOVEA_OK;
  const fovea_status status = fovea_generate_next(text->generator, NULL, &generated, error);
  if (status != FOVEA_OK) return status;
  *token = generated.tokens[0];
  text->ended = generated.ended[0];
  *stops = text->ended && is_stop(text->model, *token);
  return FOVEA_OK;
}

void text_close(struct text* text) {
  fovea_port_free(text->memory);
  placed_free(&text->decode);
  tokens_free(&text->prompt);
  memset(text, 0, sizeof(*text));
}
