// Picture files, PNG and JPEG, as models of pictures take them, and pictures as PNG.
#ifndef FOVEA_TOOLS_IMAGE_IMAGE_H_
#define FOVEA_TOOLS_IMAGE_IMAGE_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

// Red, green, blue of each pixel, row by row.
struct Picture {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> pixels;
};

// At most 16384 pixels to a side and 2^26 in all. Pixels that are not opaque are laid on white. Fails with the file and
// what is wrong.
Picture ReadPicture(const std::string& path);
Picture ParsePicture(const uint8_t* data, uint64_t size, const std::string& where);

enum class Resampling { kBilinear, kBicubic };

// Both filters are widened where the picture becomes smaller, so that every pixel counts.
Picture Resized(const Picture& picture, uint32_t width, uint32_t height, Resampling resampling);

// How numbers are made of pixels: (pixel / 255 - mean) / deviation, a mean and a deviation for each channel.
struct PixelScale {
  std::vector<float> mean, deviation;  // empty: 0 and 1; one: of all channels
  // Of a channel.
  float Mean(uint32_t channel) const { return mean.empty() ? 0.0f : mean[channel % mean.size()]; }
  float Deviation(uint32_t channel) const { return deviation.empty() ? 1.0f : deviation[channel % deviation.size()]; }
};

// Channel by channel: 3, or 1, of which red, green and blue are weighed as their brightness.
std::vector<float> PixelValues(const Picture& picture, uint32_t channels, const PixelScale& scale);
// And back, for people: one or three channels, of more the first three.
Picture PictureOf(const float* values, uint32_t channels, uint32_t height, uint32_t width, const PixelScale& scale);

// The bytes of a PNG file.
std::string PngOf(const Picture& picture);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_IMAGE_H_
