// Constants for features of audio.
#include "tools/convert/sound_constants.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr double kPi = 3.14159265358979323846;

template <typename At>
Constant Table(uint32_t rows, uint32_t width, const At& at) {
  const auto load = [rows, width, at] {
    std::vector<float> table;
    table.reserve(uint64_t{rows} * width);
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t c = 0; c < width; ++c) table.push_back(static_cast<float>(at(r, c)));
    }
    return table;
  };
  Constant constant = {rows, width, load};
  constant.shortest = Shortest::kF32;
  return constant;
}

double Mel(const MelSpec& spec, double hertz) {
  if (spec.scale == "htk") return 1127 * log(1 + hertz / 700);
  return hertz < 1000 ? hertz * 3 / 200 : 15 + log(hertz / 1000) * 27 / log(6.4);
}

double Hertz(const MelSpec& spec, double mel) {
  if (spec.scale == "htk") return 700 * (exp(mel / 1127) - 1);
  return mel < 15 ? mel * 200 / 3 : 1000 * exp((mel - 15) * log(6.4) / 27);
}

}  // namespace

Constant RootsOfUnity(uint32_t size) {
  if (size == 0) Fail("a transform needs a size above 0");
  return Table(2, size, [size](uint32_t r, uint32_t i) {
    const double angle = 2 * kPi * i / size;
    return r == 0 ? cos(angle) : sin(angle);
  });
}

Constant Window(const WindowSpec& spec) {
  if (spec.length < 2) Fail("a window of {} samples is too short", spec.length);
  const bool hamming = spec.kind == "hamming", povey = spec.kind == "povey", ones = spec.kind == "ones";
  if (!hamming && !povey && !ones && spec.kind != "hann")
    Fail("window {} is not hann, hamming, povey or ones", spec.kind);
  const double period = spec.periodic ? spec.length : spec.length - 1, base = hamming ? 0.54 : 0.5;
  return Table(1, spec.length, [=](uint32_t, uint32_t i) {
    const double value = base - (1 - base) * cos(2 * kPi * i / period);
    return ones ? 1 : povey ? pow(std::max(value, 0.0), 0.85) : value;
  });
}

Constant MelFilters(const MelSpec& spec) {
  if (spec.scale != "htk" && spec.scale != "slaney") Fail("mel scale {} is not htk or slaney", spec.scale);
  if (spec.filters == 0 || spec.size == 0 || !(spec.rate > 0) || !(spec.lowest >= 0) || !(spec.highest > spec.lowest)) {
    Fail("mel filters cannot be made: {} from {} to {} Hz", spec.filters, spec.lowest, spec.highest);
  }
  const double low = Mel(spec, spec.lowest), step = (Mel(spec, spec.highest) - low) / (spec.filters + 1);
  return Table(spec.filters, spec.size / 2 + 1, [=](uint32_t filter, uint32_t bin) {
    double edge[3];
    for (int i = 0; i < 3; ++i) {
      edge[i] = low + step * (filter + i);
      if (!spec.straight_in_mel) edge[i] = Hertz(spec, edge[i]);
    }
    const double hertz = bin * spec.rate / spec.size, at = spec.straight_in_mel ? Mel(spec, hertz) : hertz;
    const double side = std::min((at - edge[0]) / (edge[1] - edge[0]), (edge[2] - at) / (edge[2] - edge[1]));
    const double width = Hertz(spec, low + step * (filter + 2)) - Hertz(spec, low + step * filter);
    return std::max(0.0, side) * (spec.area ? 2 / width : 1);
  });
}

Constant CosineTransform(uint32_t rows, uint32_t width) {
  if (rows == 0 || rows > width)
    Fail("a cosine transform cannot be [{}, {}]: it needs from 1 to width rows", rows, width);
  return Table(rows, width, [width](uint32_t r, uint32_t i) {
    return sqrt(2.0 / width) * cos(kPi * r * (2.0 * i + 1) / (2.0 * width));
  });
}

}  // namespace fovea::tools
