// Layers of two types, as configurations name them: full_attention sees everything, sliding_attention a window, and
// each type has rotary positions of its own.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/convert/arch/config.h"
#include "tools/convert/description.h"

namespace fovea::tools {

// Where older configurations keep what newer ones have in rope_parameters.<layer type>.
struct RotaryKeys {
  const char* theta;
  double absent;                  // theta where nothing says it
  const char* scaling = nullptr;  // an object like rope_parameters
};

struct LayerTypes {
  std::function<bool(uint32_t)> slides;  // layer i, where `layer_types` is absent
  uint32_t head_size;
  RotaryKeys full, sliding;
  uint32_t window;  // keys on each side that sliding layers see
};

// What is a layer's own.
struct LayerType {
  std::string rotary;              // its table of rotary positions
  std::optional<uint32_t> window;  // absent: it sees all
};

// Of all layers. Adds the tables, all that max_position_embeddings allows, and says so in the metadata. Scalings of
// rotary positions other than linear ones are refused.
std::vector<LayerType> ReadLayerTypes(const Config& config, const LayerTypes& types, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_
