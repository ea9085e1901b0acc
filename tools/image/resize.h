// Resizes images.
#ifndef FOVEA_TOOLS_IMAGE_RESIZE_H_
#define FOVEA_TOOLS_IMAGE_RESIZE_H_

#include <stdint.h>

#include <optional>
#include <vector>

#include "tools/base/filter_taps.h"
#include "tools/image/picture.h"

namespace fovea::tools {

// Same results as Pillow for 8 bits: first rows, then columns, with weights and both results in fixed point. Without a
// filter: nearest neighbour.
Picture Resize(const Picture& picture, uint32_t height, uint32_t width, std::optional<Filter> filter);

// Same in floating point, without rounding: as PyTorch's antialiased interpolation.
struct Planes {
  uint32_t width = 0, height = 0, channels = 0;
  std::vector<float> values;  // channel by channel
};
Planes Resize(const Planes& planes, uint32_t height, uint32_t width, std::optional<Filter> filter);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_RESIZE_H_
