// Antialiased resampling along a line, as in Pillow and PyTorch: an output sample is a weighted mean of input samples,
// by a filter that is widened in proportion when downsampling.
#ifndef FOVEA_TOOLS_BASE_FILTER_TAPS_H_
#define FOVEA_TOOLS_BASE_FILTER_TAPS_H_

#include <stdint.h>

#include <vector>

namespace fovea::tools {

enum class Filter { kBox, kBilinear, kHamming, kBicubic, kLanczos };

// Weights, with sum 1, of the input samples from `first` on.
struct Taps {
  uint32_t first = 0;
  std::vector<double> weights;
};

// Taps of each of `to` output samples that are resampled from `from` input samples.
std::vector<Taps> FilterTaps(Filter filter, uint32_t from, uint32_t to);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_FILTER_TAPS_H_
