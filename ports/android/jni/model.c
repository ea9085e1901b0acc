/* Models: opening blobs from files, descriptors, buffers and arrays; what a model consists of. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bridge.h"

static void drop(JNIEnv* env, struct bridge_model* model) {
  fovea_port_free(model->memory);
  fovea_port_free(model->copy);
  fovea_port_close(&model->file);
  if (model->mapped != NULL) munmap(model->mapped, model->mapped_size);
  if (model->buffer != NULL) (*env)->DeleteGlobalRef(env, model->buffer);
  free(model);
}

static struct bridge_model* begin(JNIEnv* env) {
  struct bridge_model* made = calloc(1, sizeof(*made));
  if (made == NULL) bridge_out_of_memory(env, "a model", sizeof(*made));
  return made;
}

/* Makes the model of the blob that `made` holds, or frees all. */
static jlong opened(JNIEnv* env, struct bridge_model* made, const void* blob, uint64_t size, jint backend,
                    jboolean skip_checksum) {
  fovea_model_options options = FOVEA_MODEL_OPTIONS_INIT;
  fovea_error error = {0};
  options.backend = (uint32_t)backend;
  options.skip_checksum = skip_checksum ? 1 : 0;
  if (blob == NULL) blob = made->copy = bridge_memory(env, 0); /* No bytes, at an address. */
  made->blob = blob;
  fovea_status status = FOVEA_E_NULL;
  if (blob != NULL) {
    status = fovea_model_size(blob, size, &options, &made->memory_size, &error);
    if (status == FOVEA_OK) made->memory = bridge_memory(env, made->memory_size);
    if (made->memory != NULL) {
      status = fovea_model_init(blob, size, &options, made->memory, made->memory_size, &made->model, &error);
    }
    bridge_failed(env, "", status, &error);
  }
  if ((*env)->ExceptionCheck(env)) {
    drop(env, made);
    return 0;
  }
  return bridge_number(made);
}

static jlong JNICALL open_file(JNIEnv* env, jclass class, jbyteArray path, jint backend, jboolean skip_checksum) {
  (void)class;
  struct bridge_model* made = begin(env);
  struct bridge_array name = {NULL, 0, 0};
  if (made != NULL) name = bridge_take_bytes(env, path);
  const char* failure = name.ok ? fovea_port_open(name.at, &made->file) : "no memory";
  bridge_drop_bytes(env, path, name);
  if (failure == NULL) return opened(env, made, made->file.data, made->file.size, backend, skip_checksum);
  if (name.ok) bridge_file_failed(env, failure);
  free(made);
  return 0;
}

/* Reads bytes of a file into memory of the model. */
static const char* copy_part(JNIEnv* env, struct bridge_model* made, int descriptor, off_t offset, uint64_t size) {
  uint64_t done = 0;
  made->copy = bridge_memory(env, size);
  if (made->copy == NULL) return "no memory"; /* An OutOfMemoryError is pending. */
  while (done < size) {
    const ssize_t count = pread(descriptor, (char*)made->copy + done, (size_t)(size - done), offset + (off_t)done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return strerror(errno);
    if (count == 0) return "the file ends before the end of this part";
    done += (uint64_t)count;
  }
  return NULL;
}

/* Maps a part of a file, if it begins at a multiple of 64 bytes, else copies it. */
static const char* take_part(JNIEnv* env, struct bridge_model* made, int descriptor, jlong offset, jlong size) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) return strerror(errno);
  if (!S_ISREG(info.st_mode)) return "not a file";
  if (offset < 0 || size < 0 || offset > (jlong)info.st_size || size > (jlong)info.st_size - offset) {
    return "this part is not in the file";
  }
  if (size == 0) return NULL;
  const jlong page = (jlong)getpagesize(), before = offset % page;
  if (offset % 64 != 0) return copy_part(env, made, descriptor, (off_t)offset, (uint64_t)size);
  made->mapped_size = (size_t)(size + before);
  void* mapped = mmap(NULL, made->mapped_size, PROT_READ, MAP_PRIVATE, descriptor, (off_t)(offset - before));
  if (mapped == MAP_FAILED) return strerror(errno);
  made->mapped = mapped;
  return NULL;
}

