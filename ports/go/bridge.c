/* The C interface for cgo. Structs with pointers exist here only during a call. */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

void* bridge_allocate(uint64_t size, void** block) {
  *block = size <= SIZE_MAX - 63 ? calloc((size_t)size + 63, 1) : NULL;
  if (*block == NULL) return NULL;
  return (char*)*block + (64 - (uintptr_t)*block % 64) % 64;
}

void bridge_free(void* block) { free(block); }

void bridge_task(void* task, void* context, uint32_t worker) {
  fovea_task function;
  memcpy(&function, &task, sizeof(function));
  function(context, worker);
}

static void run(void* context, uint32_t workers, fovea_task task, void* task_context) {
  void* function;
  (void)context;
  memcpy(&function, &task, sizeof(function));
  bridgeRun(workers, function, task_context);
}

static void allow(void* context, uint32_t text, uint32_t step, uint32_t tokens, uint32_t* words) {
  bridgeAllow((uintptr_t)context, text, step, tokens, words);
}

static fovea_status no_memory(fovea_error* error) {
  memset(error, 0, sizeof(*error));
  error->status = FOVEA_E_TOO_SMALL;
  error->text = "out of memory";
  return FOVEA_E_TOO_SMALL;
}

static fovea_text_tokens tokens_of(uint64_t capacity, int32_t* ids, int32_t* types, uint8_t* special,
                                   uint32_t* ranges) {
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  tokens.capacity = capacity;
  tokens.ids = ids;
  tokens.types = types;
  tokens.special = special;
  tokens.ranges = ranges;
  return tokens;
}

fovea_status bridge_encode(const fovea_model* model, const char* text, uint64_t size, const char* second,
                           uint64_t second_size, int has_second, uint32_t flags, uint32_t max_length, void* scratch,
                           uint64_t scratch_size, uint64_t capacity, int32_t* ids, int32_t* types, uint8_t* special,
                           uint32_t* ranges, uint64_t* counts, fovea_error* error) {
  fovea_text_encode_options options = FOVEA_TEXT_ENCODE_OPTIONS_INIT;
  fovea_text_tokens tokens = tokens_of(capacity, ids, types, special, ranges);
  options.flags = flags;
  options.max_length = max_length;
  const fovea_status status =
      fovea_text_encode(model, size > 0 ? text : "", size, has_second ? (second_size > 0 ? second : "") : NULL,
                        second_size, &options, scratch, scratch_size, &tokens, error);
  counts[0] = tokens.count;
  counts[1] = tokens.text_tokens[0] + tokens.text_tokens[1];
  counts[2] = tokens.text_tokens[0];
  counts[3] = tokens.text_tokens[1];
  counts[4] = tokens.spelled;
  return status;
}

fovea_status bridge_window(uint64_t count, const uint64_t* text_tokens, int32_t* ids, int32_t* types, uint8_t* special,
                           uint32_t* ranges, uint32_t max_length, uint32_t stride, uint64_t window, uint64_t capacity,
                           int32_t* window_ids, int32_t* window_types, uint8_t* window_special, uint32_t* window_ranges,
                           uint64_t* counts, fovea_error* error) {
  fovea_text_tokens pair = tokens_of(count, ids, types, special, ranges);
  fovea_text_tokens made = tokens_of(capacity, window_ids, window_types, window_special, window_ranges);
  pair.count = count;
  memcpy(pair.text_tokens, text_tokens, sizeof(pair.text_tokens));
  const fovea_status status = fovea_result_get_window(&pair, max_length, stride, window, &made, error);
  counts[0] = made.count;
  counts[1] = made.windows;
  return status;
}

