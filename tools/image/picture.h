// Images in RGB with 8 bits per channel, read from PNG and JPEG files.
#ifndef FOVEA_TOOLS_IMAGE_PICTURE_H_
#define FOVEA_TOOLS_IMAGE_PICTURE_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct Picture {
  uint32_t width = 0, height = 0, channels = 3;
  std::vector<uint8_t> pixels;  // row by row, the channels of a pixel adjacent
};

// Reads PNG of every kind (the first image of an animation) and JPEG, baseline or progressive, and applies the Exif
// orientation. "-" is standard input. Grey is repeated in three channels, palettes are expanded, transparency is
// dropped, and of 16 bits the upper 8 are kept. CMYK JPEG is converted to RGB if Adobe's marker specifies its meaning.
// Fails with the file and the fault.
Picture ReadPicture(const std::string& path);
std::vector<Picture> ReadPictures(const std::vector<std::string>& paths);
Picture ParsePicture(const uint8_t* data, uint64_t size);

// Luminance: (299 red + 587 green + 114 blue) / 1000, rounded as in Pillow.
Picture Grey(const Picture& picture);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_PICTURE_H_
