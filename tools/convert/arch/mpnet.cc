// MPNet: BERT without token types, with a bias by distance that all layers share. The published code always buckets
// distances up to 128 into 32 and starts positions at 2, whatever the configuration says.
#include "tools/base/fail.h"
#include "tools/convert/arch/post_norm_encoder.h"
#include "tools/convert/constants.h"

namespace fovea::tools {

void DescribeMpnet(const Checkpoint& checkpoint, Description& description) {
  PostNormEncoder encoder = EncoderFromConfig(checkpoint.config);
  checkpoint.config.Only("relative_attention_num_buckets", 32);
  encoder.prefix = "mpnet";
  encoder.layer = [](uint32_t i) {
    const std::string at = fmt::format("encoder.layer.{}.", i);
    return LayerNames{at + "attention.attn.q", at + "attention.attn.k",    at + "attention.attn.v",
                      at + "attention.attn.o", at + "attention.LayerNorm", at + "intermediate.dense",
                      at + "output.dense",     at + "output.LayerNorm"};
  };
  encoder.first_position = 2;
  const std::string buckets = StoredPrefix(encoder, description.weights) + "encoder.relative_attention_bias.weight";
  encoder.distance_bias = "encoder.distance_bias";
  description.weights.Add(encoder.distance_bias, RelativeBuckets(description.weights.Get(buckets), 128));
  encoder.pooler = "pooler.dense";
  encoder.sequence.dense = "classifier.dense";
  encoder.sequence.out = "classifier.out_proj";
  encoder.language.dense = "lm_head.dense";
  encoder.language.activation = "gelu";  // whatever the layers have
  encoder.language.norm = "lm_head.layer_norm";
  encoder.language.out = "lm_head.decoder";
  encoder.language_bias = "lm_head.bias";
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
