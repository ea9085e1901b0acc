// What encoders of images read: pictures of one size, as the caller has them (channels, then rows, then columns), cut
// into patches. The size is a constant of a blob.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_IMAGE_INPUT_H_
#define FOVEA_TOOLS_CONVERT_ARCH_IMAGE_INPUT_H_

#include <string>
#include <vector>

#include "tools/convert/arch/architecture.h"
#include "tools/convert/constants.h"

namespace fovea::tools {

// Patches that only partly lie in the picture, at its right and lower border.
enum class PartialPatches { kDropped, kPadded };

class ImageInput {
 public:
  // From config.json, or of the size that was asked for.
  ImageInput(const Checkpoint& checkpoint, PartialPatches partial);

  Grid patches() const { return Patches(image_); }            // of a picture
  Grid trained_patches() const { return Patches(trained_); }  // of one as configured

  // "images" and below it "strips", rows of as many pixels as divide the width of pictures and patches. Their values
  // are the picture as it lies in memory.
  std::vector<Space> Spaces() const;
  Input Pixels() const;  // pixel_values
  void SetMetadata(Description& description) const;
  // For arrange: a row of pixels (channel, y, x) for each patch after `leading` rows of zeros.
  Constant PatchTable(uint32_t leading) const;

 private:
  Grid Patches(Grid image) const;

  uint32_t channels_;
  Grid image_, trained_, patch_;
  PartialPatches partial_;
  uint32_t strip_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_IMAGE_INPUT_H_
