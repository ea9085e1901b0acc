// Models that score a pair of texts: the number that the original prints for the model's only logit.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_CROSS_ENCODER_H_
#define FOVEA_TOOLS_CONVERT_ARCH_CROSS_ENCODER_H_

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

// For a classifier of one class: sets metadata score_activation to "sigmoid" or "none". The configured function if
// there is one, none for a regression, else sigmoid, as for sentence-transformers' CrossEncoder and transformers'
// TextClassificationPipeline.
void DescribeScore(const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CROSS_ENCODER_H_
