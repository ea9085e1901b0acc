// Layers of two types.
#include "tools/convert/arch/layer_types.h"

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

const char* TypeName(bool sliding) { return sliding ? "sliding_attention" : "full_attention"; }

// Whether each layer slides.
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

}  // namespace

std::vector<LayerType> ReadLayerTypes(const Config& config, const LayerTypes& types, Description& description) {
  const std::vector<bool> sliding = SlidingLayers(config, config.Number("num_hidden_layers"), types.slides);
  description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings")));
  // If the types' positions differ, each type has an object.
  const Json& parameters = config.Get("rope_parameters");
  const bool differ = std::string(types.full.theta) != types.sliding.theta;
  if (differ && parameters.is_object() && !parameters.contains(TypeName(false)) &&
      !parameters.contains(TypeName(true))) {
    Fail("config.json: rope_parameters has no {}", TypeName(false));
  }
  const auto rotary = [&](bool slides) {
    if (std::count(sliding.begin(), sliding.end(), slides) == 0) return RotaryPositions();
    return ReadRotary(config, slides ? types.sliding : types.full, types.rotary_dims, TypeName(slides),
                      description.weights);
  };
  const LayerType full = {rotary(false), std::nullopt, false}, windowed = {rotary(true), types.window, true};
  std::vector<LayerType> layers;
  for (const bool slides : sliding) layers.push_back(slides ? windowed : full);
  return layers;
}

}  // namespace fovea::tools
