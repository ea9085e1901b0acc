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

static const void* row_of(JNIEnv* env, jlong handle, jint value, jint row, fovea_view* view) {
  if (!view_of(env, handle, value, view)) return NULL;
  if (view->type == FOVEA_TYPE_F32 && row >= 0 && (uint32_t)row < view->rows) {
    return (const char*)view->data + (uint64_t)row * view->row_bytes;
  }
  bridge_failed(env, "output: no such row of f32", FOVEA_E_INDEX, NULL);
  return NULL;
}

static void JNICALL read_row(JNIEnv* env, jclass class, jlong handle, jint value, jint row, jfloatArray to,
                             jint offset) {
  (void)class;
  fovea_view view;
  const void* from = row_of(env, handle, value, row, &view);
  if (from != NULL) (*env)->SetFloatArrayRegion(env, to, offset, (jsize)view.width, from);
}

/* Copies a row of a session to memory of a direct buffer, at a byte. */
static void JNICALL read_row_to(JNIEnv* env, jclass class, jlong handle, jint value, jint row, jobject to,
                                jlong offset) {
  (void)class;
  fovea_view view;
  const void* from = row_of(env, handle, value, row, &view);
  if (from == NULL) return;
  char* at = (*env)->GetDirectBufferAddress(env, to);
  const jlong capacity = (*env)->GetDirectBufferCapacity(env, to) * (jlong)sizeof(float);
  const jlong bytes = (jlong)(view.width * sizeof(float));
  if (at == NULL || offset < 0 || offset > capacity - bytes) {
    bridge_failed(env, "output: the buffer is too small, or not a direct one", FOVEA_E_CAPACITY, NULL);
  } else {
    memcpy(at + offset, from, (size_t)bytes);
  }
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

/* {kind, value, width, pooling, activation, measure} */
static jintArray JNICALL result_info(JNIEnv* env, jclass class, jlong handle, jint program) {
  (void)class;
  const fovea_model* model = ((struct bridge_model*)bridge_handle(handle))->model;
  fovea_result_info info = FOVEA_RESULT_INFO_INIT;
  fovea_error error = {0};
  const fovea_status status = fovea_result_get_info(model, (uint32_t)program, NULL, &info, &error);
  if (bridge_failed(env, "results", status, &error)) return NULL;
  const jint numbers[6] = {(jint)info.kind,    (jint)info.value,      (jint)info.width,
                           (jint)info.pooling, (jint)info.activation, (jint)info.measure};
  return bridge_ints(env, numbers, 6);
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
    {"readRow", "(JII[FI)V", (void*)read_row},
    {"readRowTo", "(JIILjava/nio/FloatBuffer;J)V", (void*)read_row_to},
    {"segments", "(JI)[I", (void*)segments},
    {"resultInfo", "(JI)[I", (void*)result_info},
    {"present", "(I[FI)[I", (void*)present},
    {"similarity", "(I[F[F)D", (void*)similarity},
    {"mapInfo", "(JI)[I", (void*)map_info},
    {"denseMap", "(JI)[F", (void*)dense_map},
    {"sparseMap", "(JI[Ljava/lang/Object;)[F", (void*)sparse_map},
    {"tapsFile", "(J)[B", (void*)taps_file},
    {NULL, NULL, NULL},
};
