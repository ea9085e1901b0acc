/* The native half of Model.java. */
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_fovea_Model_##name

static void* of_handle(jlong handle) { return (void*)(intptr_t)handle; }

static jbyteArray bytes_of(JNIEnv* env, const char* text, uint64_t size) {
  jbyteArray bytes = (*env)->NewByteArray(env, (jsize)size);
  if (bytes != NULL) (*env)->SetByteArrayRegion(env, bytes, 0, (jsize)size, (const jbyte*)text);
  return bytes;
}

/* The text is passed to Java as bytes: NewStringUTF expects modified UTF-8 and whole characters. */
static void throw_error(JNIEnv* env, const char* doing, const fovea_error* error) {
  char line[300];
  const char* name = fovea_status_name(error->status);
  snprintf(line, sizeof(line), "%s: %s (%s)", doing, error->text == NULL ? name : error->text, name);
  jclass class = (*env)->FindClass(env, "fovea/FoveaException");
  if (class == NULL) return; /* An exception is pending. */
  jmethodID make = (*env)->GetMethodID(env, class, "<init>", "([BI)V");
  jbyteArray text = bytes_of(env, line, strlen(line));
  if (make == NULL || text == NULL) return;
  jobject thrown = (*env)->NewObject(env, class, make, text, (jint)error->status);
  if (thrown != NULL) (*env)->Throw(env, thrown);
}

static void throw_text(JNIEnv* env, const char* doing, const char* text, fovea_status status) {
  const fovea_error error = {.status = status, .text = text};
  throw_error(env, doing, &error);
}

/* ---- Opening and closing ---- */

static jlong opened(JNIEnv* env, struct model* model, const void* blob, uint64_t size, jint threads) {
  fovea_error error = {0};
  const fovea_status status = model_open(blob, size, threads < 1 ? 1 : (uint32_t)threads, model, &error);
  if (status == FOVEA_OK) return (jlong)(intptr_t)model;
  model_close(model);
  free(model);
  throw_error(env, "model", &error);
  return 0;
}

static struct model* new_model(JNIEnv* env) {
  struct model* model = calloc(1, sizeof(*model));
  if (model == NULL) throw_text(env, "model", "no memory", FOVEA_E_TOO_SMALL);
  return model;
}

NATIVE(jlong, openFile)(JNIEnv* env, jclass class, jbyteArray path, jint threads) {
  (void)class;
  struct model* model = new_model(env);
  if (model == NULL) return 0;
  jbyte* name = (*env)->GetByteArrayElements(env, path, NULL);
  const char* failure = name == NULL ? "no memory" : fovea_port_open((const char*)name, &model->file);
  if (failure != NULL) throw_text(env, name == NULL ? "model" : (const char*)name, failure, FOVEA_E_ARGUMENT);
  if (name != NULL) (*env)->ReleaseByteArrayElements(env, path, name, JNI_ABORT);
  if (failure == NULL) return opened(env, model, model->file.data, model->file.size, threads);
  free(model);
  return 0;
}

NATIVE(jlong, openBuffer)(JNIEnv* env, jclass class, jobject buffer, jint threads) {
  (void)class;
  const void* blob = (*env)->GetDirectBufferAddress(env, buffer);
  const jlong size = (*env)->GetDirectBufferCapacity(env, buffer);
  struct model* model = new_model(env);
  if (model == NULL) return 0;
  if ((uintptr_t)blob % 64 != 0 && size > 0) {
    model->copy = fovea_port_memory(NULL, (uint64_t)size, FOVEA_BLOCK_SCRATCH);
    if (model->copy != NULL) memcpy(model->copy, blob, (size_t)size);
    blob = model->copy;
  }
  return opened(env, model, blob, size < 0 ? 0 : (uint64_t)size, threads);
}

NATIVE(void, closeModel)(JNIEnv* env, jclass class, jlong handle) {
  (void)env;
  (void)class;
  model_close(of_handle(handle));
  free(of_handle(handle));
}

/* ---- Metadata ---- */

NATIVE(jbyteArray, metadata)(JNIEnv* env, jclass class, jlong handle, jbyteArray key) {
  (void)class;
  const struct model* model = of_handle(handle);
  jbyte* name = (*env)->GetByteArrayElements(env, key, NULL);
  if (name == NULL) return NULL;
  const char* value = fovea_model_find_metadata(model->model, (const char*)name);
  (*env)->ReleaseByteArrayElements(env, key, name, JNI_ABORT);
  return value == NULL ? NULL : bytes_of(env, value, strlen(value));
}

/* ---- Tokens ---- */

NATIVE(jintArray, encode)(JNIEnv* env, jclass class, jlong handle, jbyteArray text) {
  (void)class;
  fovea_error error = {0};
  struct tokens tokens;
  const jsize size = (*env)->GetArrayLength(env, text);
  jbyte* bytes = (*env)->GetByteArrayElements(env, text, NULL);
  if (bytes == NULL) return NULL;
  const fovea_status status = tokens_of(of_handle(handle), (const char*)bytes, (uint64_t)size, &tokens, &error);
  (*env)->ReleaseByteArrayElements(env, text, bytes, JNI_ABORT);
  if (status != FOVEA_OK) return throw_error(env, "text", &error), NULL;
  jintArray ids = (*env)->NewIntArray(env, (jsize)tokens.tokens.count);
  if (ids != NULL) (*env)->SetIntArrayRegion(env, ids, 0, (jsize)tokens.tokens.count, tokens.tokens.ids);
  tokens_free(&tokens);
  return ids;
}

