/* Loading: native functions by name and type, exceptions, and arrays in both directions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

/* Set once, while the library is loaded, and constant afterwards. */
static struct {
  jclass native, exception, io, memory, bytes;
  jmethodID make_exception, interrupted;
} java;

/* ---- Exceptions ---- */

void bridge_out_of_memory(JNIEnv* env, const char* what, uint64_t bytes) {
  char line[160];
  snprintf(line, sizeof(line), "fovea: no memory for %s of %llu bytes", what, (unsigned long long)bytes);
  if (!(*env)->ExceptionCheck(env)) (*env)->ThrowNew(env, java.memory, line);
}

void bridge_file_failed(JNIEnv* env, const char* why) { (*env)->ThrowNew(env, java.io, why); }

/* Texts are passed to Java as bytes: NewStringUTF expects modified UTF-8 and whole characters. */
int bridge_failed(JNIEnv* env, const char* doing, fovea_status status, const fovea_error* error) {
  char line[400];
  if (status == FOVEA_OK) return 0;
  if ((*env)->ExceptionCheck(env)) return 1;
  const char* name = fovea_status_name(status);
  const char* text = error == NULL || error->text == NULL || error->status != status ? name : error->text;
  snprintf(line, sizeof(line), "%s%s%s", doing, doing[0] == 0 ? "" : ": ", text);
  jlong numbers[6] = {-1, -1, -1, 0, 0, 0};
  if (error != NULL && error->status == status) {
    const uint32_t places[3] = {error->section, error->step, error->tensor};
    for (int i = 0; i < 3; ++i) numbers[i] = places[i] == FOVEA_NOWHERE ? -1 : (jlong)places[i];
    numbers[3] = (jlong)error->index;
    numbers[4] = (jlong)error->expected;
    numbers[5] = (jlong)error->found;
  }
  jbyteArray message = bridge_bytes(env, line, strlen(line));
  jbyteArray named = message == NULL ? NULL : bridge_bytes(env, name, strlen(name));
  jlongArray places = named == NULL ? NULL : bridge_longs(env, numbers, 6);
  if (places == NULL) return 1; /* An OutOfMemoryError is pending. */
  jobject thrown = (*env)->NewObject(env, java.exception, java.make_exception, message, (jint)status, named, places);
  if (thrown != NULL) (*env)->Throw(env, thrown);
  return 1;
}

int bridge_interrupted(JNIEnv* env) {
  if ((*env)->ExceptionCheck(env)) return 1;
  const jboolean was = (*env)->CallStaticBooleanMethod(env, java.native, java.interrupted);
  return (*env)->ExceptionCheck(env) || was;
}

/* ---- Memory and arrays ---- */

void* bridge_memory(JNIEnv* env, uint64_t size) {
  void* memory = fovea_port_memory(NULL, size == 0 ? 64 : size, FOVEA_BLOCK_SCRATCH);
  if (memory == NULL) bridge_out_of_memory(env, "a block", size);
  return memory;
}

static int fits(JNIEnv* env, uint64_t count) {
  if (count <= 0x7fffffff - 8) return 1; /* The limit of arrays in common virtual machines. */
  bridge_out_of_memory(env, "an array: results are too large for one; read them in smaller batches;", count);
  return 0;
}

#define BRIDGE_ARRAYS(name, kind, type)                                                                 \
  j##type##Array bridge_##name(JNIEnv* env, const void* numbers, uint64_t count) {                      \
    j##type##Array made = fits(env, count) ? (*env)->New##kind##Array(env, (jsize)count) : NULL;        \
    if (made != NULL && count > 0) (*env)->Set##kind##ArrayRegion(env, made, 0, (jsize)count, numbers); \
    return made;                                                                                        \
  }
BRIDGE_ARRAYS(bytes, Byte, byte)
BRIDGE_ARRAYS(ints, Int, int)
BRIDGE_ARRAYS(longs, Long, long)
BRIDGE_ARRAYS(floats, Float, float)

#define BRIDGE_TAKEN(name, kind, type)                                                           \
  struct bridge_array bridge_take_##name(JNIEnv* env, j##type##Array array) {                    \
    struct bridge_array taken = {NULL, 0, 1};                                                    \
    if (array == NULL) return taken;                                                             \
    taken.count = (*env)->GetArrayLength(env, array);                                            \
    taken.at = (*env)->Get##kind##ArrayElements(env, array, NULL);                               \
    taken.ok = taken.at != NULL;                                                                 \
    if (!taken.ok) bridge_out_of_memory(env, "a copy of an array", (uint64_t)taken.count);       \
    return taken;                                                                                \
  }                                                                                              \
  void bridge_drop_##name(JNIEnv* env, j##type##Array array, struct bridge_array taken) {        \
    if (taken.at != NULL) (*env)->Release##kind##ArrayElements(env, array, taken.at, JNI_ABORT); \
  }
BRIDGE_TAKEN(ints, Int, int)
BRIDGE_TAKEN(longs, Long, long)
BRIDGE_TAKEN(bytes, Byte, byte)

jobjectArray bridge_names(JNIEnv* env, uint32_t count, bridge_name get, void* context) {
  jobjectArray names = fits(env, count) ? (*env)->NewObjectArray(env, (jsize)count, java.bytes, NULL) : NULL;
  for (uint32_t i = 0; names != NULL && i < count; ++i) {
    const char* name = get(context, i);
    jbyteArray bytes = bridge_bytes(env, name == NULL ? "" : name, name == NULL ? 0 : strlen(name));
    if (bytes == NULL) return NULL;
    (*env)->SetObjectArrayElement(env, names, (jsize)i, bytes);
    (*env)->DeleteLocalRef(env, bytes);
  }
  return names;
}

/* ---- Loading ---- */

static jclass find(JNIEnv* env, const char* name) {
  jclass found = (*env)->FindClass(env, name);
  jclass kept = found == NULL ? NULL : (*env)->NewGlobalRef(env, found);
  if (found != NULL) (*env)->DeleteLocalRef(env, found);
  return kept;
}

static int listed(JNIEnv* env, const JNINativeMethod* methods) {
  jint count = 0;
  while (methods[count].name != NULL) ++count;
  return (*env)->RegisterNatives(env, java.native, methods, count) == JNI_OK;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* reserved) {
  JNIEnv* env = NULL;
  (void)reserved;
  if ((*vm)->GetEnv(vm, (void**)&env, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  if ((java.native = find(env, "fovea/Native")) == NULL) return JNI_ERR;
  if ((java.exception = find(env, "fovea/FoveaException")) == NULL) return JNI_ERR;
  if ((java.io = find(env, "java/io/IOException")) == NULL) return JNI_ERR;
  if ((java.memory = find(env, "java/lang/OutOfMemoryError")) == NULL) return JNI_ERR;
  if ((java.bytes = find(env, "[B")) == NULL) return JNI_ERR;
  java.make_exception = (*env)->GetMethodID(env, java.exception, "<init>", "([BI[B[J)V");
  if (java.make_exception == NULL) return JNI_ERR;
  java.interrupted = (*env)->GetStaticMethodID(env, java.native, "interrupted", "()Z");
  if (java.interrupted == NULL) return JNI_ERR;
  if (!listed(env, bridge_model_methods) || !listed(env, bridge_text_methods)) return JNI_ERR;
  if (!listed(env, bridge_session_methods) || !listed(env, bridge_result_methods)) return JNI_ERR;
  if (!listed(env, bridge_answer_methods) || !listed(env, bridge_generate_methods)) return JNI_ERR;
  return JNI_VERSION_1_6;
}
