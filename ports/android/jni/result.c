/* Results of a run: rows of outputs, segments, attention maps. */
#include <string.h>

#include "bridge.h"

static fovea_session* session_of(jlong handle) { return ((struct bridge_session*)bridge_handle(handle))->session; }

static int view_of(JNIEnv* env, jlong handle, jint value, fovea_view* view) {
  fovea_error error = {0};
  const fovea_status status = fovea_session_get_output(session_of(handle), (uint32_t)value, view, &error);
  return !bridge_failed(env, "output", status, &error);
}

/* {type, rows, width} */
static jintArray JNICALL output_shape(JNIEnv* env, jclass class, jlong handle, jint value) {
  (void)class;
  fovea_view view;
  if (!view_of(env, handle, value, &view)) return NULL;
  const jint numbers[3] = {(jint)view.type, (jint)view.rows, (jint)view.width};
  return bridge_ints(env, numbers, 3);
}

static jintArray JNICALL segments(JNIEnv* env, jclass class, jlong handle, jint space) {
  (void)class;
  fovea_error error = {0};
  const uint32_t* offsets = NULL;
  uint32_t count = 0;
  const fovea_status status = fovea_session_get_segments(session_of(handle), (uint32_t)space, &offsets, &count, &error);
  return bridge_failed(env, "segments", status, &error) ? NULL : bridge_ints(env, offsets, (uint64_t)count + 1);
}

/* ---- How outputs are read ---- */

enum { INFO = 8 }; /* {program, kind, value, width, pooling, activation, measure, normalize} */

static jintArray JNICALL result_info(JNIEnv* env, jclass class, jlong handle, jint program, jbyteArray output) {
  (void)class;
  const fovea_model* model = ((struct bridge_model*)bridge_handle(handle))->model;
  fovea_result_info info = FOVEA_RESULT_INFO_INIT;
  fovea_error error = {0};
  const struct bridge_array name = bridge_take_bytes(env, output); /* ends with 0 */
  if (!name.ok) return NULL;
  const fovea_status status = fovea_result_get_info(model, (uint32_t)program, name.at, &info, &error);
  bridge_drop_bytes(env, output, name);
  if (bridge_failed(env, "results", status, &error)) return NULL;
  const jint numbers[INFO] = {(jint)info.program, (jint)info.kind,       (jint)info.value,   (jint)info.width,
                              (jint)info.pooling, (jint)info.activation, (jint)info.measure, (jint)info.normalize};
  return bridge_ints(env, numbers, INFO);
}

static void take_info(JNIEnv* env, jintArray numbers, fovea_result_info* info) {
  jint given[INFO] = {0};
  (*env)->GetIntArrayRegion(env, numbers, 0, INFO, given);
  *info = (fovea_result_info)FOVEA_RESULT_INFO_INIT;
  info->program = (uint32_t)given[0];
  info->kind = (uint32_t)given[1];
  info->value = (uint32_t)given[2];
  info->width = (uint32_t)given[3];
  info->pooling = (uint32_t)given[4];
  info->activation = (uint32_t)given[5];
  info->measure = (uint32_t)given[6];
  info->normalize = (uint32_t)given[7];
}

/* Writes one result of the last run to `row`. Returns whether it did; else an exception is pending. */
static int read_one(JNIEnv* env, jlong handle, const fovea_result_info* info, jint index, float* row) {
  fovea_error error = {0};
  const fovea_status status = fovea_result_read(session_of(handle), info, (uint32_t)index, 1, row, info->width, &error);
  return !bridge_failed(env, "results", status, &error);
}

static void JNICALL read_result(JNIEnv* env, jclass class, jlong handle, jintArray numbers, jint index, jfloatArray to,
                                jint offset) {
  (void)class;
  fovea_result_info info;
  take_info(env, numbers, &info);
  float* row = (*env)->ExceptionCheck(env) ? NULL : bridge_memory(env, info.width * sizeof(*row));
  if (row != NULL && read_one(env, handle, &info, index, row)) {
    (*env)->SetFloatArrayRegion(env, to, offset, (jsize)info.width, row);
  }
  fovea_port_free(row);
}

