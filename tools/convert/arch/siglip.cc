// SigLIP: a tower of texts in which every token sees all, whose embedding is the row of the last position, and a tower
// of pictures without class token, which a learned query pools.
#include "tools/base/fail.h"
#include "tools/convert/arch/towers.h"

namespace fovea::tools {
namespace {

constexpr TowerDefaults kAbsent = {"gelu_pytorch_tanh", 1e-6, 12};

void DescribeText(const Checkpoint& checkpoint, const std::string& program, Description& description) {
  const LayerStack stack = TextTower(checkpoint.config, kAbsent, description);
  ProgramBuilder builder(checkpoint, description, stack.norms, SpacesOf(stack), InputOf(stack), program);
  const std::string last = AddStack(stack, builder);
  // The last row is that of padding where a text is short, as in training.
  description.SetMetadata("pad_to", std::to_string(description.weights.Get(stack.positions).rows));
  builder.Op("pool", {last}, {}, "last_row", {{"kind", "last"}});
  builder.Linear("last_row", "text_model.head", "pooler_output");
  description.SetMetadata("task", "embedding");
  builder.Outputs({last, "pooler_output"});
  builder.End();
}

// One attention of a learned query, then a feed-forward.
std::string PoolByProbe(const LayerStack& stack, const std::string& last, Weights& weights, ProgramBuilder& builder) {
  const std::string at = "vision_model.head.", projection = at + "attention.in_proj";
  weights.Add(projection + ".weight", weights.Get(projection + "_weight"));
  weights.Add(projection + ".bias", weights.Get(projection + "_bias"));
  SplitLinear(weights, projection, {"query", "key", "value"});
  weights.Add("head.query", Product(weights.Get(at + "probe"), weights.Get(projection + ".query.weight"),
                                    weights.Get(projection + ".query.bias")));
  builder.Op("fill", {}, {"head.query"}, "head.query", Json::object(), "images");
  builder.Linear(last, projection + ".key", "head.key");
  builder.Linear(last, projection + ".value", "head.value");
  builder.Attention("head.attention", {"head.query", "head.key", "head.value"}, {}, "head.attended",
                    {{"heads", stack.heads}});
  builder.Linear("head.attended", at + "attention.out_proj", "head.pooled");
  builder.Norm("head.pooled", at + "layernorm", "head.normed");
  builder.Linear("head.normed", at + "mlp.fc1", "head.up", stack.activation);
  builder.Linear("head.up", at + "mlp.fc2", "head.down");
  return builder.Op("add", {"head.pooled", "head.down"}, {}, "pooler_output");
}

void DescribePicture(const Checkpoint& checkpoint, const std::string& program, Description& description) {
  const Config& config = checkpoint.config;
  const ImageInput image(checkpoint, PartialPatches::kDropped, {224, 16});
  LayerStack stack = PictureTower(config, kAbsent, image, false, description);
  stack.final_norm = "vision_model.post_layernorm";
  ProgramBuilder builder(checkpoint, description, stack.norms, SpacesOf(stack), InputOf(stack), program);
  const std::string last = AddStack(stack, builder);
  const bool pooled = config.Flag("vision_use_head", true);
  if (checkpoint.task == Task::kImageClassification) {
    AddClasses(AddMeanOfPatches(last, 0, image, description, builder), builder, description);
    return builder.End();
  }
  description.must_use.push_back("vision_model.");
  std::vector<std::string> outputs = {last};
  if (pooled) outputs.push_back(PoolByProbe(stack, last, description.weights, builder));
  description.SetMetadata("task", "embedding");
  builder.Outputs(outputs);
  builder.End();
}

}  // namespace

// The original: transformers/models/siglip/modeling_siglip.py: SiglipModel.
void DescribeSiglip(const Checkpoint& checkpoint, Description& description) {
  DescribeTowers({DescribeText, DescribePicture, "sigmoid"}, checkpoint, description);
}

// The original: transformers/models/siglip/modeling_siglip.py: SiglipTextModel.
void DescribeSiglipText(const Checkpoint& checkpoint, Description& description) {
  DescribeText(checkpoint, "encode", description);
}

// The original: transformers/models/siglip/modeling_siglip.py: SiglipVisionModel.
void DescribeSiglipVision(const Checkpoint& checkpoint, Description& description) {
  DescribePicture(checkpoint, "encode", description);
}

}  // namespace fovea::tools
