// Constants for features of audio: for `spectrum` and the linear layers after it. All are stored as f32, regardless of
// --weights, since powers of neighbouring bins differ by many orders of magnitude.
#ifndef FOVEA_TOOLS_CONVERT_SOUND_CONSTANTS_H_
#define FOVEA_TOOLS_CONVERT_SOUND_CONSTANTS_H_

#include <string>

#include "tools/convert/weights.h"

namespace fovea::tools {

// [2, size]: cosines, then sines, of 2 pi i / size.
Constant RootsOfUnity(uint32_t size);

// [1, length]. hann: 0.5 - 0.5 cos(2 pi i / length), or with `periodic` false of i / (length - 1); hamming: 0.54 and
// 0.46 instead; povey: hann to the power of 0.85; ones: no window.
struct WindowSpec {
  uint32_t length = 0;
  std::string kind = "hann";
  bool periodic = true;
};
Constant Window(const WindowSpec& spec);

// [filters, size / 2 + 1]: triangles, equally spaced on the mel scale. `scale`: htk, 1127 ln(1 + f / 700), or slaney,
// which is linear up to 1000 Hz. Sides are straight on that scale (`straight_in_mel`) or in Hz. `area`: divided by half
// of their widths in Hz.
struct MelSpec {
  uint32_t filters = 0;
  uint32_t size = 0;  // size of the transform
  double rate = 16000;
  double lowest = 0;
  double highest = 0;
  std::string scale = "htk";
  bool straight_in_mel = false;
  bool area = false;
};
Constant MelFilters(const MelSpec& spec);

// [rows, width] of the discrete cosine transform: sqrt(2 / width) cos(pi r (2 i + 1) / (2 width)).
Constant CosineTransform(uint32_t rows, uint32_t width);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SOUND_CONSTANTS_H_
