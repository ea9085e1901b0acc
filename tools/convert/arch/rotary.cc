// Rotary positions as configurations describe them. Frequencies are rounded as in training, to f32 after each step.
#include "tools/convert/arch/rotary.h"

#include <math.h>

#include <algorithm>
#include <set>

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The object of a kind of layers, and what it means.
class Scaling {
 public:
  Scaling(const Config& config, const RotaryKeys& keys, uint32_t dims, const std::string& name)
      : config_(config), dims_(dims), theta_(config.Real(keys.theta, keys.absent)), where_("rope_parameters") {
    const Json& parameters = config.Get("rope_parameters");
    if (!parameters.is_null()) {
      if (!parameters.is_object()) Fail("config.json: rope_parameters must be an object");
      object_ = parameters.contains(name) ? parameters[name] : parameters;
      const bool typed = parameters.contains("full_attention") || parameters.contains("sliding_attention");
      if (!object_.is_object() || (typed && !parameters.contains(name))) {
        Fail("config.json: rope_parameters has no {}", name);
      }
    } else if (keys.scaling != nullptr && !config.Get(keys.scaling).is_null()) {
      where_ = keys.scaling;
      object_ = config.Get(keys.scaling);
      if (!object_.is_object()) Fail("config.json: {} must be an object", where_);
    }
    theta_ = Real("rope_theta", theta_);
    if (dims_ < 2 || dims_ % 2 != 0) Fail("config.json: rotary positions of {} columns are not supported", dims_);
  }

  // "type" is an older name.
  std::string Type() const {
    const Json type = object_.is_null() ? Json("default") : object_.value("rope_type", object_.value("type", Json()));
    if (type.is_null()) return "default";
    if (!type.is_string()) Fail("config.json: {}: rope_type {} is not supported", where_, Shown(type));
    return type == "su" ? "longrope" : type.get<std::string>();
  }

  void Allow(std::set<std::string> keys) const {
    if (object_.is_null()) return;
    keys.insert({"rope_type", "type", "rope_theta", "partial_rotary_factor"});
    // It scales queries, which is described with the layers.
    if (config_.Text("model_type", "") == "ministral3") keys.insert("llama_4_scaling_beta");
    for (const auto& item : object_.items()) {
      if (keys.count(item.key()) == 0 && !item.value().is_null()) {
        Fail("config.json: {}: {} is not supported for rotary positions of type {}", where_, item.key(), Type());
      }
    }
  }

  bool Has(const char* key) const { return object_.is_object() && !object_.value(key, Json()).is_null(); }
  double Real(const char* key, std::optional<double> absent = std::nullopt) const {
    return View(key).Real({1e-6, 1e12}, absent);
  }
  bool Flag(const char* key, bool absent) const { return View(key).Flag(absent); }
  std::vector<float> Factors(const char* key) const {
    const Json list = object_.value(key, Json());
    if (!list.is_array() || list.size() != dims_ / 2) {
      Fail("config.json: {}: {} must be {} numbers", where_, key, dims_ / 2);
    }
    std::vector<float> factors;
    for (const Json& factor : list) {
      factors.push_back(static_cast<float>(JsonView(factor, "config.json: " + where_).Real({1e-6, 1e12})));
    }
    return factors;
  }

  // theta^(2i / dims): the wave lengths over 2 pi.
  std::vector<float> Lengths() const {
    std::vector<float> lengths;
    for (uint32_t i = 0; i < dims_ / 2; ++i) {
      const float exponent = static_cast<float>(2 * i) / static_cast<float>(dims_);
      lengths.push_back(static_cast<float>(pow(static_cast<float>(theta_), exponent)));
    }
    return lengths;
  }
  uint32_t MaxPositions() const { return config_.Number("max_position_embeddings"); }
  double OriginalPositions() const {
    const double whole = config_.Real("original_max_position_embeddings", MaxPositions());
    return Real("original_max_position_embeddings", whole);
  }
  const Config& config() const { return config_; }
  double theta() const { return theta_; }
  uint32_t dims() const { return dims_; }

