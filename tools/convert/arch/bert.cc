// BERT.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeBert(const Checkpoint& checkpoint, Description& description) {
  PostNormEncoder encoder = EncoderFromConfig(checkpoint.config);
  encoder.prefix = "bert";
  encoder.pooler = "pooler.dense";
  encoder.sequence.out = "classifier";
  encoder.language.dense = "cls.predictions.transform.dense";
  encoder.language.norm = "cls.predictions.transform.LayerNorm";
  encoder.language.out = "cls.predictions.decoder";
  encoder.language_bias = "cls.predictions.bias";
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
