// Classes of an image's pixels, by a model for semantic segmentation.
#ifndef FOVEA_TOOLS_RUN_SEGMENTATION_H_
#define FOVEA_TOOLS_RUN_SEGMENTATION_H_

#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/media/picture_inputs.h"

namespace fovea::tools {

// Whether the model's task is semantic segmentation.
bool SegmentsPictures(const Model& model);

// The class of each pixel, row by row: scores are resized bilinearly to the size of the image, then the class with the
// highest score is taken, as post_process_semantic_segmentation of the original image processors does. `which`: index
// of the image in the run. Fails if the program has no scores of cells (metadata layout.logits).
std::vector<uint16_t> PixelClasses(const Model& model, const Session& session, size_t which, Extent size);

// The classes that occur, by their share of the image, at most `top`: class, label, pixels and share.
OrderedJson SharesOf(const Model& model, const std::vector<uint16_t>& classes, uint32_t top);

// Adds shares to the entries of a run, one for each image; writes the classes of its only image as a PNG of a palette
// unless `mask` is empty.
void AddSegments(const Model& model, const PictureRun& run, uint32_t top, const std::string& mask,
                 std::vector<OrderedJson>& entries);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_RUN_SEGMENTATION_H_