static jlong JNICALL open_descriptor(JNIEnv* env, jclass class, jint descriptor, jlong offset, jlong size, jint backend,
                                     jboolean skip_checksum) {
  (void)class;
  struct bridge_model* made = begin(env);
  if (made == NULL) return 0;
  const char* failure = take_part(env, made, descriptor, offset, size);
  if (failure != NULL) {
    if (!(*env)->ExceptionCheck(env)) bridge_file_failed(env, failure);
    drop(env, made);
    return 0;
  }
  const void* blob = made->copy;
  if (made->mapped != NULL) blob = (const char*)made->mapped + offset % (jlong)getpagesize();
  return opened(env, made, blob, (uint64_t)size, backend, skip_checksum);
}

static jlong JNICALL open_buffer(JNIEnv* env, jclass class, jobject buffer, jlong offset, jlong size, jint backend,
                                 jboolean skip_checksum) {
  (void)class;
  const char* at = (*env)->GetDirectBufferAddress(env, buffer);
  struct bridge_model* made = begin(env);
  if (made == NULL) return 0;
  const void* blob = at == NULL || size == 0 ? NULL : at + offset;
  if ((uintptr_t)blob % 64 != 0) {
    made->copy = bridge_memory(env, (uint64_t)size);
    if (made->copy != NULL) memcpy(made->copy, blob, (size_t)size);
    blob = made->copy;
  } else if (blob != NULL) {
    made->buffer = (*env)->NewGlobalRef(env, buffer);
    if (made->buffer == NULL) bridge_out_of_memory(env, "a reference", 0);
  }
  if ((*env)->ExceptionCheck(env)) {
    drop(env, made);
    return 0;
  }
  return opened(env, made, blob, (uint64_t)size, backend, skip_checksum);
}

static jlong JNICALL open_bytes(JNIEnv* env, jclass class, jbyteArray bytes, jint offset, jint size, jint backend,
                                jboolean skip_checksum) {
  (void)class;
  struct bridge_model* made = begin(env);
  if (made == NULL) return 0;
  made->copy = bridge_memory(env, (uint64_t)size);
  if (made->copy != NULL && size > 0) (*env)->GetByteArrayRegion(env, bytes, offset, size, made->copy);
  if ((*env)->ExceptionCheck(env)) {
    drop(env, made);
    return 0;
  }
  return opened(env, made, made->copy, (uint64_t)size, backend, skip_checksum);
}

static void JNICALL close_model(JNIEnv* env, jclass class, jlong handle) {
  (void)class;
  drop(env, bridge_handle(handle));
}

/* ---- What a model consists of ---- */

static const fovea_model* model_of(jlong handle) { return ((struct bridge_model*)bridge_handle(handle))->model; }

/* {has text, packed in place, bytes of blob, of weights, of packed weights, of memory, whether the blob is a copy} */
static jlongArray JNICALL model_info(JNIEnv* env, jclass class, jlong handle) {
  (void)class;
  const struct bridge_model* made = bridge_handle(handle);
  fovea_model_info info = FOVEA_MODEL_INFO_INIT;
  if (bridge_failed(env, "model", fovea_model_get_info(made->model, &info), NULL)) return NULL;
  const jlong numbers[7] = {(jlong)info.has_text,     (jlong)info.uses_packed,  (jlong)info.blob_bytes,
                            (jlong)info.weight_bytes, (jlong)info.packed_bytes, (jlong)made->memory_size,
                            made->copy != NULL};
  return bridge_longs(env, numbers, 7);
}

struct place {
  const fovea_model* model;
  uint32_t program;
};

