// Scaling of rotary positions (RoPE) in the form of config.json.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/gguf/settings.h"

namespace fovea::tools {
namespace {

constexpr const char* kDivisors = "rope_freqs.weight";
constexpr const char* kShort = "rope_factors_short.weight";
constexpr const char* kLong = "rope_factors_long.weight";

std::vector<float> Factors(const GgufSettings& settings, const char* name) {
  const GgufTensor& tensor = settings.tensors.at(name);
  if (tensor.count() != settings.turned / 2) {
    Fail("{}: tensor {} must be {} numbers", settings.metadata.path(), name, settings.turned / 2);
  }
  return ToFloats(tensor);
}

// Factor relative to what follows from the scaling's own factor.
double AttentionFactor(const GgufSettings& settings) {
  double times = 1;
  for (const char* key : {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor"}) {
    times *= settings.Own(key).Real(kGgufFactors, 1);
  }
  return times;
}

Json Longrope(const GgufSettings& settings, const std::string& type) {
  if (type != "none" && type != "longrope") {
    Fail("{} {} with tensor {} is not supported", settings.Own("rope.scaling.type").name(), type, kLong);
  }
  if (!settings.HasTensor(kShort) || !settings.HasTensor(kLong)) {
    Fail("{}: one of the tensors {} and {} is missing", settings.metadata.path(), kShort, kLong);
  }
  settings.Own("rope.scaling.factor");  // follows from the two lengths
  Json scaling = {{"rope_type", "longrope"},
                  {"short_factor", Factors(settings, kShort)},
                  {"long_factor", Factors(settings, kLong)}};
  const JsonView original = settings.Own("rope.scaling.original_context_length");
  scaling["original_max_position_embeddings"] = original.Number(kGgufPositions, settings.Positions());
  scaling["factor"] = settings.Positions() / scaling["original_max_position_embeddings"].get<double>();
  if (settings.Has("rope.scaling.attn_factor")) scaling["attention_factor"] = AttentionFactor(settings);
  return scaling;
}

Json Yarn(const GgufSettings& settings) {
  Json scaling = {{"rope_type", "yarn"}, {"factor", settings.Needed("rope.scaling.factor").Real(kGgufFactors)}};
  const JsonView original = settings.Own("rope.scaling.original_context_length");
  scaling["original_max_position_embeddings"] = original.Number(kGgufPositions, settings.Positions());
  settings.Only("rope.scaling.yarn_ext_factor", 1.0);
  for (const char* key : {"beta_fast", "beta_slow"}) {
    const JsonView turns = settings.Own(fmt::format("rope.scaling.yarn_{}", key));
    if (!turns.IsNull()) scaling[key] = turns.Real(kGgufFactors);
  }
  const double times = AttentionFactor(settings), factor = scaling["factor"].get<double>();
  // The published models of gpt-oss do not round the pairs of columns; files do not contain that.
  if (settings.type == "gpt_oss") scaling["truncate"] = false;
  if (settings.architecture.name == std::string("mistral3") && settings.Has("rope.scaling.yarn_log_multiplier")) {
    scaling["mscale"] = 1;
    scaling["mscale_all_dim"] = settings.Own("rope.scaling.yarn_log_multiplier").Real(kGgufFactors);
    if (times != 1) Fail("{} is not supported", settings.Own("rope.scaling.yarn_attn_factor").name());
  } else if (times != 1) {
    scaling["attention_factor"] = times * (1 + 0.1 * log(std::max(1.0, factor)));
  }
  return scaling;
}

}  // namespace

Json GgufRopeScaling(const GgufSettings& settings) {
  const std::string type = settings.Own("rope.scaling.type").Text("none");
  settings.Own("rope.scaling.finetuned");
  settings.Only("rope.scale_linear", 1.0);
  if (settings.HasTensor(kLong) || settings.HasTensor(kShort)) return Longrope(settings, type);
  if (settings.HasTensor(kDivisors)) {
    if (type != "none") {
      Fail("{} {} with tensor {} is not supported", settings.Own("rope.scaling.type").name(), type, kDivisors);
    }
    return {{"rope_type", "divided"}, {"factors", Factors(settings, kDivisors)}};
  }
  const JsonView factor = settings.Own("rope.scaling.factor");
  if (type == "none") {
    if (factor.Real({}, 1) != 1) Fail("{} without rope.scaling.type is not supported", factor.name());
    settings.Own("rope.scaling.original_context_length");
    return nullptr;
  }
  if (type == "linear") {
    settings.Own("rope.scaling.original_context_length");
    return {{"rope_type", type}, {"factor", factor.Real(kGgufFactors)}};
  }
  if (type != "yarn") Fail("{} {} is not supported", settings.Own("rope.scaling.type").name(), type);
  return Yarn(settings);
}

}  // namespace fovea::tools