/* The same to memory of a direct buffer, at a byte. */
static void JNICALL read_result_to(JNIEnv* env, jclass class, jlong handle, jintArray numbers, jint index, jobject to,
                                   jlong offset) {
  (void)class;
  fovea_result_info info;
  take_info(env, numbers, &info);
  if ((*env)->ExceptionCheck(env)) return;
  char* at = (*env)->GetDirectBufferAddress(env, to);
  const jlong capacity = (*env)->GetDirectBufferCapacity(env, to) * (jlong)sizeof(float);
  const jlong bytes = (jlong)(info.width * sizeof(float));
  if (at == NULL || offset < 0 || offset > capacity - bytes) {
    bridge_failed(env, "results: the buffer is too small, or not a direct one", FOVEA_E_CAPACITY, NULL);
  } else if ((uintptr_t)at % sizeof(float) == 0) {
    read_one(env, handle, &info, index, (float*)(void*)(at + offset));
  } else { /* A view of bytes from any place on. */
    float* row = bridge_memory(env, info.width * sizeof(*row));
    if (row != NULL && read_one(env, handle, &info, index, row)) memcpy(at + offset, row, (size_t)bytes);
    fovea_port_free(row);
  }
}

/* Applies an activation to scores in place, and returns the indices of the `top` largest. */
static jintArray JNICALL present(JNIEnv* env, jclass class, jint activation, jfloatArray scores, jint top) {
  (void)class;
  const jsize count = (*env)->GetArrayLength(env, scores);
  const uint32_t most = top < count ? (uint32_t)top : (uint32_t)count;
  uint32_t* order = bridge_memory(env, (most == 0 ? 1 : most) * sizeof(*order));
  float* numbers = order == NULL ? NULL : (*env)->GetFloatArrayElements(env, scores, NULL);
  jintArray found = NULL;
  if (numbers != NULL) {
    const fovea_status status = fovea_result_activate((uint32_t)activation, numbers, (uint32_t)count);
    const uint32_t written = fovea_result_rank(numbers, (uint32_t)count, most, order);
    (*env)->ReleaseFloatArrayElements(env, scores, numbers, 0);
    if (!bridge_failed(env, "results", status, NULL)) found = bridge_ints(env, order, written);
  }
  fovea_port_free(order);
  return found;
}

/* Two embeddings of one width. */
static jdouble JNICALL similarity(JNIEnv* env, jclass class, jint measure, jfloatArray a, jfloatArray b) {
  (void)class;
  const jsize width = (*env)->GetArrayLength(env, a);
  double found = 0;
  float* first = (*env)->GetFloatArrayElements(env, a, NULL);
  float* second = first == NULL ? NULL : (*env)->GetFloatArrayElements(env, b, NULL);
  if (second != NULL) {
    found = fovea_result_similarity((uint32_t)measure, first, 1, second, 1, (uint32_t)width);
    (*env)->ReleaseFloatArrayElements(env, b, second, JNI_ABORT);
  }
  if (first != NULL) (*env)->ReleaseFloatArrayElements(env, a, first, JNI_ABORT);
  return found;
}

/* ---- Words that explain a class ---- */

/* {step, whether only the first row of each segment}; NULL: the model names no attention for the rows of the space */
static jintArray JNICALL explaining_tap(JNIEnv* env, jclass class, jlong handle, jint program, jint space) {
  (void)class;
  const fovea_model* model = ((struct bridge_model*)bridge_handle(handle))->model;
  fovea_tap tap = FOVEA_TAP_INIT;
  fovea_error error = {0};
  const fovea_status status = fovea_result_get_explaining_tap(model, (uint32_t)program, (uint32_t)space, &tap, &error);
  if (status == FOVEA_E_NAME || bridge_failed(env, "explain", status, &error)) return NULL;
  const jint numbers[2] = {(jint)tap.step, tap.rows == FOVEA_TAP_ROWS_STRIDE};
  return bridge_ints(env, numbers, 2);
}

