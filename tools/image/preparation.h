// Prepares images as the model's image processor does; described by the blob's metadata
// (tools/convert/families/images.md).
#ifndef FOVEA_TOOLS_IMAGE_PREPARATION_H_
#define FOVEA_TOOLS_IMAGE_PREPARATION_H_

#include <stdint.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/image/resize.h"

namespace fovea::tools {

struct Extent {
  uint32_t height = 0, width = 0;
  bool none() const { return height == 0; }
};

struct Preparation {
  enum class Fit {
    kNone,      // no resizing
    kStretch,   // to `size`, ignoring the aspect ratio
    kShortest,  // shorter side to size.height, longer side at most `most` (0: no limit)
    kLongest,   // longer side to size.height
    kCover,     // as small as covers `size`, sides rounded (ResizeKeepRatio of timm and open_clip)
    kContain,   // as large as fits into `size`, likewise
  };
  Fit fit = Fit::kNone;
  Extent size;
  uint32_t most = 0;
  std::optional<Filter> filter = Filter::kBilinear;  // none: nearest neighbour
  bool exact = false;                                // resized as floats, without rounding
  Extent crop;                                       // then the centre of this size, with `fill` around less
  std::vector<float> fill;                           // as bytes, per channel; empty: 0
  bool even_crop = false;                            // an odd pixel is cut as torchvision does, see Crop
  Extent pad;                                        // finally zeros on the right and below, up to this size
  double factor = 1;                                 // multiplies the bytes
  std::vector<float> mean, deviation;                // then (x - mean) / deviation, per channel; empty: unchanged
  bool blue_first = false;

  // Per channel; defaults 0, 0 and 1.
  float Fill(size_t channel) const { return OfChannel(fill, channel, 0); }
  float Mean(size_t channel) const { return OfChannel(mean, channel, 0); }
  float Deviation(size_t channel) const { return OfChannel(deviation, channel, 1); }

  // The size of the result: that of the program, unless the converter was given another --image-size.
  Extent Made() const;

 private:
  static float OfChannel(const std::vector<float>& numbers, size_t channel, float absent) {
    return numbers.empty() ? absent : numbers[numbers.size() == 1 ? 0 : channel];
  }
};

// Converts to and from metadata (keys and values); parsing fails with the key, and returns nothing without such keys.
std::vector<std::pair<std::string, std::string>> ToMetadata(const Preparation& preparation);
std::optional<Preparation> FromMetadata(const std::function<const char*(const std::string&)>& value);

// The input of a program for images of `wanted` pixels, channel by channel: 1 channel (grey) or 3. If the image
// processor produces another size, all its sizes are scaled in proportion, and the excess is cropped evenly.
std::vector<float> Prepare(const Preparation& preparation, const Picture& picture, uint32_t channels, Extent wanted);

// The index of the size for an image: nearest aspect ratio by the logarithm of their quotient, then nearest area, then
// first.
size_t NearestSize(const std::vector<Extent>& sizes, Extent picture);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_PREPARATION_H_