static const char* backend_name(void* context, uint32_t index) {
  fovea_model_info info = FOVEA_MODEL_INFO_INIT;
  (void)index;
  return fovea_model_get_info(((struct place*)context)->model, &info) == FOVEA_OK ? info.backend : NULL;
}

static const char* metadata_name(void* context, uint32_t index) {
  const char *key = NULL, *value = NULL;
  fovea_model_get_metadata(((struct place*)context)->model, index / 2, &key, &value);
  return index % 2 == 0 ? key : value;
}

static const char* space_name(void* context, uint32_t index) {
  fovea_space_info info = FOVEA_SPACE_INFO_INIT;
  return fovea_model_get_space(((struct place*)context)->model, index, &info) == FOVEA_OK ? info.name : NULL;
}

static const char* program_name(void* context, uint32_t index) {
  fovea_program_info info = FOVEA_PROGRAM_INFO_INIT;
  return fovea_model_get_program(((struct place*)context)->model, index, &info) == FOVEA_OK ? info.name : NULL;
}

static const char* value_name(void* context, uint32_t index) {
  const struct place* place = context;
  fovea_value_info info = FOVEA_VALUE_INFO_INIT;
  return fovea_program_get_value(place->model, place->program, index, &info) == FOVEA_OK ? info.name : NULL;
}

static const char* step_name(void* context, uint32_t index) {
  const struct place* place = context;
  fovea_step_info info = FOVEA_STEP_INFO_INIT;
  if (fovea_program_get_step(place->model, place->program, index / 2, &info) != FOVEA_OK) return NULL;
  return index % 2 == 0 ? info.name : info.op;
}

/* Names: 0 the backend, 1 keys and values of the metadata, 2 spaces, 3 programs; of a program 4 values, 5 names and
 * operations of its steps. */
static jobjectArray JNICALL model_names(JNIEnv* env, jclass class, jlong handle, jint what, jint program) {
  (void)class;
  struct place place = {model_of(handle), (uint32_t)program};
  fovea_model_info info = FOVEA_MODEL_INFO_INIT;
  fovea_program_info about = FOVEA_PROGRAM_INFO_INIT;
  fovea_status status = fovea_model_get_info(place.model, &info);
  if (status == FOVEA_OK && what >= 4) status = fovea_model_get_program(place.model, place.program, &about);
  if (bridge_failed(env, "model", status, NULL)) return NULL;
  const bridge_name getters[6] = {backend_name, metadata_name, space_name, program_name, value_name, step_name};
  const uint32_t counts[6] = {
      1, 2 * info.metadata_count, info.space_count, info.program_count, about.value_count, 2 * about.step_count};
  return bridge_names(env, counts[what], getters[what], &place);
}

static jint number(uint32_t found) { return found == FOVEA_NONE ? -1 : (jint)found; }

/* Five numbers of each space: parent, whether it is an input, the longest segment, whether it is cached, window. */
static jintArray JNICALL model_spaces(JNIEnv* env, jclass class, jlong handle) {
  (void)class;
  fovea_model_info info = FOVEA_MODEL_INFO_INIT;
  if (bridge_failed(env, "model", fovea_model_get_info(model_of(handle), &info), NULL)) return NULL;
  jint* numbers = bridge_memory(env, 5 * sizeof(jint) * (uint64_t)info.space_count);
  for (uint32_t i = 0; numbers != NULL && i < info.space_count; ++i) {
    fovea_space_info space = FOVEA_SPACE_INFO_INIT;
    jint* to = numbers + 5 * (size_t)i;
    if (bridge_failed(env, "model", fovea_model_get_space(model_of(handle), i, &space), NULL)) break;
    to[0] = number(space.parent);
    to[1] = (jint)space.is_input;
    to[2] = number(space.max_segment_rows);
    to[3] = (jint)space.is_cached;
    to[4] = (jint)space.window;
  }
  jintArray found = (*env)->ExceptionCheck(env) ? NULL : bridge_ints(env, numbers, 5 * (uint64_t)info.space_count);
  fovea_port_free(numbers);
  return found;
}

