// Layers of two types.
#include "tools/convert/arch/layer_types.h"

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

const char* TypeName(bool sliding) { return sliding ? "sliding_attention" : "full_attention"; }

double Real(const Json& object, const char* key, double absent) {
  return JsonView(object, "config.json")[key].Real({1e-6, 1e12}, absent);
}

// For each layer: does it slide?
std::vector<bool> SlidingLayers(const Config& config, uint32_t layers, const std::function<bool(uint32_t)>& otherwise) {
  const Json& types = config.Get("layer_types");
  if (!types.is_null() && (!types.is_array() || types.size() != layers)) {
    Fail("config.json: layer_types must name the types of {} layers", layers);
  }
  std::vector<bool> sliding;
  for (uint32_t i = 0; i < layers; ++i) {
    sliding.push_back(types.is_null() ? otherwise(i) : types[i] == TypeName(true));
    if (!types.is_null() && types[i] != TypeName(sliding[i])) {
      Fail("config.json: layer_types: {} is not supported", types[i].dump());
    }
  }
  return sliding;
}

// The name of the table of one type.
std::string AddRotary(const Config& config, bool sliding, const RotaryKeys& keys, uint32_t head_size,
                      Weights& weights) {
  RotarySpec spec;
  spec.rows = config.Number("max_position_embeddings");
  spec.dims = head_size;
  spec.theta = config.Real(keys.theta, keys.absent);
  const Json& types = config.Get("rope_parameters");
  Json parameters = keys.scaling == nullptr ? Json() : config.Get(keys.scaling);
  if (!types.is_null()) {
    parameters = types.is_object() ? types.value(TypeName(sliding), Json()) : Json();
    if (!parameters.is_object()) Fail("config.json: rope_parameters has no {}", TypeName(sliding));
    spec.theta = Real(parameters, "rope_theta", spec.theta);
  }
  if (!parameters.is_null()) {
    if (!parameters.is_object()) Fail("config.json: {} must be an object", keys.scaling);
    // "type" is an older name.
    const Json type = parameters.value("rope_type", parameters.value("type", Json("default")));
    if (type == "linear") {
      spec.factor = Real(parameters, "factor", 1);
    } else if (type != "default") {
      Fail("config.json: rotary positions of type {} are not supported", type.dump());
    }
  }
  const std::string name = std::string("rotary.") + TypeName(sliding);
  weights.Add(name, Rotary(spec));
  return name;
}

}  // namespace

std::vector<LayerType> ReadLayerTypes(const Config& config, const LayerTypes& types, Description& description) {
  const std::vector<bool> sliding = SlidingLayers(config, config.Number("num_hidden_layers"), types.slides);
  const LayerType full = {AddRotary(config, false, types.full, types.head_size, description.weights), std::nullopt};
  const LayerType windowed = {AddRotary(config, true, types.sliding, types.head_size, description.weights),
                              types.window};
  description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings")));
  std::vector<LayerType> layers;
  for (const bool slides : sliding) layers.push_back(slides ? windowed : full);
  return layers;
}

}  // namespace fovea::tools
