// Longformer: RoBERTa whose rows see a window and the global rows; these have projections of their own and see all.
#include "tools/base/fail.h"
#include "tools/convert/arch/longformer_attention.h"
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {
void DescribeLongformer(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  PostNormEncoder encoder = RobertaFromConfig(config);
  encoder.prefix = "longformer";
  const std::vector<uint32_t> sides = LongformerSides(config, encoder.layers);
  const Json& dilation = config.Get("attention_dilation");
  for (const Json& rate : dilation.is_array() ? dilation : Json::array({dilation})) {
    if (!rate.is_null() && rate != 1) Fail("config.json: attention_dilation {} is not supported", dilation.dump());
  }
  config.Only("autoregressive", false);
  for (const char* key : {"attention_mode", "ignore_attention_mask", "onnx_export"}) config.Get(key);

  // The classifier reads the first row, and the published code makes that one global.
  const bool first = checkpoint.task == Task::kSequenceClassification;
  encoder.begin = [=, &description](ProgramBuilder& b) {
    description.spaces.push_back(GlobalRowsSpace(first));
    AddGlobalRows(b, first);
  };
  encoder.attention = [=, heads = encoder.heads, &description](ProgramBuilder& b, const AttentionSite& site) {
    const LayerNames& names = site.names;
    return AddLongformerAttention(
        {heads, sides[site.layer], site.x, names.query, names.key, names.value, site.at, "", site.layer}, b,
        description);
  };
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
