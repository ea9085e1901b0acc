// Gain of speculative decoding: the repository's decoder of five layers writes descriptions of packages alone and with
// its sibling of two layers as the draft model, in turns, one text at a time on one core. Both write the same tokens.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "tests/golden/golden_support.h"
#include "tests/golden/own_models.h"
#include "tools/generate/generation.h"
#include "tools/measure/percentile.h"

namespace fovea::test {
namespace {

constexpr size_t kTexts = 24;

// Microseconds for each token, and how many.
double Measure(const tools::Model& model, const std::vector<int32_t>& prompt, const tools::GenerationRequest& request,
               size_t* tokens) {
  const auto start = std::chrono::steady_clock::now();
  *tokens = tools::Generate(model, {prompt}, request)[0].tokens.size();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return seconds * 1e6 / static_cast<double>(*tokens);
}

void Speculation(benchmark::State& state, DType weights, float temperature) {
  const Converted target(InSource("tools/train/package-writer"), weights);
  const Converted draft(InSource("tools/train/package-writer-draft"), weights);
  const tools::Tokenizer tokenizer(target.model);
  tools::GenerationRequest plain;
  plain.max_tokens = 128, plain.stops = false, plain.sampling.temperature = temperature;
  tools::GenerationRequest guessed = plain;
  guessed.draft = &draft.model, guessed.draft_tokens = static_cast<uint32_t>(state.range(0));
  std::vector<double> alone, with_draft;
  for (auto _ : state) {
    for (const auto& row : ReadTable(InSource("tools/train/package-writer/eval.tsv"))) {
      if (alone.size() == kTexts * state.max_iterations) break;
      const std::vector<int32_t> prompt = tokenizer.Encode(row[0] + "\n", 0).ids;
      size_t tokens = 0, tokens_with_draft = 0;
      alone.push_back(Measure(target.model, prompt, plain, &tokens));
      with_draft.push_back(Measure(target.model, prompt, guessed, &tokens_with_draft));
      if (tokens != tokens_with_draft) return state.SkipWithError("other tokens");
    }
  }
  state.counters["alone_us"] = tools::PercentileOf(alone, 50);
  state.counters["draft_us"] = tools::PercentileOf(with_draft, 50);
  std::vector<double> gains;
  for (size_t i = 0; i < alone.size(); ++i) gains.push_back(alone[i] / with_draft[i]);
  state.counters["gain"] = tools::PercentileOf(gains, 50);
  state.counters["least"] = *std::min_element(gains.begin(), gains.end());
  state.counters["most"] = *std::max_element(gains.begin(), gains.end());
}
BENCHMARK_CAPTURE(Speculation, f32_best, DType::kF32, 0.0f)->Arg(2)->Arg(4)->Arg(8)->Iterations(1);
BENCHMARK_CAPTURE(Speculation, int8_best, DType::kI8, 0.0f)->Arg(2)->Arg(4)->Arg(8)->Iterations(1);
BENCHMARK_CAPTURE(Speculation, f32_drawn, DType::kF32, 0.8f)->Arg(2)->Arg(4)->Iterations(1);

}  // namespace
}  // namespace fovea::test
