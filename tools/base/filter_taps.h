// Antialiased resampling along a line, as Pillow and PyTorch define it: each place of the result is a weighted mean of
// places of the source, by a filter that is stretched where the line shrinks.
#ifndef FOVEA_TOOLS_BASE_FILTER_TAPS_H_
#define FOVEA_TOOLS_BASE_FILTER_TAPS_H_

#include <stdint.h>

#include <vector>

namespace fovea::tools {

enum class Filter { kBox, kBilinear, kHamming, kBicubic, kLanczos };

// Places of the source from `first` on and their weights, whose sum is 1.
struct Taps {
  uint32_t first = 0;
  std::vector<double> weights;
};

// One for each of `to` places that stand for `from`.
std::vector<Taps> FilterTaps(Filter filter, uint32_t from, uint32_t to);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_FILTER_TAPS_H_
