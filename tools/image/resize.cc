// Resizes images.
#include "tools/image/resize.h"

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr int kFraction = 22;  // fractional bits of a weight

struct FixedTaps {
  uint32_t first;
  std::vector<int32_t> weights;
};

std::vector<FixedTaps> Fixed(const std::vector<Taps>& taps) {
  std::vector<FixedTaps> fixed;
  for (const Taps& of : taps) {
    fixed.push_back({of.first, {}});
    for (const double weight : of.weights) {
      const double scaled = weight * (1 << kFraction);
      fixed.back().weights.push_back(static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
    }
  }
  return fixed;
}

// Resizes one line; its pixels are `from_step` bytes apart.
void ResizeLine(const uint8_t* from, size_t from_step, const std::vector<FixedTaps>& taps, uint8_t* to,
                size_t to_step) {
  for (const FixedTaps& of : taps) {
    int64_t sum = int64_t{1} << (kFraction - 1);
    const uint8_t* at = from + of.first * from_step;
    for (const int32_t weight : of.weights) {
      sum += int64_t{*at} * weight;
      at += from_step;
    }
    *to = static_cast<uint8_t>(std::clamp<int64_t>(sum >> kFraction, 0, 255));
    to += to_step;
  }
}

void ResizeLine(const float* from, size_t from_step, const std::vector<Taps>& taps, float* to, size_t to_step) {
  for (const Taps& of : taps) {
    double sum = 0;
    for (size_t i = 0; i < of.weights.size(); ++i) sum += of.weights[i] * from[(of.first + i) * from_step];
    *to = static_cast<float>(sum);
    to += to_step;
  }
}

// The nearest source index for each of `to` indices.
std::vector<uint32_t> Nearest(uint32_t from, uint32_t to) {
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < to; ++i) {
    const double place = (i + 0.5) * (static_cast<double>(from) / to);
    places.push_back(std::min(static_cast<uint32_t>(place), from - 1));
  }
  return places;
}

void Check(uint32_t height, uint32_t width) {
  constexpr uint32_t kMost = 1u << 16;
  if (height == 0 || width == 0 || height > kMost || width > kMost) {
    Fail("an image cannot be resized to {} x {}", height, width);
  }
}

}  // namespace

Picture Resize(const Picture& picture, uint32_t height, uint32_t width, std::optional<Filter> filter) {
  Check(height, width);
  const uint32_t n = picture.channels;
  Picture out = {width, height, n, {}};
  if (!filter) {
    const std::vector<uint32_t> down = Nearest(picture.height, height), across = Nearest(picture.width, width);
    for (const uint32_t y : down) {
      for (const uint32_t x : across) {
        const auto pixel = picture.pixels.begin() + static_cast<ptrdiff_t>((uint64_t{y} * picture.width + x) * n);
        out.pixels.insert(out.pixels.end(), pixel, pixel + n);
      }
    }
    return out;
  }
  Picture wide;
  const bool wider = width != picture.width;
  if (wider) {
    const std::vector<FixedTaps> taps = Fixed(FilterTaps(*filter, picture.width, width));
    wide = {width, picture.height, n, std::vector<uint8_t>(uint64_t{width} * picture.height * n)};
    for (uint64_t y = 0; y < picture.height; ++y) {
      for (uint32_t c = 0; c < n; ++c) {
        ResizeLine(picture.pixels.data() + y * picture.width * n + c, n, taps, wide.pixels.data() + y * width * n + c,
                   n);
      }
    }
  }
  const Picture& rows = wider ? wide : picture;
  if (height == picture.height) return rows;
  const std::vector<FixedTaps> taps = Fixed(FilterTaps(*filter, picture.height, height));
  const size_t row = size_t{width} * n;
  out.pixels.resize(row * height);
  for (size_t x = 0; x < row; ++x) ResizeLine(rows.pixels.data() + x, row, taps, out.pixels.data() + x, row);
  return out;
}

Planes Resize(const Planes& planes, uint32_t height, uint32_t width, std::optional<Filter> filter) {
  Check(height, width);
  Planes out = {width, height, planes.channels, {}};
  const size_t size = size_t{planes.width} * planes.height;
  for (uint32_t c = 0; c < planes.channels; ++c) {
    const float* plane = planes.values.data() + c * size;
    if (!filter) {
      for (const uint32_t y : Nearest(planes.height, height)) {
        for (const uint32_t x : Nearest(planes.width, width))
          out.values.push_back(plane[uint64_t{y} * planes.width + x]);
      }
      continue;
    }
    const std::vector<Taps> across = FilterTaps(*filter, planes.width, width);
    const std::vector<Taps> down = FilterTaps(*filter, planes.height, height);
    std::vector<float> wide(size_t{width} * planes.height), made(size_t{width} * height);
    for (size_t y = 0; y < planes.height; ++y) ResizeLine(plane + y * planes.width, 1, across, &wide[y * width], 1);
    for (size_t x = 0; x < width; ++x) ResizeLine(&wide[x], width, down, &made[x], width);
    out.values.insert(out.values.end(), made.begin(), made.end());
  }
  return out;
}

}  // namespace fovea::tools
