/* Generators: tokens of a batch of texts, step by step. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

static void drop(struct bridge_generator* made) {
  fovea_port_free(made->memory);
  fovea_port_free(made->prompts);
  free(made);
}

/* {decoder, encoder or -1}: the programs that generate text. */
static jintArray JNICALL generate_programs(JNIEnv* env, jclass class, jlong model) {
  (void)class;
  fovea_error error = {0};
  uint32_t decode = 0, encode = 0;
  const struct bridge_model* made = bridge_handle(model);
  const fovea_status status = fovea_generate_find_programs(made->model, &decode, &encode, &error);
  if (bridge_failed(env, "generate", status, &error)) return NULL;
  const jint numbers[2] = {(jint)decode, encode == FOVEA_NONE ? -1 : (jint)encode};
  return bridge_ints(env, numbers, 2);
}

/* Inputs of a decoder that the encoder's outputs are linked to. */
static jintArray JNICALL linked(JNIEnv* env, jclass class, jlong model, jint program) {
  (void)class;
  fovea_error error = {0};
  uint32_t inputs[256], count = 0; /* The format allows 256 links. */
  const struct bridge_model* made = bridge_handle(model);
  const fovea_status status = fovea_generate_get_linked(made->model, (uint32_t)program, inputs, 256, &count, &error);
  return bridge_failed(env, "generate", status, &error) ? NULL : bridge_ints(env, inputs, count);
}

/* Keeps a copy of the prompts, which the first step reads. */
static void set_prompts(JNIEnv* env, struct bridge_generator* made, jintArray ids, jintArray lengths) {
  fovea_error error = {0};
  const jsize tokens = (*env)->GetArrayLength(env, ids), count = (*env)->GetArrayLength(env, lengths);
  int32_t* at = made->prompts = bridge_memory(env, ((uint64_t)tokens + (uint64_t)count) * sizeof(int32_t));
  if (at == NULL) return;
  if (tokens > 0) (*env)->GetIntArrayRegion(env, ids, 0, tokens, at);
  if (count > 0) (*env)->GetIntArrayRegion(env, lengths, 0, count, at + tokens);
  const fovea_status status =
      fovea_generate_set_prompts(made->generator, at, (const uint32_t*)at + tokens, (uint32_t)count, 0, &error);
  bridge_failed(env, "prompts", status, &error);
}

static void make(JNIEnv* env, const fovea_generate_options* options, struct bridge_generator* made) {
  fovea_error error = {0};
  uint64_t needed = 0;
  if (bridge_failed(env, "generate", fovea_generate_size(options, &needed, &error), &error)) return;
  if ((made->memory = bridge_memory(env, needed)) == NULL) return;
  fovea_status status = fovea_generate_init(options, made->memory, needed, &made->generator, &error);
  if (status == FOVEA_OK) status = fovea_generate_start(made->generator, &error);
  bridge_failed(env, "generate", status, &error);
}

/* rules: {temperature, top p, min p, repetition penalty, presence penalty}; numbers: {most tokens, top k, whether
 * log-probabilities are wanted} */
static jlong JNICALL new_generator(JNIEnv* env, jclass class, jlong decode, jlong encode, jintArray numbers,
                                   jfloatArray rules, jlong seed, jintArray stop_ids, jintArray prompts,
                                   jintArray lengths) {
  (void)class;
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  fovea_sampling sampling = FOVEA_SAMPLING_INIT;
  jint whole[3];
  jfloat parts[5];
  struct bridge_generator* made = calloc(1, sizeof(*made));
  if (made == NULL) return bridge_out_of_memory(env, "a generator", sizeof(*made)), 0;
  (*env)->GetIntArrayRegion(env, numbers, 0, 3, whole);
  (*env)->GetFloatArrayRegion(env, rules, 0, 5, parts);
  sampling.temperature = parts[0];
  sampling.top_p = parts[1];
  sampling.min_p = parts[2];
  sampling.repetition_penalty = parts[3];
  sampling.presence_penalty = parts[4];
  sampling.top_k = (uint32_t)whole[1];
  sampling.logprobs = (uint32_t)whole[2];
  sampling.seed = (uint64_t)seed;
  options.max_tokens = (uint32_t)whole[0];
  options.sampling = &sampling;
  options.decode = ((struct bridge_session*)bridge_handle(decode))->session;
  if (encode != 0) options.encode = ((struct bridge_session*)bridge_handle(encode))->session;
  const int32_t none = 0;
  const struct bridge_array stops = bridge_take_ints(env, stop_ids);
  if (stops.ok) {
    options.stop_ids = stop_ids != NULL && stops.count == 0 ? &none : stops.at; /* No tokens also need an address. */
    options.stop_id_count = (uint32_t)stops.count;
    make(env, &options, made);
  }
  bridge_drop_ints(env, stop_ids, stops);
  if (prompts != NULL && !(*env)->ExceptionCheck(env)) set_prompts(env, made, prompts, lengths);
  if (!(*env)->ExceptionCheck(env)) return bridge_number(made);
  drop(made);
  return 0;
}

static void JNICALL close_generator(JNIEnv* env, jclass class, jlong handle) {
  (void)env;
  (void)class;
  drop(bridge_handle(handle));
}

/* tokens: {left, step, tokens of the texts, why they have ended (fovea_end)}; logprobs may be NULL. */
static void JNICALL step(JNIEnv* env, jclass class, jlong handle, jintArray tokens, jfloatArray logprobs) {
  (void)class;
  const struct bridge_generator* made = bridge_handle(handle);
  fovea_generated generated = FOVEA_GENERATED_INIT;
  fovea_error error = {0};
  const fovea_status status = fovea_generate_next(made->generator, NULL, &generated, &error);
  if (bridge_failed(env, "generate", status, &error)) return;
  const jsize count = (jsize)generated.texts;
  if ((*env)->GetArrayLength(env, tokens) != 2 + 2 * count) {
    bridge_failed(env, "generate: another number of texts", FOVEA_E_INTERNAL, NULL);
    return;
  }
  const jint head[2] = {(jint)generated.left, (jint)generated.step};
  (*env)->SetIntArrayRegion(env, tokens, 0, 2, head);
  (*env)->SetIntArrayRegion(env, tokens, 2, count, generated.tokens);
  for (jsize i = 0; i < count; ++i) {
    const jint end = generated.ends[i];
    (*env)->SetIntArrayRegion(env, tokens, 2 + count + i, 1, &end);
  }
  if (logprobs != NULL && generated.logprobs != NULL) {
    (*env)->SetFloatArrayRegion(env, logprobs, 0, count, generated.logprobs);
  }
}

const JNINativeMethod bridge_generate_methods[] = {
    {"generatePrograms", "(J)[I", (void*)generate_programs},
    {"linked", "(JI)[I", (void*)linked},
    {"newGenerator", "(JJ[I[FJ[I[I[I)J", (void*)new_generator},
    {"closeGenerator", "(J)V", (void*)close_generator},
    {"step", "(J[I[F)V", (void*)step},
    {NULL, NULL, NULL},
};
