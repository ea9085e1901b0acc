// Picture files as models of pictures take them.
#include "tools/image/image.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/image/stb.h"

namespace fovea::tools {
namespace {

uint8_t ToByte(double value) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

double Triangle(double x) { return std::max(0.0, 1.0 - fabs(x)); }

// Keys' cubic with a = -0.5.
double Cubic(double x) {
  x = fabs(x);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

// How the pixels of a line of `from` make those of a line of `to`.
struct Taps {
  struct Pixel {
    uint32_t first;
    std::vector<double> weights;
  };
  std::vector<Pixel> pixels;

  Taps(uint32_t from, uint32_t to, Resampling resampling) {
    const double scale = static_cast<double>(from) / to, wide = std::max(1.0, scale);
    const double reach = (resampling == Resampling::kBilinear ? 1.0 : 2.0) * wide;
    for (uint32_t i = 0; i < to; ++i) {
      const double center = (i + 0.5) * scale;
      const auto first = static_cast<uint32_t>(std::max(0.0, center - reach + 0.5));
      const auto end = static_cast<uint32_t>(std::min<double>(from, center + reach + 0.5));
      Pixel pixel = {first, {}};
      double sum = 0;
      for (uint32_t k = first; k < end; ++k) {
        const double x = (k + 0.5 - center) / wide;
        pixel.weights.push_back(resampling == Resampling::kBilinear ? Triangle(x) : Cubic(x));
        sum += pixel.weights.back();
      }
      for (double& weight : pixel.weights) weight /= sum;
      pixels.push_back(std::move(pixel));
    }
  }
};

}  // namespace

Picture ParsePicture(const uint8_t* data, uint64_t size, const std::string& where) {
  if (size > INT32_MAX) Fail("{}: too large for a picture file", where);
  Decoded decoded;
  if (!DecodePicture(data, static_cast<int>(size), &decoded)) {
    Fail("{}: not a PNG or JPEG file that can be read: {}", where, decoded.error == nullptr ? "broken" : decoded.error);
  }
  Picture picture{decoded.width, decoded.height, {}};
  picture.pixels.reserve(decoded.rgba.size() / 4 * 3);
  for (size_t i = 0; i < decoded.rgba.size(); i += 4) {
    const uint32_t alpha = decoded.rgba[i + 3];
    for (size_t k = 0; k < 3; ++k) {
      picture.pixels.push_back(static_cast<uint8_t>((decoded.rgba[i + k] * alpha + 255 * (255 - alpha) + 127) / 255));
    }
  }
  return picture;
}

Picture ReadPicture(const std::string& path) {
  const MappedFile file(path);
  return ParsePicture(file.data(), file.size(), path);
}

Picture Resized(const Picture& picture, uint32_t width, uint32_t height, Resampling resampling) {
  if (picture.width == width && picture.height == height) return picture;
  const Taps across(picture.width, width, resampling), down(picture.height, height, resampling);
  Picture narrow{width, picture.height, std::vector<uint8_t>(size_t{3} * width * picture.height)};
  for (uint32_t y = 0; y < picture.height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      const Taps::Pixel& taps = across.pixels[x];
      for (size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (size_t k = 0; k < taps.weights.size(); ++k) {
          sum += taps.weights[k] * picture.pixels[(size_t{y} * picture.width + taps.first + k) * 3 + c];
        }
        narrow.pixels[(size_t{y} * width + x) * 3 + c] = ToByte(sum);
      }
    }
  }
  Picture made{width, height, std::vector<uint8_t>(size_t{3} * width * height)};
  for (uint32_t y = 0; y < height; ++y) {
    const Taps::Pixel& taps = down.pixels[y];
    for (size_t i = 0; i < size_t{3} * width; ++i) {
      double sum = 0;
      for (size_t k = 0; k < taps.weights.size(); ++k) {
        sum += taps.weights[k] * narrow.pixels[(taps.first + k) * 3 * width + i];
      }
      made.pixels[size_t{y} * 3 * width + i] = ToByte(sum);
    }
  }
  return made;
}

std::vector<float> PixelValues(const Picture& picture, uint32_t channels, const PixelScale& scale) {
  if (channels != 1 && channels != 3) Fail("pictures have 3 channels, or 1, not {}", channels);
  const size_t count = size_t{picture.width} * picture.height;
  std::vector<float> values;
  values.reserve(channels * count);
  for (uint32_t channel = 0; channel < channels; ++channel) {
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* pixel = &picture.pixels[3 * i];
      const double level = channels == 3 ? pixel[channel] : 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
      values.push_back((static_cast<float>(level / 255.0) - scale.Mean(channel)) / scale.Deviation(channel));
    }
  }
  return values;
}

Picture PictureOf(const float* values, uint32_t channels, uint32_t height, uint32_t width, const PixelScale& scale) {
  const size_t count = size_t{width} * height;
  Picture picture{width, height, std::vector<uint8_t>(3 * count)};
  for (size_t i = 0; i < 3 * count; ++i) {
    const uint32_t channel = channels < 3 ? 0 : static_cast<uint32_t>(i % 3);
    const double value = values[channel * count + i / 3];
    const double level = 255.0 * (value * scale.Deviation(channel) + scale.Mean(channel));
    picture.pixels[i] = level == level ? ToByte(level) : 0;
  }
  return picture;
}

std::string PngOf(const Picture& picture) {
  const std::string bytes = EncodePng(picture.pixels.data(), picture.width, picture.height);
  if (bytes.empty()) Fail("a picture of {} x {} cannot be written as PNG", picture.width, picture.height);
  return bytes;
}

}  // namespace fovea::tools
