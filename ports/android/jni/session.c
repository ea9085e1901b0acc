/* Sessions: placing, binding texts, running. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

static struct bridge_session* session_of(jlong handle) { return bridge_handle(handle); }

/* ---- Placing ---- */

static void drop(struct bridge_session* session) {
  fovea_port_free(session->memory.scratch);
  fovea_port_free(session->memory.state);
  fovea_port_free(session->memory.fixed);
  fovea_port_stop(session->threads);
  free(session);
}

static void place(JNIEnv* env, const fovea_model* model, fovea_session_options* options,
                  struct bridge_session* session) {
  fovea_session_memory* memory = &session->memory;
  fovea_error error = {0};
  *memory = (fovea_session_memory)FOVEA_SESSION_MEMORY_INIT;
  if (bridge_failed(env, "session", fovea_session_size(model, options, memory, &error), &error)) return;
  if (memory->fixed_size > 0 && (memory->fixed = bridge_memory(env, memory->fixed_size)) == NULL) return;
  if (memory->state_size > 0 && (memory->state = bridge_memory(env, memory->state_size)) == NULL) return;
  if (memory->scratch_size > 0 && (memory->scratch = bridge_memory(env, memory->scratch_size)) == NULL) return;
  if (options->workers > 1) {
    session->threads = fovea_port_start(options->workers);
    if (session->threads == NULL) {
      bridge_out_of_memory(env, "threads", options->workers);
      return;
    }
    options->runner = fovea_port_run;
    options->runner_context = session->threads;
    if (fovea_port_count(session->threads) >= options->workers) options->barrier = fovea_port_barrier;
  }
  bridge_failed(env, "session", fovea_session_init(model, options, memory, &session->session, &error), &error);
}

/* taps: of each its step, form, rows, reduce, heads, what, and the stride. */
static fovea_tap* take_taps(JNIEnv* env, struct bridge_array numbers) {
  const jlong* from = numbers.at;
  fovea_tap* taps = bridge_memory(env, sizeof(*taps) * ((uint64_t)numbers.count / 7 + 1));
  for (jsize i = 0; taps != NULL && i < numbers.count / 7; ++i, from += 7) {
    taps[i] = (fovea_tap)FOVEA_TAP_INIT;
    taps[i].step = (uint32_t)from[0];
    taps[i].form = (uint32_t)from[1];
    taps[i].rows = (uint32_t)from[2];
    taps[i].reduce = (uint32_t)from[3];
    taps[i].heads = (uint64_t)from[4];
    taps[i].what = (uint32_t)from[5];
    taps[i].stride = (uint32_t)from[6];
  }
  return taps;
}

/* limits: space, rows and segment rows of each. */
static jlong JNICALL new_session(JNIEnv* env, jclass class, jlong handle, jint program, jint workers, jintArray limits,
                                 jintArray keep, jlongArray taps, jintArray linked) {
  (void)class;
  const struct bridge_model* model = bridge_handle(handle);
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  struct bridge_session* session = calloc(1, sizeof(*session));
  struct bridge_array arrays[3] = {{NULL, 0, 1}, {NULL, 0, 1}, {NULL, 0, 1}}, numbers = {NULL, 0, 1};
  const jintArray given[3] = {limits, keep, linked};
  int ok = session != NULL;
  for (int i = 0; i < 3 && ok; ++i) ok = (arrays[i] = bridge_take_ints(env, given[i])).ok;
  if (ok) ok = (numbers = bridge_take_longs(env, taps)).ok;
  fovea_tap* made = ok ? take_taps(env, numbers) : NULL;
  if (made != NULL) {
    options.program = (uint32_t)program;
    options.workers = (uint32_t)workers;
    options.limits = arrays[0].at; /* Three u32 each, as a fovea_limit. */
    options.limit_count = (uint32_t)arrays[0].count / 3;
    options.keep = arrays[1].at;
    options.keep_count = (uint32_t)arrays[1].count;
    options.linked = arrays[2].at;
    options.linked_count = (uint32_t)arrays[2].count;
    options.taps = made;
    options.tap_count = (uint32_t)numbers.count / 7;
    place(env, model->model, &options, session);
  } else {
    bridge_out_of_memory(env, "a session", sizeof(*session));
  }
  fovea_port_free(made);
  for (int i = 0; i < 3; ++i) bridge_drop_ints(env, given[i], arrays[i]);
  bridge_drop_longs(env, taps, numbers);
  if (!(*env)->ExceptionCheck(env)) return bridge_number(session);
  if (session != NULL) drop(session);
  return 0;
}

static void JNICALL close_session(JNIEnv* env, jclass class, jlong handle) {
  (void)env;
  (void)class;
  drop(session_of(handle));
}

/* ---- Inputs ---- */

/* Texts, or documents if `documents` has the number of sentences of each; `lengths` are tokens of texts or of
 * sentences. */
