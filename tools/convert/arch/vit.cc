// ViT and DeiT: patches of an image after a class token (and a distillation token), norms in front. The tokens are
// rows of zeros among the patches: one table holds them, the bias of the patches and all positions.
#include "tools/convert/arch/vit.h"

#include "tools/base/fail.h"
#include "tools/convert/arch/image_input.h"

namespace fovea::tools {
namespace {

// What is added to row i of an image.
Constant RowTable(const Weights& weights, const std::string& at, const std::vector<std::string>& tokens,
                  const ImageInput& image) {
  const std::string bias = at + "patch_embeddings.projection.bias";
  const Grid patches = image.patches(), trained = image.trained_patches();
  const Constant positions = weights.Get(at + "position_embeddings");
  const auto leading = static_cast<uint32_t>(tokens.size());
  if (positions.rows != leading + trained.count()) {
    Fail("tensor {}position_embeddings has {} rows, {} tokens and {} x {} patches need {}", at, positions.rows, leading,
         trained.rows, trained.columns, leading + trained.count());
  }
  std::vector<Constant> own;
  for (const std::string& token : tokens) own.push_back(weights.Get(at + token));
  const Constant none = Literal(1, positions.width, std::vector<float>(positions.width));
  own.insert(own.end(), patches.count(), weights.Has(bias) ? weights.Get(bias) : none);
  return Sum({Concatenate({Slice(positions, {0, leading}),
                           Resample(Slice(positions, {leading, positions.rows}), trained, patches)}),
              Concatenate(own)});
}

StackLayer Layer(const std::string& at) {
  StackLayer layer;
  layer.attention.norm = at + "layernorm_before";
  layer.attention.query = at + "attention.attention.query";
  layer.attention.key = at + "attention.attention.key";
  layer.attention.value = at + "attention.attention.value";
  layer.attention.output = at + "attention.output.dense";
  layer.feed_forward.norm = at + "layernorm_after";
  layer.feed_forward.up = at + "intermediate.dense";
  layer.feed_forward.down = at + "output.dense";
  return layer;
}

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

LayerStack VitStack(const Checkpoint& checkpoint, const std::string& prefix, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string embeddings = prefix + "embeddings.", projection = embeddings + "patch_embeddings.projection";
  const ImageInput image(checkpoint, PartialPatches::kDropped);
  std::vector<std::string> tokens = {"cls_token"};
  if (weights.Has(embeddings + "distillation_token")) tokens.push_back("distillation_token");
  const auto leading = static_cast<uint32_t>(tokens.size());
  weights.Add("patches", image.PatchTable(leading));
  weights.Add("rows", RowTable(weights, embeddings, tokens, image));
  image.SetMetadata(description);

  LayerStack stack;
  stack.front = Front{image.Spaces(), image.Pixels(),
                      [projection](ProgramBuilder& builder, const std::string& in, const std::string& out) {
                        builder.Arrange(in, "patches", "tokens", "pixels");
                        return builder.Op("linear", {"pixels"}, {projection + ".weight"}, out);
                      }};
  stack.front->spaces.push_back({"tokens", "images"});
  stack.front->spaces.back().each = leading + image.patches().count();
  stack.positions = "rows";
  stack.norms = {"layer", config.Real("layer_norm_eps", 1e-12)};
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("hidden_act", "gelu");
  stack.final_norm = prefix + "layernorm";
  stack.last_state_is_normed = false;
  for (uint32_t i = 0; i < config.Number("num_hidden_layers"); ++i) {
    stack.layers.push_back(Layer(fmt::format("{}encoder.layer.{}.", prefix, i)));
  }
  RefuseBiases(checkpoint, weights, "qkv_bias", true,
               {"attention.attention.query", "attention.attention.key", "attention.attention.value"});
  // What follows from the tensors or concerns training.
  for (const char* key : {"encoder_stride", "hidden_size", "intermediate_size", "pooler_act", "pooler_output_size"}) {
    config.Get(key);
  }
  description.must_use = {projection, prefix + "encoder.", prefix + "layernorm."};
  return stack;
}

StackLayer VitLayer(const std::string& at) { return Layer(at); }

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
