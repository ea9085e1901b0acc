/* Answers to questions: windows of a question and a context, spans of the context. Also prompts of texts. */
#include <string.h>

#include "bridge.h"

static const fovea_model* model_of(jlong handle) { return ((struct bridge_model*)bridge_handle(handle))->model; }

/* Tokens, copied from Java: ids, marks, begins and ends. */
struct copied {
  fovea_text_tokens tokens;
  void* block;
};

static int copy_tokens(JNIEnv* env, jintArray ids, jbooleanArray special, jintArray begins, jintArray ends,
                       jlongArray text_tokens, struct copied* made) {
  const jsize count = (*env)->GetArrayLength(env, ids);
  jlong counts[2] = {0};
  made->tokens = (fovea_text_tokens)FOVEA_TEXT_TOKENS_INIT;
  made->block = bridge_memory(env, (uint64_t)count * (5 * sizeof(jint) + 1));
  if (made->block == NULL) return 0;
  made->tokens.capacity = made->tokens.count = (uint64_t)count;
  made->tokens.ids = made->block;
  made->tokens.ranges = (uint32_t*)(made->tokens.ids + count);
  jint* places = (jint*)(made->tokens.ranges + 2 * (size_t)count); /* begins, then ends */
  made->tokens.special = (uint8_t*)(places + 2 * (size_t)count);
  (*env)->GetIntArrayRegion(env, ids, 0, count, made->tokens.ids);
  (*env)->GetBooleanArrayRegion(env, special, 0, count, made->tokens.special);
  (*env)->GetIntArrayRegion(env, begins, 0, count, places);
  (*env)->GetIntArrayRegion(env, ends, 0, count, places + count);
  (*env)->GetLongArrayRegion(env, text_tokens, 0, 2, counts);
  for (jsize i = 0; i < count; ++i) {
    made->tokens.ranges[2 * i] = (uint32_t)places[i];
    made->tokens.ranges[2 * i + 1] = (uint32_t)places[count + i];
  }
  for (int i = 0; i < 2; ++i) made->tokens.text_tokens[i] = (uint64_t)counts[i];
  return !(*env)->ExceptionCheck(env);
}

/* Which tokens of the pair the window has: {window's tokens, windows}, then their positions. */
static jintArray JNICALL window(JNIEnv* env, jclass class, jbooleanArray special, jlongArray text_tokens, jint limit,
                                jint stride, jint index) {
  (void)class;
  const jsize count = (*env)->GetArrayLength(env, special);
  jlong counts[2] = {0};
  fovea_error error = {0};
  fovea_text_tokens pair = FOVEA_TEXT_TOKENS_INIT, made = FOVEA_TEXT_TOKENS_INIT;
  jint* block = bridge_memory(env, (2 * (uint64_t)count + 2) * sizeof(*block) + (uint64_t)count);
  if (block == NULL) return NULL;
  pair.capacity = pair.count = made.capacity = (uint64_t)count;
  pair.ids = block;
  made.ids = block + count + 2;
  pair.special = (uint8_t*)(made.ids + count);
  for (jsize i = 0; i < count; ++i) pair.ids[i] = i;
  (*env)->GetBooleanArrayRegion(env, special, 0, count, pair.special);
  (*env)->GetLongArrayRegion(env, text_tokens, 0, 2, counts);
  for (int i = 0; i < 2; ++i) pair.text_tokens[i] = (uint64_t)counts[i];
  const fovea_status status =
      fovea_result_get_window(&pair, (uint32_t)limit, (uint32_t)stride, (uint64_t)index, &made, &error);
  jintArray found = NULL;
  if (!(*env)->ExceptionCheck(env) && !bridge_failed(env, "question", status, &error)) {
    made.ids[-2] = (jint)made.count;
    made.ids[-1] = (jint)made.windows;
    found = bridge_ints(env, made.ids - 2, made.count + 2);
  }
  fovea_port_free(block);
  return found;
}