/* Six numbers of each value: space, width, type, role, carried by, limit of ids. */
static jintArray JNICALL program_values(JNIEnv* env, jclass class, jlong handle, jint program) {
  (void)class;
  fovea_program_info about = FOVEA_PROGRAM_INFO_INIT;
  const fovea_model* model = model_of(handle);
  if (bridge_failed(env, "model", fovea_model_get_program(model, (uint32_t)program, &about), NULL)) return NULL;
  jint* numbers = bridge_memory(env, 6 * sizeof(jint) * (uint64_t)about.value_count);
  for (uint32_t i = 0; numbers != NULL && i < about.value_count; ++i) {
    fovea_value_info value = FOVEA_VALUE_INFO_INIT;
    jint* to = numbers + 6 * (size_t)i;
    if (bridge_failed(env, "model", fovea_program_get_value(model, (uint32_t)program, i, &value), NULL)) break;
    to[0] = (jint)value.space;
    to[1] = (jint)value.width;
    to[2] = (jint)value.type;
    to[3] = (jint)value.role;
    to[4] = number(value.carried_by);
    to[5] = (jint)value.id_limit;
  }
  jintArray found = (*env)->ExceptionCheck(env) ? NULL : bridge_ints(env, numbers, 6 * (uint64_t)about.value_count);
  fovea_port_free(numbers);
  return found;
}

/* The heads of each step. */
static jintArray JNICALL program_steps(JNIEnv* env, jclass class, jlong handle, jint program) {
  (void)class;
  fovea_program_info about = FOVEA_PROGRAM_INFO_INIT;
  const fovea_model* model = model_of(handle);
  if (bridge_failed(env, "model", fovea_model_get_program(model, (uint32_t)program, &about), NULL)) return NULL;
  jint* numbers = bridge_memory(env, sizeof(jint) * (uint64_t)about.step_count);
  for (uint32_t i = 0; numbers != NULL && i < about.step_count; ++i) {
    fovea_step_info step = FOVEA_STEP_INFO_INIT;
    if (bridge_failed(env, "model", fovea_program_get_step(model, (uint32_t)program, i, &step), NULL)) break;
    numbers[i] = (jint)step.heads;
  }
  jintArray found = (*env)->ExceptionCheck(env) ? NULL : bridge_ints(env, numbers, about.step_count);
  fovea_port_free(numbers);
  return found;
}

static jobjectArray JNICALL versions(JNIEnv* env, jclass class);

const JNINativeMethod bridge_model_methods[] = {
    {"versions", "()[[B", (void*)versions},
    {"openFile", "([BIZ)J", (void*)open_file},
    {"openDescriptor", "(IJJIZ)J", (void*)open_descriptor},
    {"openBuffer", "(Ljava/nio/ByteBuffer;JJIZ)J", (void*)open_buffer},
    {"openBytes", "([BIIIZ)J", (void*)open_bytes},
    {"closeModel", "(J)V", (void*)close_model},
    {"modelInfo", "(J)[J", (void*)model_info},
    {"modelNames", "(JII)[[B", (void*)model_names},
    {"modelSpaces", "(J)[I", (void*)model_spaces},
    {"programValues", "(JI)[I", (void*)program_values},
    {"programSteps", "(JI)[I", (void*)program_steps},
    {NULL, NULL, NULL},
};

static const char* version_name(void* context, uint32_t index) {
  (void)context;
  return index == 0 ? fovea_version() : fovea_simd_target();
}

/* {the library's version, the SIMD target of its kernels} */
static jobjectArray JNICALL versions(JNIEnv* env, jclass class) {
  (void)class;
  return bridge_names(env, 2, version_name, NULL);
}
