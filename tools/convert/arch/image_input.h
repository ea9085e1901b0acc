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

// Square patches that may overlap: so many pixels from one to the next, and so many of zeros around the picture.
struct OverlappingPatches {
  uint32_t size, stride, padding;
};

// Where config.json has the size of images, and sizes where it does not say them; 0: it must.
struct ImageSizes {
  uint32_t image = 0, patch = 0;
  const char* key = "image_size";
};

class ImageInput {
 public:
  // From config.json, or of the size that was asked for.
  ImageInput(const Checkpoint& checkpoint, PartialPatches partial, const ImageSizes& sizes = {});
  // Where config.json says no size, preprocessor_config.json does, or it must be asked for.
  ImageInput(const Checkpoint& checkpoint, const OverlappingPatches& patches);

  Grid patches() const { return Patches(image_); }            // of a picture
  Grid trained_patches() const { return Patches(trained_); }  // of one as configured

  // Of one as configured, without what is only partly in it.
  Grid whole_trained_patches() const { return {trained_.rows / patch_.rows, trained_.columns / patch_.columns}; }

  // "images" and below it "strips", rows of as many pixels as divide the width of pictures and patches. Their values
  // are the picture as it lies in memory.
  std::vector<Space> Spaces() const;
  Input Pixels() const;  // pixel_values
  void SetMetadata(Description& description) const;
  // For arrange: a row of pixels (channel, y, x) for each patch after `leading` rows of zeros. A patch begins and ends
  // with whole strips: Filters puts zeros where that are more pixels than it has.
  Constant PatchTable(uint32_t leading) const;
  Constant Filters(const Constant& stored) const;

 private:
  void SetStrip();
  Grid Patches(Grid image) const;
  uint32_t PixelsBefore() const { return (strip_ - padding_ % strip_) % strip_; }  // of the patch in its first strip
  uint32_t StripsInRow() const { return (PixelsBefore() + patch_.columns + strip_ - 1) / strip_; }

  uint32_t channels_;
  Grid image_, trained_, patch_, stride_;
  uint32_t padding_ = 0;
  PartialPatches partial_;
  uint32_t strip_ = 0;  // pixels of a row that the stride and the width divide into
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_IMAGE_INPUT_H_
