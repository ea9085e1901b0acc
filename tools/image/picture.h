// Pictures: PNG and JPEG files, read as 8 bits of red, green and blue.
#ifndef FOVEA_TOOLS_IMAGE_PICTURE_H_
#define FOVEA_TOOLS_IMAGE_PICTURE_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct Picture {
  uint32_t width = 0, height = 0, channels = 3;
  std::vector<uint8_t> pixels;  // row by row, the channels of a pixel beside each other
};

// PNG of every kind (of an animation its first picture) and JPEG, baseline or progressive, turned as its Exif
// orientation says. "-" is standard input. Grey becomes three equal
// channels, a palette its colours; transparency is left out and of 16 bits the upper 8 are kept. CMYK of JPEG becomes
// RGB where Adobe's marker says how it is meant. Fails with the file and what is wrong.
Picture ReadPicture(const std::string& path);
std::vector<Picture> ReadPictures(const std::vector<std::string>& paths);
Picture ParsePicture(const uint8_t* data, uint64_t size);

// One channel: (299 red + 587 green + 114 blue) / 1000, as Pillow rounds it.
Picture Grey(const Picture& picture);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_PICTURE_H_
