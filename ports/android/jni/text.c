/* Text to tokens and back, and texts that grow token by token. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

enum { PART = 16384 }; /* Bytes of a step's text: the format limits a piece to 4096. */

static const fovea_model* model_of(jlong handle) { return ((struct bridge_model*)bridge_handle(handle))->model; }

/* {kind, vocabulary, longest text, special tokens of a text and of a pair, ids of unknown, padding and mask} */
static jintArray JNICALL text_info(JNIEnv* env, jclass class, jlong handle) {
  (void)class;
  fovea_text_info info = FOVEA_TEXT_INFO_INIT;
  fovea_error error = {0};
  if (bridge_failed(env, "tokenizer", fovea_text_get_info(model_of(handle), &info, &error), &error)) return NULL;
  const jint numbers[8] = {
      (jint)info.kind,         (jint)info.vocabulary, (jint)info.max_length, (jint)info.single_special,
      (jint)info.pair_special, info.unknown_id,       info.pad_id,           info.mask_id};
  return bridge_ints(env, numbers, 8);
}

/* ---- Encoding ---- */

struct encoded {
  fovea_text_tokens tokens;
  fovea_text_sentences sentences;
  uint8_t* special;
  void* block;
};

/* One block for arrays of `capacity` tokens and `sentences` sentences. */
static int make_arrays(JNIEnv* env, struct encoded* made, uint64_t capacity, uint64_t sentences) {
  fovea_port_free(made->block);
  made->block = bridge_memory(env, (4 * capacity + 3 * sentences) * sizeof(int32_t) + capacity);
  if (made->block == NULL) return 0;
  made->tokens = (fovea_text_tokens)FOVEA_TEXT_TOKENS_INIT;
  made->tokens.capacity = capacity;
  made->tokens.ids = made->block;
  made->tokens.types = made->tokens.ids + capacity;
  made->tokens.ranges = (uint32_t*)made->tokens.types + capacity;
  made->sentences = (fovea_text_sentences)FOVEA_TEXT_SENTENCES_INIT;
  made->sentences.capacity = sentences;
  made->sentences.lengths = made->tokens.ranges + 2 * capacity;
  made->sentences.ranges = made->sentences.lengths + sentences;
  made->tokens.special = (uint8_t*)(made->sentences.ranges + 2 * sentences);
  return 1;
}

static fovea_status encode_once(const fovea_model* model, struct bridge_array text, struct bridge_array second,
                                const fovea_text_encode_options* options, int document, void* scratch, uint64_t size,
                                struct encoded* made, fovea_error* error) {
  if (document) {
    return fovea_text_encode_document(model, text.at, (uint64_t)text.count, options, scratch, size, &made->tokens,
                                      &made->sentences, error);
  }
  return fovea_text_encode(model, text.at, (uint64_t)text.count, second.at, (uint64_t)second.count, options, scratch,
                           size, &made->tokens, error);
}

/* Encodes, again with larger arrays if they were too small. */
static void encode_into(JNIEnv* env, const fovea_model* model, struct bridge_array text, struct bridge_array second,
                        const fovea_text_encode_options* options, int document, struct encoded* made) {
  fovea_error error = {0};
  const uint64_t longer = (uint64_t)(text.count > second.count ? text.count : second.count);
  uint64_t needed = 0, capacity = (uint64_t)text.count / 2 + (uint64_t)second.count / 2 + 32;
  uint64_t sentences = document ? (uint64_t)text.count / 16 + 8 : 0;
  if (bridge_failed(env, "", fovea_text_scratch_size(model, longer, &needed, &error), &error)) return;
  void* scratch = bridge_memory(env, needed);
  fovea_status status = FOVEA_E_CAPACITY;
  while (scratch != NULL && status == FOVEA_E_CAPACITY && make_arrays(env, made, capacity, sentences)) {
    status = encode_once(model, text, second, options, document, scratch, needed, made, &error);
    if (status != FOVEA_E_CAPACITY) break;
    if (made->tokens.count <= capacity && made->sentences.count <= sentences) break;
    if (made->tokens.count > capacity) capacity = made->tokens.count;
    if (made->sentences.count > sentences) sentences = made->sentences.count;
  }
  fovea_port_free(scratch);
  bridge_failed(env, "", status, &error);
}