NATIVE(jbyteArray, decode)(JNIEnv* env, jclass class, jlong handle, jintArray array) {
  (void)class;
  const struct model* model = of_handle(handle);
  fovea_error error = {0};
  uint64_t size = 0;
  char* text = NULL;
  const jsize count = (*env)->GetArrayLength(env, array);
  jint* ids = (*env)->GetIntArrayElements(env, array, NULL);
  if (ids == NULL) return NULL;
  fovea_status status = fovea_text_decode(model->model, ids, (uint64_t)count, 0, NULL, 0, &size, &error);
  if (status == FOVEA_E_CAPACITY) {
    text = fovea_port_memory(NULL, size, FOVEA_BLOCK_SCRATCH);
    status = text == NULL ? FOVEA_E_TOO_SMALL
                          : fovea_text_decode(model->model, ids, (uint64_t)count, 0, text, size, &size, &error);
  }
  (*env)->ReleaseIntArrayElements(env, array, ids, JNI_ABORT);
  error.status = status;
  jbyteArray bytes = NULL;
  if (status == FOVEA_OK) {
    bytes = bytes_of(env, text, size);
  } else {
    throw_error(env, "tokens", &error);
  }
  fovea_port_free(text);
  return bytes;
}

/* ---- Classes ---- */

NATIVE(jfloatArray, logits)(JNIEnv* env, jclass class, jlong handle, jbyteArray text) {
  (void)class;
  fovea_error error = {0};
  fovea_view view;
  const jsize size = (*env)->GetArrayLength(env, text);
  jbyte* bytes = (*env)->GetByteArrayElements(env, text, NULL);
  if (bytes == NULL) return NULL;
  const fovea_status status = model_logits(of_handle(handle), (const char*)bytes, (uint64_t)size, &view, &error);
  (*env)->ReleaseByteArrayElements(env, text, bytes, JNI_ABORT);
  if (status != FOVEA_OK) return throw_error(env, "classify", &error), NULL;
  jfloatArray numbers = (*env)->NewFloatArray(env, (jsize)view.width);
  if (numbers != NULL) (*env)->SetFloatArrayRegion(env, numbers, 0, (jsize)view.width, view.data);
  return numbers;
}

/* ---- Texts ---- */

NATIVE(jlong, startText)
(JNIEnv* env, jclass class, jlong handle, jbyteArray prompt, jint max_tokens, jfloat temperature, jlong seed) {
  (void)class;
  fovea_error error = {0};
  fovea_sampling sampling = {.struct_size = sizeof(sampling), .temperature = temperature, .seed = (uint64_t)seed};
  if (max_tokens < 1) return throw_text(env, "generate", "max_tokens must be at least 1", FOVEA_E_OPTION), 0;
  struct text* text = calloc(1, sizeof(*text));
  if (text == NULL) return throw_text(env, "generate", "no memory", FOVEA_E_TOO_SMALL), 0;
  const jsize size = (*env)->GetArrayLength(env, prompt);
  jbyte* bytes = (*env)->GetByteArrayElements(env, prompt, NULL);
  fovea_status status = FOVEA_E_TOO_SMALL;
  if (bytes != NULL) {
    status = text_start(of_handle(handle), (const char*)bytes, (uint64_t)size, (uint32_t)max_tokens, &sampling, text,
                        &error);
    (*env)->ReleaseByteArrayElements(env, prompt, bytes, JNI_ABORT);
    if (status != FOVEA_OK) throw_error(env, "generate", &error);
  }
  if (status == FOVEA_OK) return (jlong)(intptr_t)text;
  free(text);
  return 0;
}

/* The text of a token, and at the end the text that was held back; NULL with a pending exception. */
static jbyteArray part_of(JNIEnv* env, struct text* text, int32_t token) {
  const fovea_model* model = text->model->model;
  char part[8192]; /* The format limits a piece to 4096 bytes. */
  uint64_t written = 0, rest = 0;
  fovea_error error = {0};
  fovea_status status = FOVEA_OK;
  if (token >= 0) {
    status = fovea_text_decode_next(model, &text->stream, &token, 1, part, sizeof(part), &written, &error);
  }
  if (status == FOVEA_OK && text->ended) {
    status = fovea_text_decode_end(model, &text->stream, part + written, sizeof(part) - written, &rest, &error);
  }
  if (status != FOVEA_OK) return throw_error(env, "generate", &error), NULL;
  return bytes_of(env, part, written + rest);
}

NATIVE(jbyteArray, nextPart)(JNIEnv* env, jclass class, jlong handle) {
  (void)class;
  struct text* text = of_handle(handle);
  fovea_error error = {0};
  int32_t token;
  uint32_t stops;
  if (text_next(text, &token, &stops, &error) != FOVEA_OK) return throw_error(env, "generate", &error), NULL;
  if (token < 0) return NULL;
  return part_of(env, text, stops ? -1 : token);
}

NATIVE(void, closeText)(JNIEnv* env, jclass class, jlong handle) {
  (void)env;
  (void)class;
  text_close(of_handle(handle));
  free(of_handle(handle));
}
