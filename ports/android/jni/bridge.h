/* bridge.h - the native half of fovea/Native.java: what its parts share.
 *
 * A handle that Java keeps is the address of one of the structs below. Java checks that it is open, and that one thread
 * at a time uses a session, a generator or a text; this half trusts it. Nothing here keeps a reference to an array of
 * Java between calls. A native function that fails leaves an exception pending and returns 0, NULL or nothing.
 */
#ifndef FOVEA_PORTS_ANDROID_BRIDGE_H_
#define FOVEA_PORTS_ANDROID_BRIDGE_H_

#include <jni.h>

#include "fovea/fovea.h"
#include "ports/port.h"

/* A model, with the memory it is in. */
struct bridge_model {
  fovea_model* model;
  void* memory;
  uint64_t memory_size;
  const void* blob;
  void* copy;           /* The blob, if it was copied. */
  fovea_port_file file; /* The blob, if it is a mapped file ... */
  void* mapped;         /* ... or a part of a mapped file. */
  size_t mapped_size;
  jobject buffer; /* The blob, if it is a buffer of Java: a global reference. */
};

struct bridge_session {
  fovea_session* session;
  fovea_port_threads* threads; /* NULL: one worker. */
  fovea_session_memory memory;
};

struct bridge_generator {
  fovea_generator* generator;
  void* memory;
  void* prompts; /* Read by the first step. */
};

/* A text that is being generated: bytes that may be shown, from the tokens of one sequence. */
struct bridge_text {
  const fovea_model* model;
  fovea_text_stream stream;
  int32_t vocabulary;
  char* rest; /* Bytes that the decoder held back at the end of the prompt: they belong to the prompt. */
  uint64_t rest_size;
  fovea_stop* stop; /* NULL: there are no stop strings. */
  void* stop_memory;
  char* held; /* The end of the text, which is not shown yet. */
  uint64_t held_size, shown;
};

static inline void* bridge_handle(jlong handle) { return (void*)(intptr_t)handle; }
static inline jlong bridge_number(const void* handle) { return (jlong)(intptr_t)handle; }

/* Memory with an alignment of 64, or NULL with a pending OutOfMemoryError. fovea_port_free frees it. */
void* bridge_memory(JNIEnv* env, uint64_t size);
void bridge_out_of_memory(JNIEnv* env, const char* what, uint64_t bytes);
/* 0 if the status is FOVEA_OK; else 1, with a pending FoveaException. `error` may be NULL. */
int bridge_failed(JNIEnv* env, const char* doing, fovea_status status, const fovea_error* error);
/* Throws a java.io.IOException. */
void bridge_file_failed(JNIEnv* env, const char* why);

/* Arrays of Java with a copy of the numbers; NULL with a pending exception. */
jbyteArray bridge_bytes(JNIEnv* env, const void* bytes, uint64_t size);
jintArray bridge_ints(JNIEnv* env, const void* numbers, uint64_t count);
jlongArray bridge_longs(JNIEnv* env, const void* numbers, uint64_t count);
jfloatArray bridge_floats(JNIEnv* env, const void* numbers, uint64_t count);
/* byte[count][] of what `get` returns; NULL from `get` is an empty string. */
typedef const char* (*bridge_name)(void* context, uint32_t index);
jobjectArray bridge_names(JNIEnv* env, uint32_t count, bridge_name get, void* context);

/* Elements of an array of Java, which may be NULL: then no elements. `ok` 0: an exception is pending. */
struct bridge_array {
  void* at;
  jsize count;
  int ok;
};
struct bridge_array bridge_take_ints(JNIEnv* env, jintArray array);
struct bridge_array bridge_take_longs(JNIEnv* env, jlongArray array);
struct bridge_array bridge_take_bytes(JNIEnv* env, jbyteArray array);
void bridge_drop_ints(JNIEnv* env, jintArray array, struct bridge_array taken);
void bridge_drop_longs(JNIEnv* env, jlongArray array, struct bridge_array taken);
void bridge_drop_bytes(JNIEnv* env, jbyteArray array, struct bridge_array taken);

/* 1: the thread that runs this was interrupted, or an exception is pending. */
int bridge_interrupted(JNIEnv* env);

/* Lists of native functions, each ended by an entry without a name. */
extern const JNINativeMethod bridge_model_methods[], bridge_text_methods[], bridge_session_methods[],
    bridge_result_methods[], bridge_answer_methods[], bridge_generate_methods[];

#endif /* FOVEA_PORTS_ANDROID_BRIDGE_H_ */
