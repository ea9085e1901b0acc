// Jina's encoders (jina-embeddings-v2): BERT without positions, but with a bias that falls with the distance (ALiBi, in
// both directions) and a gated feed-forward. They are published as `bert` with custom code.
#include <math.h>

#include <cstdlib>

#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// For head i: the slopes of ALiBi, times -|distance|, for all distances below the largest number of tokens.
Constant Biases(uint32_t heads, uint32_t positions) {
  uint32_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (uint32_t i = 1; i <= power; ++i) slopes.push_back(pow(2, -8.0 * i / power));
  for (uint32_t i = 1; slopes.size() < heads; i += 2) slopes.push_back(pow(2, -4.0 * i / power));
  const int64_t reach = int64_t{positions} - 1;
  std::vector<float> values;
  for (const double slope : slopes) {
    for (int64_t distance = -reach; distance <= reach; ++distance) {
      values.push_back(static_cast<float>(slope * -static_cast<double>(std::abs(distance))));
    }
  }
  return Literal(heads, static_cast<uint32_t>(2 * reach + 1), values);
}

// Returns whether the feed-forward is gated.
bool SetFeedForward(const Config& config, BertLike& family) {
  const std::string kind = config.Text("feed_forward_type", "original");
  if (kind == "original") return false;
  if (kind != "geglu" && kind != "reglu") Fail("config.json: feed_forward_type {} is not supported", kind);
  family.activation = kind == "geglu" ? "gelu" : "relu";
  return true;
}

}  // namespace

// The original: modeling_bert.py of jinaai/jina-bert-implementation: JinaBertModel.
void DescribeJinaBert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  BertLike family = BertFromConfig(config);
  family.prefix = "bert";
  family.positioned = false;
  const bool gated = SetFeedForward(config, family);
  if (gated) {
    family.layer = [layer = family.layer, &weights](const std::string& root, uint32_t i) {
      const std::string mlp = fmt::format("{}encoder.layer.{}.mlp.", root, i);
      SplitLinear(weights, mlp + "gated_layers", {"gate", "up"});
      StackLayer named = layer(root, i);
      named.feed_forward = {.gate = mlp + "gated_layers.gate",
                            .up = mlp + "gated_layers.up",
                            .down = mlp + "wo",
                            .sum_norm = mlp + "layernorm"};
      return named;
    };
  }
  LayerStack stack = BertStack(family, description);
  const uint32_t positions = config.Number("max_position_embeddings");
  if (positions > 1 << 16) Fail("config.json: max_position_embeddings {} is not supported", positions);
  description.SetMetadata("max_positions", std::to_string(positions));
  stack.distance_bias = "encoder.distance_bias";
  weights.Add(stack.distance_bias, Biases(stack.heads, positions));
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