 private:
  JsonView View(const char* key) const {
    static const Json none;
    const auto found = object_.is_object() ? object_.find(key) : object_.end();
    return {object_.is_object() && found != object_.end() ? *found : none, "config.json: " + where_ + ": " + key};
  }

  const Config& config_;
  const uint32_t dims_;
  double theta_;
  std::string where_;
  Json object_;
};

std::vector<float> Inverse(std::vector<float> lengths) {
  for (float& length : lengths) length = 1.0f / length;
  return lengths;
}

// Long waves are stretched, short ones are not, those between them by as much as they are long.
std::vector<float> Llama3(const Scaling& s) {
  s.Allow({"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"});
  const double low = s.Real("low_freq_factor"), high = s.Real("high_freq_factor"), context = s.OriginalPositions();
  if (!(low < high)) Fail("config.json: high_freq_factor must be greater than low_freq_factor");
  const auto factor = static_cast<float>(s.Real("factor"));
  std::vector<float> frequencies = Inverse(s.Lengths());
  for (float& frequency : frequencies) {
    const float wave = static_cast<float>(2 * kPi) / frequency;
    if (wave > static_cast<float>(context / low)) {
      frequency /= factor;
    } else if (wave >= static_cast<float>(context / high)) {
      const float smooth =
          (static_cast<float>(context) / wave - static_cast<float>(low)) / static_cast<float>(high - low);
      frequency = (1 - smooth) * frequency / factor + smooth * frequency;
    }
  }
  return frequencies;
}

double YarnFactor(double factor, double scale = 1) { return factor <= 1 ? 1.0 : 0.1 * scale * log(factor) + 1; }

std::vector<float> Yarn(const Scaling& s, double* attention_factor) {
  s.Allow({"factor", "attention_factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow",
           "original_max_position_embeddings", "truncate"});
  const double factor = s.Real("factor"), context = s.Real("original_max_position_embeddings", s.MaxPositions());
  *attention_factor = YarnFactor(factor);
  if (s.Has("mscale") && s.Has("mscale_all_dim")) {
    *attention_factor = YarnFactor(factor, s.Real("mscale")) / YarnFactor(factor, s.Real("mscale_all_dim"));
  }
  *attention_factor = s.Real("attention_factor", *attention_factor);
  // The pair of columns that turns so often within the context.
  const auto pair = [&](double turns) { return s.dims() * log(context / (turns * 2 * kPi)) / (2 * log(s.theta())); };
  double low = pair(s.Real("beta_fast", 32)), high = pair(s.Real("beta_slow", 1));
  if (s.Flag("truncate", true)) low = floor(low), high = ceil(high);
  low = std::max(low, 0.0), high = std::min(high, s.dims() - 1.0);
  if (low == high) high += 0.001;
  std::vector<float> frequencies = s.Lengths();
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float whole = 1.0f / frequencies[i], stretched = 1.0f / (static_cast<float>(factor) * frequencies[i]);
    const float place = (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low);
    const float keeps = 1 - std::clamp(place, 0.0f, 1.0f);
    frequencies[i] = stretched * (1 - keeps) + whole * keeps;
  }
  return frequencies;
}

std::vector<float> Divided(std::vector<float> lengths, const std::vector<float>& factors) {
  for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1.0f / (factors[i] * lengths[i]);
  return lengths;
}

}  // namespace

