// MPNet: BERT without token types, with a bias by distance that all layers share. The original always buckets
// distances up to 128 into 32 and begins positions at 2, regardless of the configuration.
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"
#include "tools/convert/constants.h"

namespace fovea::tools {

// The original: transformers/models/mpnet/modeling_mpnet.py: MPNetModel.
void DescribeMpnet(const Checkpoint& checkpoint, Description& description) {
  BertLike family = EncoderFromConfig(checkpoint.config);
  checkpoint.config.Only("relative_attention_num_buckets", 32);
  family.prefix = "mpnet";
  family.layer = [](const std::string& root, uint32_t i) {
    const std::string at = fmt::format("{}encoder.layer.{}.", root, i);
    return StackLayer{
        .attention = {.query = at + "attention.attn.q",
                      .key = at + "attention.attn.k",
                      .value = at + "attention.attn.v",
                      .output = at + "attention.attn.o",
                      .sum_norm = at + "attention.LayerNorm"},
        .feed_forward = {
            .up = at + "intermediate.dense", .down = at + "output.dense", .sum_norm = at + "output.LayerNorm"}};
  };
  family.first_position = 2;
  SetRobertaHeads(family);
  LayerStack stack = BertStack(family, description);
  const std::string buckets = RootOf(family, description.weights) + "encoder.relative_attention_bias.weight";
  stack.distance_bias = "encoder.distance_bias";
  description.weights.Add(stack.distance_bias, RelativeBuckets(description.weights.Get(buckets), 128));
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
