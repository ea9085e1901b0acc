#include "tools/generate/alignment_heads.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/defaults.h"

namespace fovea::tools {
namespace {

constexpr char kKey[] = "transcribe.alignment_heads";
constexpr uint32_t kMostHeads = 64;

std::optional<uint32_t> CrossAttention(const Model& model, uint32_t layer) {
  return model.FindAttention(DecodeProgram(model), fmt::format("cross_attentions.{}", layer));
}

}  // namespace

AlignmentHeads::AlignmentHeads(const Model& model) {
  const std::string name = MetadataName(model, kKey);
  std::map<uint32_t, uint64_t> heads;  // a bit set of heads for each layer
  std::istringstream words(MetadataOr(model, kKey, ""));
  for (std::string word; words >> word;) {
    const size_t dot = word.find('.');
    if (dot == std::string::npos) Fail("{}: {} is not a pair of layer and head", name, word);
    const auto layer = static_cast<uint32_t>(WholeNumberIn(word.substr(0, dot), name, {0, 65535}));
    heads[layer] |= uint64_t{1} << WholeNumberIn(word.substr(dot + 1), name, {0, kMostHeads - 1});
  }
  if (heads.empty()) {
    uint32_t layers = 0;
    while (CrossAttention(model, layers)) ++layers;
    for (uint32_t layer = layers / 2; layer < layers; ++layer) heads[layer] = 0;
  }
  for (const auto& [layer, bits] : heads) {
    const std::optional<uint32_t> step = CrossAttention(model, layer);
    if (!step) Fail("{}: the decoder has no cross-attention in layer {}", name, layer);
    const uint32_t count = model.Step(DecodeProgram(model), *step).heads;
    if (count < kMostHeads && bits >> count != 0) Fail("{}: layer {} has {} heads", name, layer, count);
    taps_.push_back(TapOf(*step));
    taps_.back().heads = bits;
  }
  if (taps_.empty())
    Fail("{}: the decoder has no cross-attention to align words with; leave out --times word", model.name());
}

HeadWeights AlignmentHeads::Weights(const Session& decode, size_t first, size_t rows, size_t frames) const {
  HeadWeights all;
  all.tokens = rows, all.frames = frames;
  for (uint32_t tap = 0; tap < taps_.size(); ++tap) {
    const fovea_attention_map weights = decode.AttentionMap(tap);
    if (weights.rows < first + rows || weights.stride < frames) {
      Fail("the decoder's attention map has {} rows of {}, expected {} of {}", weights.rows, weights.stride,
           first + rows, frames);
    }
    for (uint32_t head = 0; head < weights.heads; ++head, ++all.heads) {
      for (size_t row = first; row < first + rows; ++row) {
        const float* const from = weights.data + (row * weights.heads + head) * weights.stride;
        all.values.insert(all.values.end(), from, from + frames);
      }
    }
  }
  return all;
}

}  // namespace fovea::tools
