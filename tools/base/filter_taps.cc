// Antialiased resampling along a line.
#include "tools/base/filter_taps.h"

#include <math.h>

#include <algorithm>

namespace fovea::tools {
namespace {

constexpr double kPi = 3.14159265358979323846;

double Sinc(double x) { return x == 0 ? 1 : sin(kPi * x) / (kPi * x); }

// Radius of a filter, in samples.
double Support(Filter filter) {
  switch (filter) {
    case Filter::kBox:
      return 0.5;
    case Filter::kBilinear:
    case Filter::kHamming:
      return 1;
    case Filter::kBicubic:
      return 2;
    case Filter::kLanczos:
      return 3;
  }
  return 0;
}

double Weight(Filter filter, double x) {
  constexpr double kA = -0.5;  // parameter a of bicubic interpolation
  if (filter == Filter::kBox) return x > -0.5 && x <= 0.5 ? 1 : 0;
  if (filter == Filter::kLanczos) return x >= -3 && x < 3 ? Sinc(x) * Sinc(x / 3) : 0;
  x = fabs(x);
  if (filter == Filter::kBilinear) return x < 1 ? 1 - x : 0;
  if (filter == Filter::kHamming) return x < 1 ? Sinc(x) * (0.54 + 0.46 * cos(kPi * x)) : 0;
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

}  // namespace

std::vector<Taps> FilterTaps(Filter filter, uint32_t from, uint32_t to) {
  const double scale = static_cast<double>(from) / to, stretch = std::max(scale, 1.0);
  const double support = Support(filter) * stretch;
  std::vector<Taps> taps(to);
  for (uint32_t i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale;
    const auto first = static_cast<uint32_t>(std::max(center - support + 0.5, 0.0));
    const auto end = static_cast<uint32_t>(std::min(center + support + 0.5, static_cast<double>(from)));
    taps[i].first = first;
    double sum = 0;
    for (uint32_t x = first; x < end; ++x) {
      taps[i].weights.push_back(Weight(filter, (x - center + 0.5) / stretch));
      sum += taps[i].weights.back();
    }
    for (double& weight : taps[i].weights) weight /= sum;
  }
  return taps;
}

}  // namespace fovea::tools