/* The weight of each row of a space; NULL: the attention does not belong to it. */
static jfloatArray JNICALL read_weights(JNIEnv* env, jclass class, jlong handle, jint tap, jint space) {
  (void)class;
  fovea_error error = {0};
  const uint32_t* offsets = NULL;
  uint32_t count = 0;
  fovea_status status = fovea_session_get_segments(session_of(handle), (uint32_t)space, &offsets, &count, &error);
  if (bridge_failed(env, "explain", status, &error)) return NULL;
  const uint32_t rows = offsets[count];
  float* weights = bridge_memory(env, rows * sizeof(*weights));
  if (weights == NULL) return NULL;
  status = fovea_result_read_weights(session_of(handle), (uint32_t)tap, (uint32_t)space, weights, rows, &error);
  jfloatArray found = NULL;
  if (status != FOVEA_E_OPTION && !bridge_failed(env, "explain", status, &error)) {
    found = bridge_floats(env, weights, rows);
  }
  fovea_port_free(weights);
  return found;
}

/* The words of each part of a text's tokens, lengths[i] of them: {begin, end} of each word in `places`, its weight in
 * `found`. Returns how many words each part has. */
static jintArray JNICALL words(JNIEnv* env, jclass class, jbyteArray text, jbooleanArray special, jintArray ranges,
                               jintArray lengths, jfloatArray weights, jintArray places, jfloatArray found) {
  (void)class;
  const jsize all = (*env)->GetArrayLength(env, special), parts = (*env)->GetArrayLength(env, lengths);
  fovea_error error = {0};
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  const uint64_t token = sizeof(fovea_word) + 2 * sizeof(uint32_t) + sizeof(float) + 1;
  fovea_word* listed = bridge_memory(env, (uint64_t)all * token + (uint64_t)parts * sizeof(jint));
  if (listed == NULL) return NULL;
  tokens.capacity = tokens.count = (uint64_t)all;
  tokens.ranges = (uint32_t*)(listed + all);
  float* given = (float*)(tokens.ranges + 2 * (size_t)all);
  jint* counts = (jint*)(given + all);
  tokens.special = (uint8_t*)(counts + parts);
  (*env)->GetBooleanArrayRegion(env, special, 0, all, tokens.special);
  (*env)->GetIntArrayRegion(env, ranges, 0, 2 * all, (jint*)tokens.ranges);
  (*env)->GetFloatArrayRegion(env, weights, 0, all, given);
  (*env)->GetIntArrayRegion(env, lengths, 0, parts, counts);
  const struct bridge_array bytes = bridge_take_bytes(env, text);
  uint64_t first = 0, words = 0;
  for (jsize i = 0; i < parts && !(*env)->ExceptionCheck(env); ++i) {
    const uint64_t count = (uint64_t)counts[i];
    uint64_t made = 0;
    bridge_failed(env, "explain",
                  fovea_result_get_words(bytes.at, (uint64_t)bytes.count, &tokens, first, count, given + first,
                                         listed + words, (uint64_t)all - words, &made, &error),
                  &error);
    counts[i] = (jint)made;
    first += count;
    words += made;
  }
  bridge_drop_bytes(env, text, bytes);
  jintArray written = (*env)->ExceptionCheck(env) ? NULL : bridge_ints(env, counts, (uint64_t)parts);
  for (jsize i = 0; written != NULL && i < (jsize)words; ++i) {
    const jint place[2] = {(jint)listed[i].begin, (jint)listed[i].end};
    (*env)->SetIntArrayRegion(env, places, 2 * i, 2, place);
    (*env)->SetFloatArrayRegion(env, found, i, 1, &listed[i].weight);
  }
  fovea_port_free(listed);
  return written;
}

/* ---- Attention maps ---- */

static int map_of(JNIEnv* env, jlong handle, jint tap, fovea_attention_map* map) {
  fovea_error error = {0};
  *map = (fovea_attention_map)FOVEA_ATTENTION_MAP_INIT;
  const fovea_status status = fovea_session_get_attention_map(session_of(handle), (uint32_t)tap, map, &error);
  return !bridge_failed(env, "attention map", status, &error);
}

/* {form, rows, heads, stride, query space, key space, rows of keys}, then the tapped rows */
static jintArray JNICALL map_info(JNIEnv* env, jclass class, jlong handle, jint tap) {
  (void)class;
  fovea_attention_map map;
  if (!map_of(env, handle, tap, &map)) return NULL;
  const jint numbers[7] = {(jint)map.form,        (jint)map.rows,      (jint)map.heads,   (jint)map.stride,
                           (jint)map.query_space, (jint)map.key_space, (jint)map.key_rows};
  jintArray found = (*env)->NewIntArray(env, (jsize)(7 + map.rows));
  if (found == NULL) return NULL;
  (*env)->SetIntArrayRegion(env, found, 0, 7, numbers);
  if (map.rows > 0) (*env)->SetIntArrayRegion(env, found, 7, (jsize)map.rows, (const jint*)map.query_rows);
  return found;
}

