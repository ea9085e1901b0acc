// SqueezeBERT: BERT whose layers project group by group of columns (convolutions of one row).
#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/grouped.h"
#include "tools/convert/arch/post_norm_encoder.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// [rows, width] of `groups` groups as a matrix with zeros between them: [rows, groups * width].
Constant Spread(const Constant& of, uint32_t groups) {
  return {of.rows, groups * of.width, [=] {
            const std::vector<float> values = of.load();
            std::vector<float> spread(values.size() * groups);
            for (uint32_t row = 0; row < of.rows; ++row) {
              const size_t group = row / (of.rows / groups);
              std::copy_n(values.begin() + size_t{row} * of.width, of.width,
                          spread.begin() + (size_t{row} * groups + group) * of.width);
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

}  // namespace

void DescribeSqueezebert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  PostNormEncoder encoder = BertFromConfig(config);
  // Norms of layers always have this one, the others what is configured.
  config.Only("layer_norm_eps", 1e-12);
  encoder.prefix = "transformer";
  encoder.layer = [](uint32_t i) {
    const std::string at = fmt::format("encoder.layers.{}.", i);
    return LayerNames{at + "attention.query",
                      at + "attention.key",
                      at + "attention.value",
                      at + "post_attention.conv1d",
                      at + "post_attention.layernorm",
                      at + "intermediate.conv1d",
                      at + "output.conv1d",
                      at + "output.layernorm"};
  };
  const std::pair<const char*, uint32_t> groups[] = {
      {".query", config.Number("q_groups", 4)},
      {".key", config.Number("k_groups", 4)},
      {".value", config.Number("v_groups", 4)},
      {".post_attention.conv1d", config.Number("post_attention_groups", 1)},
      {".intermediate.conv1d", config.Number("intermediate_groups", 4)},
      {".output.conv1d", config.Number("output_groups", 4)}};
  encoder.linear = [&](ProgramBuilder& b, const std::string& in, const std::string& name, const std::string& out,
                       const std::string& activation) {
    for (const auto& [end, count] : groups) {
      const std::string ending = end;
      if (name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
        return Grouped(b, description.weights, count, in, name, out, activation);
      }
    }
    return b.Linear(in, name, out, activation);
  };
  config.Get("embedding_size");  // the hidden size: there is no projection
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