/* ids, types, marks of special tokens, begins and ends; then for documents lengths, begins and ends of sentences. */
static jintArray packed(JNIEnv* env, const struct encoded* made) {
  const uint64_t count = made->tokens.count, sentences = made->sentences.count;
  jint* numbers = bridge_memory(env, (5 * count + 3 * sentences) * sizeof(jint));
  if (numbers == NULL) return NULL;
  jint* to = numbers + 5 * count;
  for (uint64_t i = 0; i < count; ++i) {
    numbers[i] = made->tokens.ids[i];
    numbers[count + i] = made->tokens.types[i];
    numbers[2 * count + i] = made->tokens.special[i];
    numbers[3 * count + i] = (jint)made->tokens.ranges[2 * i];
    numbers[4 * count + i] = (jint)made->tokens.ranges[2 * i + 1];
  }
  for (uint64_t i = 0; i < sentences; ++i) {
    to[i] = (jint)made->sentences.lengths[i];
    to[sentences + i] = (jint)made->sentences.ranges[2 * i];
    to[2 * sentences + i] = (jint)made->sentences.ranges[2 * i + 1];
  }
  jintArray found = bridge_ints(env, numbers, 5 * count + 3 * sentences);
  fovea_port_free(numbers);
  return found;
}

/* counts: {tokens, tokens of each text before truncation, sentences, dropped sentences,
 * special tokens that the texts spell} */
static jintArray JNICALL encode(JNIEnv* env, jclass class, jlong handle, jbyteArray text, jbyteArray second, jint flags,
                                jint max_length, jboolean document, jlongArray counts) {
  (void)class;
  fovea_text_encode_options options = FOVEA_TEXT_ENCODE_OPTIONS_INIT;
  struct encoded made = {0};
  options.flags = (uint32_t)flags;
  options.max_length = (uint32_t)max_length;
  const struct bridge_array first = bridge_take_bytes(env, text);
  const struct bridge_array other = first.ok ? bridge_take_bytes(env, second) : (struct bridge_array){NULL, 0, 0};
  if (first.ok && other.ok) encode_into(env, model_of(handle), first, other, &options, document, &made);
  bridge_drop_bytes(env, text, first);
  bridge_drop_bytes(env, second, other);
  jintArray found = (*env)->ExceptionCheck(env) ? NULL : packed(env, &made);
  if (found != NULL) {
    const jlong numbers[6] = {(jlong)made.tokens.count,          (jlong)made.tokens.text_tokens[0],
                              (jlong)made.tokens.text_tokens[1], (jlong)made.sentences.count,
                              (jlong)made.sentences.dropped,     (jlong)made.tokens.spelled};
    (*env)->SetLongArrayRegion(env, counts, 0, 6, numbers);
  }
  fovea_port_free(made.block);
  return found;
}

static jbyteArray JNICALL decode(JNIEnv* env, jclass class, jlong handle, jintArray array, jint flags) {
  (void)class;
  const fovea_model* model = model_of(handle);
  fovea_error error = {0};
  uint64_t capacity = 0, size = 0;
  char* text = NULL;
  jbyteArray found = NULL;
  const struct bridge_array ids = bridge_take_ints(env, array);
  fovea_status status = FOVEA_E_CAPACITY;
  while (ids.ok && status == FOVEA_E_CAPACITY) {
    fovea_port_free(text);
    capacity = size + 64;
    if ((text = bridge_memory(env, capacity)) == NULL) break;
    status = fovea_text_decode(model, ids.at, (uint64_t)ids.count, (uint32_t)flags, text, capacity, &size, &error);
  }
  bridge_drop_ints(env, array, ids);
  if (text != NULL && !bridge_failed(env, "tokens", status, &error)) found = bridge_bytes(env, text, size);
  fovea_port_free(text);
  return found;
}

static jbyteArray JNICALL piece(JNIEnv* env, jclass class, jlong handle, jint id) {
  (void)class;
  fovea_error error = {0};
  const char* at = NULL;
  uint32_t size = 0;
  const fovea_status status = fovea_text_get_token(model_of(handle), id, &at, &size, NULL, &error);
  return bridge_failed(env, "token", status, &error) ? NULL : bridge_bytes(env, at, size);
}

