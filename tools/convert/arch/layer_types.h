// Layers of two types, as configurations name them: full_attention sees everything, sliding_attention a window, and
// each type has rotary positions of its own.
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
  std::function<bool(uint32_t)> slides;  // layer i, where `layer_types` is absent
  uint32_t rotary_dims;                  // of a head: those that turn
  RotaryKeys full, sliding;
  Window window;  // that sliding layers see
};

// What is a layer's own.
struct LayerType {
  RotaryPositions rotary;
  std::optional<Window> window;  // absent: it sees all
  bool slides = false;
};

// Of all layers. Adds the frequencies, and says in the metadata up to which length the model was trained.
std::vector<LayerType> ReadLayerTypes(const Config& config, const LayerTypes& types, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_