fovea_status bridge_answers(const fovea_model* model, uint32_t count, const uint64_t* tokens,
                            const uint64_t* text_tokens, int32_t* ids, uint8_t* special, uint32_t* ranges,
                            const float* scores, const char* context, uint64_t size, uint32_t top, uint32_t max_tokens,
                            uint32_t allow_none, uint64_t capacity, fovea_answer* answers, uint64_t* found,
                            fovea_error* error) {
  fovea_text_tokens* windows = calloc((size_t)count + 1, sizeof(*windows));
  if (windows == NULL) return no_memory(error);
  fovea_answer_options options = FOVEA_ANSWER_OPTIONS_INIT;
  options.top = top;
  options.max_tokens = max_tokens;
  options.allow_none = allow_none;
  for (uint32_t i = 0; i < count; ++i) {
    windows[i] = tokens_of(tokens[i], ids, NULL, special, ranges);
    windows[i].count = tokens[i];
    memcpy(windows[i].text_tokens, text_tokens, sizeof(windows[i].text_tokens));
    ids += tokens[i];
    special += tokens[i];
    ranges += 2 * tokens[i];
  }
  const fovea_status status = fovea_result_get_answers(model, windows, count, scores, size > 0 ? context : "", size,
                                                       &options, answers, capacity, found, error);
  free(windows);
  return status;
}

fovea_status bridge_encode_document(const fovea_model* model, const char* text, uint64_t size, uint32_t flags,
                                    uint32_t max_length, void* scratch, uint64_t scratch_size, uint64_t capacity,
                                    int32_t* ids, int32_t* types, uint8_t* special, uint32_t* ranges,
                                    uint64_t sentence_capacity, uint32_t* sentence_lengths, uint32_t* sentence_ranges,
                                    uint64_t* counts, fovea_error* error) {
  fovea_text_encode_options options = FOVEA_TEXT_ENCODE_OPTIONS_INIT;
  fovea_text_sentences sentences = FOVEA_TEXT_SENTENCES_INIT;
  fovea_text_tokens tokens = tokens_of(capacity, ids, types, special, ranges);
  options.flags = flags;
  options.max_length = max_length;
  sentences.capacity = sentence_capacity;
  sentences.lengths = sentence_lengths;
  sentences.ranges = sentence_ranges;
  const fovea_status status = fovea_text_encode_document(model, size > 0 ? text : "", size, &options, scratch,
                                                         scratch_size, &tokens, &sentences, error);
  counts[0] = tokens.count;
  counts[1] = tokens.text_tokens[0];
  counts[2] = sentences.count;
  counts[3] = sentences.dropped;
  counts[4] = tokens.spelled;
  return status;
}

fovea_status bridge_bind(fovea_session* session, uint32_t count, const uint64_t* tokens, int32_t* ids, int32_t* types,
                         const uint64_t* sentences, uint32_t* sentence_lengths, fovea_error* error) {
  fovea_text_tokens* texts = calloc((size_t)count + 1, sizeof(*texts));
  fovea_text_sentences* parts = calloc((size_t)count + 1, sizeof(*parts));
  fovea_status status = FOVEA_OK;
  if (texts == NULL || parts == NULL) {
    status = no_memory(error);
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      texts[i] = tokens_of(tokens[i], ids, types, NULL, NULL);
      texts[i].count = tokens[i];
      texts[i].windows = 1;
      ids += tokens[i];
      types += tokens[i];
      parts[i].struct_size = sizeof(parts[i]);
      if (sentences != NULL) {
        parts[i].capacity = parts[i].count = sentences[i];
        parts[i].lengths = sentence_lengths;
        sentence_lengths += sentences[i];
      }
    }
    status = sentences == NULL ? fovea_text_bind(session, texts, count, error)
                               : fovea_text_bind_documents(session, texts, parts, count, error);
  }
  free(parts);
  free(texts);
  return status;
}

