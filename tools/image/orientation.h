// The orientation of images, as Exif and XMP metadata specify it.
#ifndef FOVEA_TOOLS_IMAGE_ORIENTATION_H_
#define FOVEA_TOOLS_IMAGE_ORIENTATION_H_

#include <stdint.h>

#include "tools/image/picture.h"

namespace fovea::tools {

// Exif orientation: 1 upright, 2 mirrored, 3 rotated by 180 degrees, ... 8.
constexpr uint32_t kUpright = 1;

// Metadata of a file, collected while its chunks are read. As in Pillow, XMP counts only if Exif has no orientation.
class Orientation {
 public:
  // A TIFF structure of either byte order, perhaps after "Exif\0\0". Invalid structures are ignored.
  void ReadExif(const uint8_t* data, uint64_t size);
  void ReadXmp(const uint8_t* data, uint64_t size);
  // Text of a PNG that ImageMagick writes: lines of a name and a length, then Exif in hexadecimal digits.
  void ReadHexadecimalExif(const uint8_t* data, uint64_t size);
  void TakeExif(const Orientation& other) { exif_ = other.exif_; }
  uint32_t Get() const;

 private:
  uint32_t exif_ = 0, xmp_ = 0;  // 0: none
};

// Rotates or mirrors an image of Exif orientation `from`.
Picture Upright(Picture picture, uint32_t from);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_ORIENTATION_H_