static jfloatArray JNICALL dense_map(JNIEnv* env, jclass class, jlong handle, jint tap) {
  (void)class;
  fovea_attention_map map;
  if (!map_of(env, handle, tap, &map)) return NULL;
  return bridge_floats(env, map.data, (uint64_t)map.rows * map.heads * map.stride);
}

/* Returns the values; fills `arrays` with the offsets of lines (long[]) and the keys (int[]). */
static jfloatArray JNICALL sparse_map(JNIEnv* env, jclass class, jlong handle, jint tap, jobjectArray arrays) {
  (void)class;
  fovea_attention_map map;
  if (!map_of(env, handle, tap, &map)) return NULL;
  const uint64_t lines = (uint64_t)map.rows * map.heads;
  fovea_sparse_map sparse = FOVEA_SPARSE_MAP_INIT;
  fovea_error error = {0};
  sparse.layout = FOVEA_SPARSE_CSR;
  sparse.offset_capacity = lines + 1;
  sparse.entry_capacity = map.entries;
  jfloatArray values = NULL;
  sparse.offsets = bridge_memory(env, (lines + 1) * sizeof(*sparse.offsets));
  sparse.keys = sparse.offsets == NULL ? NULL : bridge_memory(env, map.entries * sizeof(*sparse.keys));
  sparse.values = sparse.keys == NULL ? NULL : bridge_memory(env, map.entries * sizeof(*sparse.values));
  if (sparse.values != NULL &&
      !bridge_failed(env, "attention map",
                     fovea_session_get_sparse_map(session_of(handle), (uint32_t)tap, &sparse, &error), &error)) {
    jlongArray offsets = bridge_longs(env, sparse.offsets, lines + 1);
    jintArray keys = offsets == NULL ? NULL : bridge_ints(env, sparse.keys, map.entries);
    if (keys != NULL) {
      (*env)->SetObjectArrayElement(env, arrays, 0, offsets);
      (*env)->SetObjectArrayElement(env, arrays, 1, keys);
      values = bridge_floats(env, sparse.values, map.entries);
    }
  }
  fovea_port_free(sparse.values);
  fovea_port_free(sparse.keys);
  fovea_port_free(sparse.offsets);
  return values;
}

static jbyteArray JNICALL taps_file(JNIEnv* env, jclass class, jlong handle) {
  (void)class;
  fovea_error error = {0};
  uint64_t size = 0;
  if (bridge_failed(env, "taps", fovea_taps_file_size(session_of(handle), &size, &error), &error)) return NULL;
  void* file = bridge_memory(env, size);
  jbyteArray bytes = NULL;
  if (file == NULL) return NULL;
  if (!bridge_failed(env, "taps", fovea_taps_file_write(session_of(handle), file, size, &error), &error)) {
    bytes = bridge_bytes(env, file, size);
  }
  fovea_port_free(file);
  return bytes;
}

const JNINativeMethod bridge_result_methods[] = {
    {"outputShape", "(JI)[I", (void*)output_shape},
    {"readResult", "(J[II[FI)V", (void*)read_result},
    {"readResultTo", "(J[IILjava/nio/FloatBuffer;J)V", (void*)read_result_to},
    {"segments", "(JI)[I", (void*)segments},
    {"resultInfo", "(JI[B)[I", (void*)result_info},
    {"present", "(I[FI)[I", (void*)present},
    {"similarity", "(I[F[F)D", (void*)similarity},
    {"explainingTap", "(JII)[I", (void*)explaining_tap},
    {"readWeights", "(JII)[F", (void*)read_weights},
    {"words", "([B[Z[I[I[F[I[F)[I", (void*)words},
    {"mapInfo", "(JI)[I", (void*)map_info},
    {"denseMap", "(JI)[F", (void*)dense_map},
    {"sparseMap", "(JI[Ljava/lang/Object;)[F", (void*)sparse_map},
    {"tapsFile", "(J)[B", (void*)taps_file},
    {NULL, NULL, NULL},
};
