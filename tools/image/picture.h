// Images in RGB with 8 bits per channel, read from PNG, JPEG, WebP, GIF and BMP files.
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

// Reads PNG, JPEG, WebP, GIF and BMP of every usual kind (the first image of an animation), and applies the orientation
// that Exif or XMP specifies. "-" is standard input. Grey is repeated in three channels, palettes are expanded,
// transparency is dropped, and of 16 bits the upper 8 are kept. Inks (CMYK) of JPEG are converted to RGB. Fails with
// the file and the fault.
Picture ReadPicture(const std::string& path);
Picture ParsePicture(const uint8_t* data, uint64_t size);

// Luminance: (299 red + 587 green + 114 blue) / 1000, rounded as in Pillow.
Picture Grey(const Picture& picture);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_PICTURE_H_
