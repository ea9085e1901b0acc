// ViT and DeiT: patches of an image after a class token (and a distillation token), norms in front.
#include "tools/convert/arch/vit.h"

#include "tools/base/fail.h"
#include "tools/convert/arch/patch_rows.h"

namespace fovea::tools {
namespace {

// Logits of class and distillation token, each by its own classifier, and their mean.
void AddTeacherHead(const std::string& last, ProgramBuilder& builder, Description& description) {
  description.SetMetadata("task", "image-classification");
  description.spaces.push_back({"distillation", "images"});
  description.spaces.back().each = 1;
  description.weights.Add("distillation.row", Indices(1, 1, {1}));
  builder.Op("pool", {last}, {}, "class_token", {{"kind", "first"}});
  builder.Arrange(last, "distillation.row", "distillation", "distillation_row");
  builder.Op("pool", {"distillation_row"}, {}, "distillation_token", {{"kind", "first"}});
  builder.Linear("class_token", "cls_classifier", "cls_logits");
  builder.Linear("distillation_token", "distillation_classifier", "distillation_logits");
  builder.Op("add", {"cls_logits", "distillation_logits"}, {}, "logits.sum");
  builder.Op("scale", {"logits.sum"}, {}, "logits", {{"scale", 0.5}});
  builder.Outputs({"logits", "cls_logits", "distillation_logits"});
  builder.Labels("cls_classifier");
}

}  // namespace

StackLayer VitLayer(const std::string& at) {
  return {
      .attention = {.norm = at + "layernorm_before",
                    .query = at + "attention.attention.query",
                    .key = at + "attention.attention.key",
                    .value = at + "attention.attention.value",
                    .output = at + "attention.output.dense"},
      .feed_forward = {.norm = at + "layernorm_after", .up = at + "intermediate.dense", .down = at + "output.dense"}};
}

LayerStack VitStack(const Checkpoint& checkpoint, const std::string& prefix, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string embeddings = prefix + "embeddings.";
  const ImageInput image(checkpoint, PartialPatches::kDropped);
  std::vector<std::string> tokens = {"cls_token"};
  if (weights.Has(embeddings + "distillation_token")) tokens.push_back("distillation_token");
  const PatchPositions positions(weights, embeddings + "position_embeddings", static_cast<uint32_t>(tokens.size()),
                                 image);
  PatchRows rows = {embeddings + "patch_embeddings.projection", {}, positions.patches};
  for (size_t i = 0; i < tokens.size(); ++i) {
    rows.tokens.push_back(Sum({weights.Get(embeddings + tokens[i]), positions.tokens[i]}));
  }
  LayerStack stack;
  SetPatchRows(rows, image, description, stack);
  stack.norms = {"layer", config.Real("layer_norm_eps", 1e-12)};
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("hidden_act", "gelu");
  stack.final_norm = prefix + "layernorm";
  stack.last_state_is_normed = false;
  for (uint32_t i = 0; i < config.Number("num_hidden_layers"); ++i) {
    stack.layers.push_back(VitLayer(fmt::format("{}encoder.layer.{}.", prefix, i)));
  }
  RefuseBiases(checkpoint, weights, "qkv_bias", true,
               {"attention.attention.query", "attention.attention.key", "attention.attention.value"});
  // Sizes follow from the tensors; the pooler's keys are read with a pooler; encoder_stride concerns training.
  config.Ignore({"encoder_stride", "hidden_size", "intermediate_size", "pooler_act", "pooler_output_size"});
  description.must_use = {rows.projection, prefix + "encoder.", prefix + "layernorm."};
  return stack;
}

// The original: transformers/models/vit/modeling_vit.py: ViTModel; transformers/models/deit/modeling_deit.py:
// DeiTModel.
void DescribeVit(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  const Weights& weights = description.weights;
  const std::string prefix = weights.Has("embeddings.cls_token") ? "" : config.Text("model_type") + ".";
  LayerStack stack = VitStack(checkpoint, prefix, description);
  stack.task_heads.pooler = prefix + "pooler.dense";
  stack.task_heads.pooler_activation = config.Activation("pooler_act", "tanh");
  stack.task_heads.sequence.out = "classifier";
  if (checkpoint.task != Task::kImageClassification || !weights.Has("distillation_classifier.weight")) {
    return DescribeStack(stack, checkpoint, description);
  }
  ProgramBuilder builder(checkpoint, description, stack.norms, SpacesOf(stack), InputOf(stack));
  AddTeacherHead(AddStack(stack, builder), builder, description);
  builder.End();
}

}  // namespace fovea::tools
