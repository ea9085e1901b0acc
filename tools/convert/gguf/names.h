// Names of tensors in GGUF files, and what the library calls them.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_NAMES_H_
#define FOVEA_TOOLS_CONVERT_GGUF_NAMES_H_

#include <map>
#include <string>
#include <vector>

#include "tools/convert/gguf/parts.h"

namespace fovea::tools {

// How the library's tensor differs from the stored one.
enum class GgufLayout {
  kStored,
  kBare,        // its name has no ".weight"
  kTransposed,  // stored as [out, in], in the library [in, out]
  kGrouped,     // all queries, all keys, all values; in the library by key head
};

struct GgufPlace {
  std::string published;
  GgufLayout layout = GgufLayout::kStored;
};

// By name without ".weight" and ".bias".
using GgufPlaces = std::map<std::string, GgufPlace>;

struct GgufLayerNames {
  std::string stored, published;  // before the number of the layer: "blk.", "model.layers."
  GgufPlaces places;
};

struct GgufNames {
  GgufPlaces model;
  std::vector<GgufLayerNames> layers;
  // Projections that files can store as one or apart, as the library has them.
  bool one_projection = false, one_gate = false;
};

GgufNames NamesOf(const std::string& model_type, const GgufTensors& tensors);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_NAMES_H_
