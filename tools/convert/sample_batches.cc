#include "tools/convert/sample_batches.h"

#include <math.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tools/measure/synthetic_batch.h"

namespace fovea::tools {
namespace {

const std::vector<uint32_t> kLengths = {3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 40, 48, 64, 96};
constexpr int kTextsOfEachLength = 4;

// The id of rank r has a probability of about 1 / (r + kOffset) (Zipf).
constexpr double kOffset = 10;

void MakeUp(uint32_t limit, std::mt19937& random, std::vector<int32_t>& ids) {
  for (int32_t& id : ids) {
    const double share = static_cast<double>(random()) / 4294967296.0;
    const double rank = kOffset * (pow((limit + kOffset) / kOffset, share) - 1);
    id = static_cast<int32_t>(std::min(rank, limit - 1.0));
  }
}

Batch MadeUp(const Model& model, uint32_t program) {
  std::vector<uint32_t> lengths;
  for (int i = 0; i < kTextsOfEachLength; ++i) lengths.insert(lengths.end(), kLengths.begin(), kLengths.end());
  for (const uint32_t input : InputsOf(model, program)) {
    const uint32_t longest = model.Space(model.Value(program, input).space).max_segment_rows;
    for (uint32_t& length : lengths) length = std::min(length, longest);
  }
  Batch batch = SyntheticBatch(model, program, lengths);
  std::mt19937 random(7);
  for (auto& [value, ids] : batch.ids) {
    const fovea_value_info input = model.Value(program, value);
    const std::optional<int32_t> usual = DefaultId(model, input);  // token types, marks
    if (usual || input.id_limit == 0) {
      std::fill(ids.begin(), ids.end(), usual.value_or(0));
    } else {
      MakeUp(input.id_limit, random, ids);
    }
  }
  return batch;
}

// The number of tokens whose rows fit in the memory limit; at least `fewest`.
size_t MostTokens(const Model& model, uint32_t program, const std::set<uint32_t>& values, size_t fewest) {
  constexpr size_t kMostBytes = size_t{512} << 20, kMost = 1 << 16;
  size_t bytes = 1;
  for (const uint32_t value : values) bytes += model.Value(program, value).width * sizeof(float);
  return std::max(fewest, std::min(kMost, kMostBytes / bytes));
}

}  // namespace

bool TakesNumbers(const Model& model, uint32_t program) {
  const std::vector<uint32_t> inputs = InputsOf(model, program);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](uint32_t input) { return model.Value(program, input).type != FOVEA_TYPE_I32; });
}

std::vector<Batch> SampleBatches(const Model& model, uint32_t program, const std::set<uint32_t>& values,
                                 const SampleSources& sources) {
  const size_t usual = kTextsOfEachLength * std::accumulate(kLengths.begin(), kLengths.end(), size_t{0});
  std::vector<Batch> batches;
  if (auto given = GivenSamples(model, program, sources, MostTokens(model, program, values, usual))) {
    batches.push_back(*std::move(given));
  }
  if (!TakesNumbers(model, program) && (batches.empty() || batches[0].Rows() < usual)) {
    batches.push_back(MadeUp(model, program));
  }
  return batches;
}

}  // namespace fovea::tools
