// Settings that the files of image processors of transformers, timm and open_clip have in common.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_IMAGE_SETTINGS_H_
#define FOVEA_TOOLS_CONVERT_ARCH_IMAGE_SETTINGS_H_

#include <array>
#include <vector>

#include "tools/base/json.h"
#include "tools/image/preparation.h"

namespace fovea::tools {

inline constexpr WholeRange kImageSides = {1, 1 << 14};

// Means and deviations of red, green and blue.
using ColourNumbers = std::array<float, 3>;
inline constexpr ColourNumbers kHalf = {0.5f, 0.5f, 0.5f};
inline constexpr ColourNumbers kImagenetMean = {0.485f, 0.456f, 0.406f};
inline constexpr ColourNumbers kImagenetDeviation = {0.229f, 0.224f, 0.225f};
inline constexpr ColourNumbers kClipMean = {0.48145466f, 0.4578275f, 0.40821073f};
inline constexpr ColourNumbers kClipDeviation = {0.26862954f, 0.26130258f, 0.27577711f};

// A number for both sides, [height, width], or an object with both.
Extent ReadSides(const JsonView& value);

// A number for all channels, or one for each; `absent` for null.
std::vector<float> ReadColourNumbers(const JsonView& value, const ColourNumbers& absent, RealRange range);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_IMAGE_SETTINGS_H_
