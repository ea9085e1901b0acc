// The input of encoders of images: images of one size in the caller's layout (channels, then rows, then columns), cut
// into patches. The size is a constant of a blob.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_IMAGE_INPUT_H_
#define FOVEA_TOOLS_CONVERT_ARCH_IMAGE_INPUT_H_

#include <string>
#include <vector>

#include "tools/convert/arch/architecture.h"
#include "tools/convert/constants.h"

namespace fovea::tools {

// Patches that extend beyond the right or lower border of the image.
enum class PartialPatches { kDropped, kPadded };

// Square patches that may overlap, `stride` pixels apart, with `padding` zeros around the image.
struct OverlappingPatches {
  uint32_t size, stride, padding;
};

// The key of config.json with the size of images, and default sizes; 0: config.json must have the size.
struct ImageSizes {
  uint32_t image = 0, patch = 0;
  const char* key = "image_size";
};

class ImageInput {
 public:
  // The size is that of config.json, or the requested one.
  ImageInput(const Checkpoint& checkpoint, PartialPatches partial, const ImageSizes& sizes = {});
  // For models whose shapes do not depend on the size: it is that of preprocessor_config.json, or must be requested.
  ImageInput(const Checkpoint& checkpoint, const OverlappingPatches& patches);

  Grid patches() const { return Patches(image_); }
  Grid trained_patches() const { return Patches(trained_); }  // with the configured size

  // With the configured size, without partial patches.
  Grid whole_trained_patches() const { return {trained_.rows / patch_.rows, trained_.columns / patch_.columns}; }

  // "images" and its child "strips": rows of as many pixels as divide the widths of images and patches. Their values
  // are the image in the order of memory.
  std::vector<Space> Spaces() const;
  Input Pixels() const;  // pixel_values
  void SetMetadata(Description& description) const;
  // For arrange: a row of pixels (channel, y, x) for each patch after `leading` rows of zeros. A patch begins and ends
  // with whole strips: Filters puts zeros where these have more pixels than the patch.
  Constant PatchTable(uint32_t leading) const;
  Constant Filters(const Constant& stored) const;

 private:
  void SetStrip();
  Grid Patches(Grid image) const;
  uint32_t PixelsBefore() const { return (strip_ - padding_ % strip_) % strip_; }  // a patch, in its first strip
  uint32_t StripsInRow() const { return (PixelsBefore() + patch_.columns + strip_ - 1) / strip_; }

  uint32_t channels_;
  Grid image_, trained_, patch_, stride_;
  uint32_t padding_ = 0;
  PartialPatches partial_;
  uint32_t strip_ = 0;  // pixels of a row that the stride and the width divide into
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_IMAGE_INPUT_H_
