// How a model wants its pictures: what the image processor of its authors does, in the words of the blob's metadata
// (tools/convert/README.md), and the same done to a picture.
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
    kNone,      // pictures are as large as they are
    kStretch,   // to `size`, whatever their shape
    kShortest,  // the shorter side becomes size.height, but the longer one at most `most` (0: any)
    kLongest,   // the longer side becomes size.height
  };
  Fit fit = Fit::kNone;
  Extent size;
  uint32_t most = 0;
  std::optional<Filter> filter = Filter::kBilinear;  // none: the nearest pixel
  bool exact = false;                                // resized as floats, without rounding
  Extent crop;                                       // then this much of the middle, zeros where there is less
  Extent pad;                                        // at last zeros to the right and below, up to this
  double factor = 1;                                 // of the bytes
  std::vector<float> mean, deviation;                // then less this, over this; empty: as it is
  bool blue_first = false;

  // Of a channel: what is taken from it, and what that is divided by.
  float Mean(size_t channel) const { return OfChannel(mean, channel, 0); }
  float Deviation(size_t channel) const { return OfChannel(deviation, channel, 1); }

  // The size of what comes of it, which is that of the program if the converter was not asked for another.
  Extent Made() const;

 private:
  static float OfChannel(const std::vector<float>& numbers, size_t channel, float absent) {
    return numbers.empty() ? absent : numbers[numbers.size() == 1 ? 0 : channel];
  }
};

// As metadata: key and value. And back; fails with the key. Nothing where there are no such keys.
std::vector<std::pair<std::string, std::string>> ToMetadata(const Preparation& preparation);
std::optional<Preparation> FromMetadata(const std::function<const char*(const std::string&)>& value);

// Numbers for a program over pictures of `wanted`, channel by channel: 1 channel (grey) or 3. Where it is of another
// size than what the processor makes, all sizes change in proportion, and what is left over is cut off evenly.
std::vector<float> Prepare(const Preparation& preparation, const Picture& picture, uint32_t channels, Extent wanted);

// Which of these sizes a picture takes: the one whose shape is nearest to its own, by the logarithm of their ratio; of
// equal ones that of the nearest area, of equal ones the first.
size_t NearestSize(const std::vector<Extent>& sizes, Extent picture);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_PREPARATION_H_