static fovea_status bind_texts(fovea_session* session, const int32_t* ids, const int32_t* types,
                               struct bridge_array lengths, struct bridge_array documents, fovea_text_tokens* tokens,
                               fovea_text_sentences* sentences, fovea_error* error) {
  uint32_t* length = lengths.at;
  const int nested = documents.at != NULL;
  const jsize count = nested ? documents.count : lengths.count;
  for (jsize i = 0; i < count; ++i) {
    const jint parts = nested ? ((const jint*)documents.at)[i] : 1;
    uint64_t rows = 0;
    sentences[i] = (fovea_text_sentences)FOVEA_TEXT_SENTENCES_INIT;
    sentences[i].lengths = length;
    sentences[i].count = sentences[i].capacity = (uint64_t)parts;
    for (jint k = 0; k < parts; ++k) rows += *length++;
    tokens[i] = (fovea_text_tokens)FOVEA_TEXT_TOKENS_INIT;
    tokens[i].ids = (int32_t*)ids;
    tokens[i].types = (int32_t*)types;
    tokens[i].count = tokens[i].capacity = rows;
    ids += rows;
    types += rows;
  }
  if (nested) return fovea_text_bind_documents(session, tokens, sentences, (uint32_t)count, error);
  return fovea_text_bind(session, tokens, (uint32_t)count, error);
}

static void JNICALL bind(JNIEnv* env, jclass class, jlong handle, jintArray ids, jintArray types, jintArray lengths,
                         jintArray documents) {
  (void)class;
  fovea_error error = {0};
  struct bridge_array arrays[4] = {{NULL, 0, 1}, {NULL, 0, 1}, {NULL, 0, 1}, {NULL, 0, 1}};
  const jintArray given[4] = {ids, types, lengths, documents};
  int ok = 1;
  for (int i = 0; i < 4 && ok; ++i) ok = (arrays[i] = bridge_take_ints(env, given[i])).ok;
  const uint64_t count = (uint64_t)(documents != NULL ? arrays[3].count : arrays[2].count) + 1;
  fovea_text_tokens* tokens = ok ? bridge_memory(env, count * sizeof(*tokens)) : NULL;
  fovea_text_sentences* sentences = tokens == NULL ? NULL : bridge_memory(env, count * sizeof(*sentences));
  if (sentences != NULL) {
    const fovea_status status = bind_texts(session_of(handle)->session, arrays[0].at, arrays[1].at, arrays[2],
                                           arrays[3], tokens, sentences, &error);
    bridge_failed(env, "texts", status, &error);
  }
  fovea_port_free(sentences);
  fovea_port_free(tokens);
  for (int i = 0; i < 4; ++i) bridge_drop_ints(env, given[i], arrays[i]);
}

static void JNICALL set_segments(JNIEnv* env, jclass class, jlong handle, jint space, jintArray lengths) {
  (void)class;
  fovea_error error = {0};
  const struct bridge_array given = bridge_take_ints(env, lengths);
  if (!given.ok) return;
  const fovea_status status =
      fovea_session_set_segments(session_of(handle)->session, (uint32_t)space, given.at, (uint32_t)given.count, &error);
  bridge_drop_ints(env, lengths, given);
  bridge_failed(env, "segments", status, &error);
}

/* Writes all rows of an i32 input: `rows`, or (NULL) `number` everywhere. */
static void JNICALL write_input(JNIEnv* env, jclass class, jlong handle, jint value, jintArray rows, jint number) {
  (void)class;
  fovea_error error = {0};
  fovea_view view;
  const fovea_status status = fovea_session_get_input(session_of(handle)->session, (uint32_t)value, &view, &error);
  if (bridge_failed(env, "input", status, &error)) return;
  const uint64_t count = (uint64_t)view.rows * view.width;
  if (view.type != FOVEA_TYPE_I32) {
    bridge_failed(env, "input: it does not take whole numbers", FOVEA_E_OPTION, NULL);
  } else if (rows == NULL) {
    for (uint64_t i = 0; i < count; ++i) ((int32_t*)view.data)[i] = number;
  } else if ((uint64_t)(*env)->GetArrayLength(env, rows) == count) {
    (*env)->GetIntArrayRegion(env, rows, 0, (jsize)count, view.data);
  } else {
    bridge_failed(env, "input: another number of rows", FOVEA_E_ROWS, NULL);
  }
}

/* ---- Running ---- */

/* Runs in pieces, between which an interrupt of the thread is seen, if one worker does all: with several that would
 * cost a call of the runner for each piece. */
static void JNICALL run(JNIEnv* env, jclass class, jlong handle) {
  (void)class;
  struct bridge_session* session = session_of(handle);
  fovea_error error = {0};
  fovea_status status;
  uint32_t left = 1;
  if (session->threads != NULL) {
    status = fovea_session_run(session->session, &error);
  } else {
    status = fovea_session_begin(session->session, &error);
    while (status == FOVEA_OK && left > 0) {
      if (bridge_interrupted(env)) fovea_session_cancel(session->session);
      status = fovea_session_advance(session->session, 1, &left, &error);
    }
  }
  bridge_failed(env, "run", status, &error);
}

static void JNICALL cancel(JNIEnv* env, jclass class, jlong handle) {
  (void)env;
  (void)class;
  fovea_session_cancel(session_of(handle)->session);
}

static void JNICALL clear_cancel(JNIEnv* env, jclass class, jlong handle) {
  (void)env;
  (void)class;
  fovea_session_clear_cancel(session_of(handle)->session);
}

const JNINativeMethod bridge_session_methods[] = {
    {"newSession", "(JII[I[I[J[I)J", (void*)new_session},
    {"closeSession", "(J)V", (void*)close_session},
    {"bind", "(J[I[I[I[I)V", (void*)bind},
    {"setSegments", "(JI[I)V", (void*)set_segments},
    {"writeInput", "(JI[II)V", (void*)write_input},
    {"run", "(J)V", (void*)run},
    {"cancel", "(J)V", (void*)cancel},
    {"clearCancel", "(J)V", (void*)clear_cancel},
    {NULL, NULL, NULL},
};