static jint JNICALL find_piece(JNIEnv* env, jclass class, jlong handle, jbyteArray name) {
  (void)class;
  fovea_error error = {0};
  int32_t id = -1;
  const struct bridge_array bytes = bridge_take_bytes(env, name);
  if (!bytes.ok) return -1;
  const fovea_status status = fovea_text_find_token(model_of(handle), bytes.at, (uint32_t)bytes.count, &id, &error);
  bridge_drop_bytes(env, name, bytes);
  return bridge_failed(env, "token", status, &error) ? -1 : id;
}

/* ---- A text that grows ---- */

static void drop_text(struct bridge_text* text) {
  free(text->rest);
  free(text->held);
  fovea_port_free(text->stop_memory);
  free(text);
}

/* Returns the bytes that the decoder would write if the prompt ended the text. A copy of its state ends; the state
 * continues. */
static fovea_status begin_after(JNIEnv* env, struct bridge_text* text, struct bridge_array after, char* part,
                                fovea_error* error) {
  fovea_status status = FOVEA_OK;
  const int32_t* ids = after.at;
  uint64_t size = 0;
  for (jsize i = 0; i < after.count && status == FOVEA_OK; ++i) {
    if (ids[i] < 0 || ids[i] >= text->vocabulary) continue; /* Tables are often larger than vocabularies. */
    status = fovea_text_decode_next(text->model, &text->stream, ids + i, 1, part, PART, &size, error);
  }
  if (after.count == 0 || status != FOVEA_OK) return status;
  fovea_text_stream copy = text->stream;
  status = fovea_text_decode_end(text->model, &copy, part, PART, &text->rest_size, error);
  if (status != FOVEA_OK || text->rest_size == 0) return status;
  text->rest = malloc((size_t)text->rest_size);
  if (text->rest == NULL) return bridge_out_of_memory(env, "a text", text->rest_size), FOVEA_OK;
  memcpy(text->rest, part, (size_t)text->rest_size);
  return FOVEA_OK;
}

static void make_stop(JNIEnv* env, struct bridge_text* text, const char* const* strings, const uint32_t* sizes,
                      uint32_t count) {
  fovea_error error = {0};
  uint64_t needed = 0;
  if (bridge_failed(env, "stop", fovea_stop_size(strings, sizes, count, &needed, &error), &error)) return;
  if ((text->stop_memory = bridge_memory(env, needed)) == NULL) return;
  bridge_failed(env, "stop", fovea_stop_init(strings, sizes, count, text->stop_memory, needed, &text->stop, &error),
                &error);
}

/* Stop strings: all their bytes, one string after the other, and their sizes. */
static void take_stops(JNIEnv* env, struct bridge_text* text, jbyteArray bytes, jintArray sizes) {
  const struct bridge_array all = bridge_take_bytes(env, bytes);
  const struct bridge_array each = all.ok ? bridge_take_ints(env, sizes) : (struct bridge_array){NULL, 0, 0};
  const char** strings = each.ok && each.count > 0 ? calloc((size_t)each.count, sizeof(*strings)) : NULL;
  if (strings != NULL) {
    const char* next = all.at;
    for (jsize i = 0; i < each.count; ++i) {
      strings[i] = next;
      next += ((const jint*)each.at)[i];
    }
    make_stop(env, text, strings, each.at, (uint32_t)each.count);
  } else if (each.count > 0) {
    bridge_out_of_memory(env, "stop strings", (uint64_t)each.count);
  }
  free(strings);
  bridge_drop_ints(env, sizes, each);
  bridge_drop_bytes(env, bytes, all);
}

static jlong JNICALL new_text(JNIEnv* env, jclass class, jlong model, jint vocabulary, jintArray after,
                              jbyteArray stops, jintArray stop_sizes) {
  (void)class;
  fovea_error error = {0};
  struct bridge_text* text = calloc(1, sizeof(*text));
  char* part = bridge_memory(env, PART);
  if (text == NULL) bridge_out_of_memory(env, "a text", sizeof(*text));
  if (text != NULL && part != NULL) {
    text->model = model_of(model);
    text->vocabulary = vocabulary;
    text->stream = (fovea_text_stream)FOVEA_TEXT_STREAM_INIT;
    const struct bridge_array prompt = bridge_take_ints(env, after);
    if (prompt.ok) bridge_failed(env, "prompt", begin_after(env, text, prompt, part, &error), &error);
    bridge_drop_ints(env, after, prompt);
    if (stops != NULL && !(*env)->ExceptionCheck(env)) take_stops(env, text, stops, stop_sizes);
  }
  fovea_port_free(part);
  if (!(*env)->ExceptionCheck(env)) return bridge_number(text);
  if (text != NULL) drop_text(text);
  return 0;
}

