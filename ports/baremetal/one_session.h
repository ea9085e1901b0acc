/* Shared by samples that run one session. Included once per program, because model_memory.h defines the arrays. */
#ifndef FOVEA_PORTS_BAREMETAL_ONE_SESSION_H_
#define FOVEA_PORTS_BAREMETAL_ONE_SESSION_H_

#include "model_memory.h"
#include "sample.h"

/* Makes the session of the model in flash; `clock` may be NULL. Returns 1 after a failure, which it has printed. */
static inline int one_session(const fovea_model* model, uint64_t (*clock)(void), fovea_session** session,
                              fovea_error* error) {
  static const fovea_limit limits[] = {MODEL_LIMITS};
  fovea_session_options options = SAMPLE_OPTIONS(MODEL, limits);
  options.clock = clock;
#ifdef MODEL_TAPS
  static const fovea_tap taps[] = {MODEL_TAPS};
  options.taps = taps;
  options.tap_count = sizeof(taps) / sizeof(taps[0]);
#endif
  const fovea_session_memory memory = SAMPLE_MEMORY(MODEL, model);
  return fovea_session_init(model, &options, &memory, session, error) == FOVEA_OK ? 0 : sample_failed("session", error);
}

/* Prints the class with the highest logit, all logits, bytes, and the ticks of both parts. Returns 1 without logits. */
static inline int one_answer(const fovea_model* model, const fovea_session* session, uint64_t init_ticks,
                             uint64_t run_ticks, fovea_error* error) {
  fovea_view logits;
  if (fovea_session_find_output(session, "logits", &logits, error) != FOVEA_OK) return sample_failed("logits", error);
  sample_class(model, &logits);
  sample_scores(&logits);
  sample_number("model_bytes", MODEL_MODEL_BYTES);
  sample_number("fixed_bytes", MODEL_FIXED_BYTES);
  sample_number("state_bytes", MODEL_STATE_BYTES);
  sample_number("scratch_bytes", MODEL_SCRATCH_BYTES);
  sample_report(init_ticks, run_ticks);
  return 0;
}

#endif
