// SqueezeBERT: BERT whose layers project group by group of columns (convolutions of one row).
#include "runtime/blob/format.h"
#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"
#include "tools/convert/arch/grouped.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// [rows, width] of `groups` groups as a matrix with zeros between them: [rows, groups * width].
Constant Spread(const Constant& stored, uint32_t groups) {
  return {stored.rows, groups * stored.width, [=] {
            const std::vector<float> values = stored.load();
            std::vector<float> spread(values.size() * groups);
            for (uint32_t row = 0; row < stored.rows; ++row) {
              const size_t group = row / (stored.rows / groups);
              std::copy_n(values.begin() + size_t{row} * stored.width, stored.width,
                          spread.begin() + (size_t{row} * groups + group) * stored.width);
            }
            return spread;
          }};
}

// As many parts as one operation joins; several groups share a part where there are more.
uint32_t PartsOf(uint32_t groups) {
  uint32_t parts = groups < kMaxInputs ? groups : kMaxInputs;
  while (groups % parts != 0) --parts;
  return parts;
}

std::string Grouped(ProgramBuilder& b, Weights& weights, uint32_t groups, const std::string& in,
                    const std::string& name, const std::string& out, const std::string& activation) {
  const Constant weight = weights.Get(name + ".weight");
  if (groups == 0 || weight.rows % groups != 0) {
    Fail("tensor {}.weight has {} rows, not {} groups", name, weight.rows, groups);
  }
  if (groups == 1) return b.Linear(in, name, out, activation);
  const uint32_t parts = PartsOf(groups), rows = weight.rows / parts, width = weight.width * (groups / parts);
  return ForGroups(b, in, parts, width, out, [&](uint32_t i, const std::string& columns, const std::string& at) {
    const std::string part = fmt::format("{}.groups.{}", name, i);
    const Range range = {i * rows, (i + 1) * rows};
    const Constant own = Slice(weight, range);
    weights.Add(part + ".weight", parts == groups ? own : Spread(own, groups / parts));
    if (weights.Has(name + ".bias")) weights.Add(part + ".bias", Slice(weights.Get(name + ".bias"), {}, range));
    return b.Linear(columns, part, at, activation);
  });
}

StackLayer Layer(const std::string& root, uint32_t i) {
  const std::string at = fmt::format("{}encoder.layers.{}.", root, i);
  return {.attention = {.query = at + "attention.query",
                        .key = at + "attention.key",
                        .value = at + "attention.value",
                        .output = at + "post_attention.conv1d",
                        .sum_norm = at + "post_attention.layernorm"},
          .feed_forward = {
              .up = at + "intermediate.conv1d", .down = at + "output.conv1d", .sum_norm = at + "output.layernorm"}};
}

// Each projection works on groups of columns; their numbers are configured by the ends of its name.
void GroupProjections(const Config& config, Weights& weights, LayerStack& stack) {
  const std::vector<std::pair<std::string, uint32_t>> groups = {
      {".query", config.Number("q_groups", 4)},
      {".key", config.Number("k_groups", 4)},
      {".value", config.Number("v_groups", 4)},
      {".post_attention.conv1d", config.Number("post_attention_groups", 1)},
      {".intermediate.conv1d", config.Number("intermediate_groups", 4)},
      {".output.conv1d", config.Number("output_groups", 4)}};
  stack.linear = [groups, &weights](ProgramBuilder& b, const std::string& in, const std::string& name,
                                    const std::string& out, const std::string& activation) {
    for (const auto& [ending, count] : groups) {
      if (EndsWith(name, ending)) return Grouped(b, weights, count, in, name, out, activation);
    }
    return b.Linear(in, name, out, activation);
  };
}

}  // namespace

// The original: transformers/models/squeezebert/modeling_squeezebert.py: SqueezeBertModel.
void DescribeSqueezebert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family = BertFromConfig(config);
  config.Only("layer_norm_eps", 1e-12);  // the original reads it for the embeddings alone; layers always have 1e-12
  family.prefix = "transformer";
  family.layer = Layer;
  LayerStack stack = BertStack(family, description);
  GroupProjections(config, description.weights, stack);
  config.Ignore({"embedding_size"});  // the hidden size: there is no projection
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