/* {score, begin, end} of each answer. The tokens of all windows follow each other, lengths[i] of them. */
static jdoubleArray JNICALL answers(JNIEnv* env, jclass class, jlong handle, jintArray ids, jbooleanArray special,
                                    jintArray begins, jintArray ends, jintArray lengths, jlongArray text_tokens,
                                    jfloatArray scores, jbyteArray context, jint top, jint max_tokens,
                                    jboolean allow_none) {
  (void)class;
  const jsize windows = (*env)->GetArrayLength(env, lengths), numbers = (*env)->GetArrayLength(env, scores);
  const uint64_t room = (uint64_t)windows * (uint64_t)top + 1;
  struct copied all;
  fovea_error error = {0};
  jdoubleArray found = NULL;
  if (!copy_tokens(env, ids, special, begins, ends, text_tokens, &all)) {
    fovea_port_free(all.block);
    return NULL;
  }
  void* block = bridge_memory(env, room * sizeof(fovea_answer) + (uint64_t)windows * sizeof(fovea_text_tokens) +
                                       ((uint64_t)windows + (uint64_t)numbers) * sizeof(jint));
  const struct bridge_array text = bridge_take_bytes(env, context);
  if (block != NULL && text.ok) {
    fovea_answer* listed = block;
    fovea_text_tokens* parts = (fovea_text_tokens*)(void*)(listed + room);
    jfloat* given = (jfloat*)(void*)(parts + windows);
    jint* counts = (jint*)(void*)(given + numbers);
    fovea_answer_options options = FOVEA_ANSWER_OPTIONS_INIT;
    options.top = (uint32_t)top;
    options.max_tokens = (uint32_t)max_tokens;
    options.allow_none = allow_none ? 1 : 0;
    (*env)->GetFloatArrayRegion(env, scores, 0, numbers, given);
    (*env)->GetIntArrayRegion(env, lengths, 0, windows, counts);
    uint64_t first = 0, count = 0;
    for (jsize i = 0; i < windows; ++i) {
      parts[i] = all.tokens;
      parts[i].capacity = parts[i].count = (uint64_t)counts[i];
      parts[i].ids += first;
      parts[i].special += first;
      parts[i].ranges += 2 * first;
      first += (uint64_t)counts[i];
    }
    const fovea_status status = fovea_result_get_answers(model_of(handle), parts, (uint32_t)windows, given, text.at,
                                                         (uint64_t)text.count, &options, listed, room, &count, &error);
    if (!(*env)->ExceptionCheck(env) && !bridge_failed(env, "answer", status, &error)) {
      found = (*env)->NewDoubleArray(env, (jsize)(3 * count));
      for (jsize i = 0; found != NULL && i < (jsize)count; ++i) {
        const jdouble one[3] = {listed[i].score, listed[i].begin, listed[i].end};
        (*env)->SetDoubleArrayRegion(env, found, 3 * i, 3, one);
      }
    }
  }
  bridge_drop_bytes(env, context, text);
  fovea_port_free(block);
  fovea_port_free(all.block);
  return found;
}

/* The prompt of this name, ended by 0; NULL: the default prompt. NULL: the model has no such prompt. */
static jbyteArray JNICALL prompt(JNIEnv* env, jclass class, jlong handle, jbyteArray name) {
  (void)class;
  const char* text = "";
  fovea_error error = {0};
  const struct bridge_array given = bridge_take_bytes(env, name);
  if (!given.ok) return NULL;
  const fovea_status status = fovea_text_get_prompt(model_of(handle), given.at, &text, NULL, &error);
  bridge_drop_bytes(env, name, given);
  if (status == FOVEA_E_NAME || bridge_failed(env, "prompt", status, &error)) return NULL;
  return bridge_bytes(env, text, strlen(text));
}

const JNINativeMethod bridge_answer_methods[] = {
    {"window", "([Z[JIII)[I", (void*)window},
    {"answers", "(J[I[Z[I[I[I[J[F[BIIZ)[D", (void*)answers},
    {"prompt", "(J[B)[B", (void*)prompt},
    {NULL, NULL, NULL},
};
