// What going on with texts costs: taking prompts in, then a token of each text at a time.
#ifndef FOVEA_TOOLS_BENCH_GENERATION_COST_H_
#define FOVEA_TOOLS_BENCH_GENERATION_COST_H_

#include "tools/common/model.h"
#include "tools/common/print.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

struct GenerationShape {
  uint32_t texts = 1, prompt_tokens = 128, new_tokens = 64;
  uint32_t beams = 1;  // of each text
};

// Times of one generation after one that is not counted, and the bytes that a token needs (weights that are multiplied,
// kept rows) beside what a plain loop over as many bytes reads, by as many threads.
OrderedJson MeasureGeneration(const Model& model, const GenerationShape& shape, const GenerationRequest& request);
std::string GenerationText(const OrderedJson& measured);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BENCH_GENERATION_COST_H_
