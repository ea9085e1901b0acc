// BERT.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeBert(const Checkpoint& checkpoint, Description& description) {
  PostNormEncoder encoder = BertFromConfig(checkpoint.config);
  encoder.prefix = "bert";
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
