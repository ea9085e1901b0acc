/* Features that the profile of the sample `writer` leaves out are refused by name: sampling, penalties,
 * log-probabilities, beams and draft models. */
#include <fovea/generate.h>
#include <fovea/model.h>
#include <string.h>

#include "model_memory.h"
#include "ports/baremetal/board.h"
#include "ports/baremetal/sample.h"

static fovea_session* decode;

static int MakeOne(fovea_error* error) {
  fovea_generator* generator;
  const fovea_generate_options options = {.struct_size = sizeof(options), .decode = decode, .max_tokens = 8};
  const fovea_status status =
      fovea_generate_init(&options, model_generator, sizeof(model_generator), &generator, error);
  return status == FOVEA_OK ? 0 : sample_failed("generator", error);
}

/* 0: the status is as expected. */
static int Check(const char* what, const fovea_sampling* sampling, const fovea_beams* beams, fovea_session* draft,
                 fovea_status expected) {
  fovea_error error = {0};
  uint64_t needed = 0;
  const fovea_generate_options options = {.struct_size = sizeof(options),
                                          .decode = decode,
                                          .max_tokens = 8,
                                          .sampling = sampling,
                                          .beams = beams,
                                          .draft = draft,
                                          .draft_tokens = draft == NULL ? 0 : 2};
  const fovea_status status = fovea_generate_size(&options, &needed, &error);
  sample_number(what, status);
  return status == expected ? 0 : 1;
}

static int CheckSampling(const char* what, fovea_sampling sampling, fovea_status expected) {
  sampling.struct_size = sizeof(sampling);
  return Check(what, &sampling, NULL, NULL, expected);
}

static void Allow(void* context, uint32_t text, uint32_t step, uint32_t tokens, uint32_t* words) {
  (void)context, (void)text, (void)step, (void)tokens, (void)words;
}

int main(void) {
  (void)model_text; /* no text is encoded here */
  static const fovea_limit limits[] = {MODEL_DECODE_LIMITS};
  fovea_error error = {0};
  fovea_model* model;
  if (sample_model(model_model, sizeof(model_model), &model, &error) != 0) return 1;
  const fovea_session_options options = SAMPLE_OPTIONS(MODEL_DECODE, limits);
  const fovea_session_memory memory = SAMPLE_MEMORY(MODEL_DECODE, model_decode);
  if (fovea_session_init(model, &options, &memory, &decode, &error) != FOVEA_OK) {
    return sample_failed("decoder", &error);
  }
  const fovea_beams beams = {.struct_size = sizeof(beams), .width = 2, .length_penalty = 1};
  int failed = MakeOne(&error);
  failed |= CheckSampling("allow", (fovea_sampling){.allow = Allow, .repetition_penalty = 1}, FOVEA_OK);
  failed |= CheckSampling("temperature", (fovea_sampling){.temperature = 0.5f}, FOVEA_E_BUILD);
  failed |= CheckSampling("penalty", (fovea_sampling){.repetition_penalty = 1.5f}, FOVEA_E_BUILD);
  failed |= CheckSampling("presence", (fovea_sampling){.presence_penalty = 1.5f}, FOVEA_E_BUILD);
  failed |= CheckSampling("logprobs", (fovea_sampling){.logprobs = 1}, FOVEA_E_BUILD);
  failed |= CheckSampling("top_logprobs", (fovea_sampling){.top_logprobs = 2}, FOVEA_E_BUILD);
  failed |= Check("beams", NULL, &beams, NULL, FOVEA_E_BUILD);
  failed |= Check("draft", NULL, NULL, decode, FOVEA_E_BUILD);
  return failed;
}