static void JNICALL close_text(JNIEnv* env, jclass class, jlong handle) {
  (void)env;
  (void)class;
  drop_text(bridge_handle(handle));
}

/* Adds bytes to the bytes that are held back. Returns in *size how many of them may be shown, and in *found whether a
 * stop string was found. */
static fovea_status hold(JNIEnv* env, struct bridge_text* text, const char* part, uint64_t part_size, int ended,
                         uint64_t* size, int* found, fovea_error* error) {
  fovea_stopped stopped = FOVEA_STOPPED_INIT;
  char* larger = realloc(text->held, (size_t)(text->held_size + part_size + 1));
  if (larger == NULL) return bridge_out_of_memory(env, "a text", text->held_size + part_size), FOVEA_OK;
  text->held = larger;
  if (part_size > 0) memcpy(text->held + text->held_size, part, (size_t)part_size);
  text->held_size += part_size;
  *size = text->held_size;
  *found = 0;
  if (text->stop == NULL) return FOVEA_OK;
  const fovea_status status = fovea_stop_next(text->stop, part, part_size, &stopped, error);
  if (status != FOVEA_OK) return status;
  *found = stopped.stopped != 0;
  if (*found || !ended) *size = stopped.safe - text->shown;
  return FOVEA_OK;
}

/* Adds a token (-1: none), and what is held back if the text ends. Returns a byte, 1 if a stop string was found, and
 * the bytes to show. */
static jbyteArray JNICALL add_token(JNIEnv* env, jclass class, jlong handle, jint token, jboolean ended) {
  (void)class;
  struct bridge_text* text = bridge_handle(handle);
  fovea_error error = {0};
  fovea_status status = FOVEA_OK;
  uint64_t written = 0, more = 0, size = 0;
  int found = 0;
  jbyteArray shown = NULL;
  char* part = bridge_memory(env, PART);
  if (part == NULL) return NULL;
  if (token >= 0 && token < text->vocabulary) {
    const int32_t id = token;
    status = fovea_text_decode_next(text->model, &text->stream, &id, 1, part, PART, &written, &error);
  }
  if (status == FOVEA_OK && ended) {
    status = fovea_text_decode_end(text->model, &text->stream, part + written, PART - written, &more, &error);
  }
  written += more;
  const char* begin = part;
  if (status == FOVEA_OK && written > 0 && text->rest_size > 0) {
    if (written >= text->rest_size && memcmp(part, text->rest, (size_t)text->rest_size) == 0) {
      begin += text->rest_size;
      written -= text->rest_size;
    }
    text->rest_size = 0;
  }
  if (status == FOVEA_OK) status = hold(env, text, begin, written, ended, &size, &found, &error);
  if (!bridge_failed(env, "generate", status, &error) && !(*env)->ExceptionCheck(env)) {
    const jbyte mark = (jbyte)found;
    shown = (*env)->NewByteArray(env, (jsize)(size + 1));
    if (shown != NULL) {
      (*env)->SetByteArrayRegion(env, shown, 0, 1, &mark);
      if (size > 0) (*env)->SetByteArrayRegion(env, shown, 1, (jsize)size, (const jbyte*)text->held);
      memmove(text->held, text->held + size, (size_t)(text->held_size - size));
      text->held_size -= size;
      text->shown += size;
    }
  }
  fovea_port_free(part);
  return shown;
}

const JNINativeMethod bridge_text_methods[] = {
    {"textInfo", "(J)[I", (void*)text_info},
    {"encode", "(J[B[BIIZ[J)[I", (void*)encode},
    {"decode", "(J[II)[B", (void*)decode},
    {"piece", "(JI)[B", (void*)piece},
    {"findPiece", "(J[B)I", (void*)find_piece},
    {"newText", "(JI[I[B[I)J", (void*)new_text},
    {"closeText", "(J)V", (void*)close_text},
    {"addToken", "(JIZ)[B", (void*)add_token},
    {NULL, NULL, NULL},
};
