// Readers of image formats beside PNG and JPEG, which stb_image decodes. Each reads the first image of a file, checks
// every offset and count, and fails with a description of the fault.
#ifndef FOVEA_TOOLS_IMAGE_FORMATS_H_
#define FOVEA_TOOLS_IMAGE_FORMATS_H_

#include <stdint.h>

#include "tools/image/picture.h"

namespace fovea::tools {

// Most pixels of an image: 2^28, 768 MiB in RGB.
constexpr uint64_t kMostPixels = uint64_t{1} << 28;

// Fails if an image has no pixels or too many.
void CheckPixels(uint64_t height, uint64_t width);

// GIF 87a and 89a, with the colours of transparent pixels, as Pillow converts them to RGB.
Picture ParseGif(const uint8_t* data, uint64_t size);

// Bitmaps of Windows and OS/2: palettes of 1, 2, 4 and 8 bits, also run-length encoded, and colours of 16, 24 and 32
// bits, also with masks.
Picture ParseBmp(const uint8_t* data, uint64_t size);

// WebP, lossy, lossless, with alpha or animated, upright by its metadata. Needs libwebp at build time.
Picture ParseWebp(const uint8_t* data, uint64_t size);

// JPEG that stb_image does not decode: arithmetic coding, or four channels without Adobe's marker. The file was checked
// by CheckJpeg and has `components` channels. Needs libjpeg at build time.
Picture ParseRareJpeg(const uint8_t* data, uint64_t size, uint32_t components);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_FORMATS_H_