RotaryPositions ReadRotary(const Config& config, const RotaryKeys& keys, uint32_t dims, const std::string& name,
                           Weights& weights) {
  const Scaling scaling(config, keys, dims, name);
  RotaryPositions rotary;
  const auto add = [&](const std::string& tensor, const std::vector<float>& frequencies) {
    weights.Add(tensor, Literal(1, static_cast<uint32_t>(frequencies.size()), frequencies));
    return tensor;
  };
  rotary.frequencies = "rotary." + name;
  const std::string type = scaling.Type();
  if (type == "llama3") {
    add(rotary.frequencies, Llama3(scaling));
  } else if (type == "yarn") {
    add(rotary.frequencies, Yarn(scaling, &rotary.factor));
  } else if (type == "longrope") {
    scaling.Allow({"short_factor", "long_factor", "factor", "attention_factor", "original_max_position_embeddings"});
    const double original = scaling.OriginalPositions();
    // The model's own key decides; later versions of the original library move it beside the factors.
    const bool known = !config.Get("original_max_position_embeddings").is_null() ||
                       (scaling.Has("original_max_position_embeddings") && !scaling.Has("factor"));
    const double factor = known ? scaling.MaxPositions() / original : scaling.Real("factor", 1);
    rotary.factor = scaling.Real("attention_factor", factor <= 1 ? 1.0 : sqrt(1 + log(factor) / log(original)));
    rotary.short_up_to = static_cast<uint32_t>(original);
    add(rotary.frequencies, Divided(scaling.Lengths(), scaling.Factors("short_factor")));
    rotary.long_frequencies =
        add(rotary.frequencies + ".long", Divided(scaling.Lengths(), scaling.Factors("long_factor")));
  } else if (type == "dynamic") {
    scaling.Allow({"factor"});
    rotary.stretch = scaling.Real("factor");
    rotary.short_up_to = scaling.MaxPositions();
    add(rotary.frequencies, Inverse(scaling.Lengths()));
  } else if (type == "divided") {  // by the given factors: GGUF files store llama3 like this
    scaling.Allow({"factors"});
    add(rotary.frequencies, Divided(scaling.Lengths(), scaling.Factors("factors")));
  } else if (type == "linear" || type == "default") {
    if (type == "linear") scaling.Allow({"factor"});
    std::vector<float> frequencies = Inverse(scaling.Lengths());
    const auto factor = static_cast<float>(type == "linear" ? scaling.Real("factor") : 1);
    for (float& frequency : frequencies) frequency /= factor;
    add(rotary.frequencies, frequencies);
  } else {
    Fail("config.json: rotary positions of type {} are not supported", type);
  }
  return rotary;
}

uint32_t HeadSize(const Config& config, const char* width_key, uint32_t heads) {
  const uint32_t width = config.Number(width_key);
  if (heads == 0 || width % heads != 0) Fail("{} heads do not divide the width {}", heads, width);
  return width / heads;
}

uint32_t RotaryDims(const Config& config, uint32_t head_size, const char* key, double absent) {
  const Json& parameters = config.Get("rope_parameters");
  double part = config.Real(key, absent);
  if (parameters.is_object()) {
    part = JsonView(parameters.value("partial_rotary_factor", Json(part)), "config.json: rope_parameters").Real({0, 1});
  }
  if (!(part >= 0 && part <= 1)) Fail("config.json: {} {} is not supported", key, part);
  return static_cast<uint32_t>(head_size * part);
}

std::string AddRotate(const RotaryPositions& rotary, ProgramBuilder& builder, const std::string& x, uint32_t heads,
                      const std::string& out) {
  Json attributes = {{"heads", heads}};
  if (rotary.factor != 1) attributes["scale"] = rotary.factor;
  if (rotary.interleaved) attributes["interleaved"] = true;
  if (rotary.short_up_to != 0) attributes["short_up_to"] = rotary.short_up_to;
  if (rotary.stretch != 0) attributes["stretch"] = rotary.stretch;
  std::vector<std::string> tensors = {rotary.table};
  if (rotary.table.empty()) tensors.push_back(rotary.frequencies);
  if (!rotary.long_frequencies.empty()) tensors.push_back(rotary.long_frequencies);
  return builder.Op("rotate", {x}, tensors, out, attributes);
}

}  // namespace fovea::tools
