// What a model is given of a picture, as a picture again.
#ifndef FOVEA_TOOLS_ATTEND_SHOWN_PICTURE_H_
#define FOVEA_TOOLS_ATTEND_SHOWN_PICTURE_H_

#include "tools/image/preparation.h"

namespace fovea::tools {

// `values` lie channel by channel; of more than three channels the first three are shown. Without a preparation the
// least number is black and the greatest white.
Picture ShownPicture(const float* values, uint32_t channels, Extent size,
                     const std::optional<Preparation>& preparation);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_SHOWN_PICTURE_H_
