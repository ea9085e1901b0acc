// Longformer: RoBERTa whose tokens see a window and the global tokens; these have separate projections and see all.
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"
#include "tools/convert/arch/longformer_attention.h"

namespace fovea::tools {

// The original: transformers/models/longformer/modeling_longformer.py: LongformerModel.
void DescribeLongformer(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family = RobertaFromConfig(config);
  family.prefix = "longformer";
  const Json& dilation = config.Get("attention_dilation");
  for (const Json& rate : dilation.is_array() ? dilation : Json::array({dilation})) {
    if (!rate.is_null() && rate != 1) Fail("config.json: attention_dilation {} is not supported", dilation.dump());
  }
  config.Only("autoregressive", false);
  // The ways to compute the same attention, and an export's.
  config.Ignore({"attention_mode", "ignore_attention_mask", "onnx_export"});
  if (checkpoint.task == Task::kQuestionAnswering || checkpoint.task == Task::kMultipleChoice) {
    // All tokens of the question: known only from the text.
    Fail(
        "config.json: this head makes the tokens of a question global, which is not supported; --task embedding "
        "converts the encoder without it");
  }
  LayerStack stack = BertStack(family, description);
  // The classifier reads the first token, which the original then makes global.
  SeeWindows(LongformerSides(config, family.layers), checkpoint.task == Task::kSequenceClassification, description,
             stack);
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
