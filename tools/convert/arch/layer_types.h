// Layers of two types, as configurations name them: full_attention sees everything, sliding_attention a window, and
// each type has rotary positions of its own.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/convert/arch/config.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// For each layer: does it slide? As `layer_types` says; where that is absent, as `otherwise` does.
std::vector<bool> SlidingLayers(const Config& config, uint32_t layers, const std::function<bool(uint32_t)>& otherwise);

// Where older configurations keep what newer ones have in rope_parameters.<layer type>.
struct RotaryKeys {
  const char* theta;
  double absent;                  // theta where nothing says it
  const char* scaling = nullptr;  // an object like rope_parameters
};

// Adds the table of rotary positions of one layer type, all that max_position_embeddings allows, for heads of
// `head_size`; returns its name. Scalings other than linear ones are refused.
std::string AddRotary(const Config& config, bool sliding, const RotaryKeys& keys, uint32_t head_size, Weights& weights);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LAYER_TYPES_H_
