// Converts the model's image input back to an image.
#ifndef FOVEA_TOOLS_ATTEND_SHOWN_PICTURE_H_
#define FOVEA_TOOLS_ATTEND_SHOWN_PICTURE_H_

#include "tools/image/preparation.h"

namespace fovea::tools {

// `values`: channel by channel; of more than three channels the first three are used. Without a preparation the
// lowest number becomes black and the highest white.
Picture ShownPicture(const float* values, uint32_t channels, Extent size,
                     const std::optional<Preparation>& preparation);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_SHOWN_PICTURE_H_
