// Layers of two types, as configurations name them: full_attention sees all keys, sliding_attention a window. Each type
// has its own rotary positions.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/convert/arch/config.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/arch/rotary.h"
#include "tools/convert/description.h"

namespace fovea::tools {

struct LayerTypes {
  std::function<bool(uint32_t)> slides;  // whether layer i slides if `layer_types` is absent
  uint32_t rotary_dims;                  // columns of a head that are rotated
  RotaryKeys full, sliding;
  Window window;  // for sliding layers
};

// The settings of one layer.
struct LayerType {
  RotaryPositions rotary;
  std::optional<Window> window;  // absent: it sees all keys
  bool slides = false;
};

// Reads the types of all layers. Adds the frequencies, and the longest trained length as metadata max_positions.
std::vector<LayerType> ReadLayerTypes(const Config& config, const LayerTypes& types, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_
