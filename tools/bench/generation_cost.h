// Measures text generation: prefill, then decoding of one token of each text per step.
#ifndef FOVEA_TOOLS_BENCH_GENERATION_COST_H_
#define FOVEA_TOOLS_BENCH_GENERATION_COST_H_

#include "tools/base/print.h"
#include "tools/generate/generation.h"
#include "tools/model/model.h"

namespace fovea::tools {

struct GenerationShape {
  uint32_t texts = 1, prompt_tokens = 128, new_tokens = 64;
  uint32_t beams = 1;  // per text
};

// Times of one generation after a warm-up, and the bytes read per token (weights, KV cache) compared with the memory
// bandwidth of a plain loop over as many bytes with as many threads.
OrderedJson MeasureGeneration(const Model& model, const GenerationShape& shape, const GenerationRequest& request);
std::string GenerationText(const OrderedJson& measured);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BENCH_GENERATION_COST_H_