fovea_status bridge_session(const fovea_model* model, const bridge_options* given, const uint32_t* limits,
                            uint32_t limit_count, const uint32_t* keep, uint32_t keep_count, const uint64_t* taps,
                            uint32_t tap_count, const uint32_t* linked, uint32_t linked_count,
                            fovea_session_memory* memory, fovea_session** session, fovea_error* error) {
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_limit* bounds = calloc((size_t)limit_count + 1, sizeof(*bounds));
  fovea_tap* wanted = calloc((size_t)tap_count + 1, sizeof(*wanted));
  fovea_status status;
  if (bounds == NULL || wanted == NULL) {
    status = no_memory(error);
  } else {
    for (uint32_t i = 0; i < limit_count; ++i) {
      const fovea_limit bound = {limits[3 * i], limits[3 * i + 1], limits[3 * i + 2]};
      bounds[i] = bound;
    }
    for (uint32_t i = 0; i < tap_count; ++i) {
      const uint64_t* tap = taps + 8 * i;
      wanted[i].struct_size = sizeof(wanted[i]);
      wanted[i].step = (uint32_t)tap[0];
      wanted[i].form = (uint32_t)tap[1];
      wanted[i].rows = (uint32_t)tap[2];
      wanted[i].stride = (uint32_t)tap[3];
      wanted[i].offset = (uint32_t)tap[4];
      wanted[i].reduce = (uint32_t)tap[5];
      wanted[i].heads = tap[6];
      wanted[i].what = (uint32_t)tap[7];
    }
    options.program = given->program;
    options.workers = given->workers;
    options.tile_rows = given->tile_rows;
    options.cached_texts = given->cached_texts;
    options.rows = given->rows;
    options.limits = bounds;
    options.limit_count = limit_count;
    options.keep = keep;
    options.keep_count = keep_count;
    options.taps = wanted;
    options.tap_count = tap_count;
    options.linked = linked;
    options.linked_count = linked_count;
    if (given->workers > 1) options.runner = run;
    status = session == NULL ? fovea_session_size(model, &options, memory, error)
                             : fovea_session_init(model, &options, memory, session, error);
  }
  free(wanted);
  free(bounds);
  return status;
}

fovea_status bridge_sparse_map(const fovea_session* session, uint32_t tap, uint64_t offset_capacity, uint64_t* offsets,
                               uint64_t entry_capacity, uint32_t* keys, float* values, fovea_error* error) {
  fovea_sparse_map arrays = FOVEA_SPARSE_MAP_INIT;
  arrays.layout = FOVEA_SPARSE_CSR;
  arrays.offset_capacity = offset_capacity;
  arrays.offsets = offsets;
  arrays.entry_capacity = entry_capacity;
  arrays.keys = keys;
  arrays.values = values;
  return fovea_session_get_sparse_map(session, tap, &arrays, error);
}

fovea_status bridge_generator(fovea_session* decode, const fovea_session* encode, uint32_t max_tokens,
                              const int32_t* stop_ids, uint32_t stop_id_count, const fovea_sampling* sampling,
                              uintptr_t handle, void* memory, uint64_t* size, fovea_generator** generator,
                              fovea_error* error) {
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  fovea_sampling rules = *sampling;
  options.decode = decode;
  options.encode = encode;
  options.max_tokens = max_tokens;
  options.stop_ids = stop_ids;
  options.stop_id_count = stop_id_count;
  if (handle != 0) {
    rules.allow = allow;
    rules.allow_context = (void*)handle;
  }
  options.sampling = &rules;
  return generator == NULL ? fovea_generate_size(&options, size, error)
                           : fovea_generate_init(&options, memory, *size, generator, error);
}

fovea_status bridge_stop(const char* strings, const uint32_t* sizes, uint32_t count, void* memory, uint64_t* size,
                         fovea_stop** stop, fovea_error* error) {
  const char** starts = calloc((size_t)count + 1, sizeof(*starts));
  fovea_status status;
  if (starts == NULL) return no_memory(error);
  for (uint32_t i = 0; i < count; ++i) {
    starts[i] = strings;
    strings += sizes[i];
  }
  status = stop == NULL ? fovea_stop_size(starts, sizes, count, size, error)
                        : fovea_stop_init(starts, sizes, count, memory, *size, stop, error);
  free((void*)starts);
  return status;
}
