// Models of two towers, one of texts and one of pictures.
#include "tools/convert/arch/towers.h"

#include <math.h>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

void SetLayers(const Config& config, const TowerDefaults& absent, const std::string& prefix, LayerStack& stack) {
  stack.norms = {"layer", config.Real("layer_norm_eps", absent.epsilon)};
  stack.heads = config.Number("num_attention_heads", absent.heads);
  stack.activation = config.Activation("hidden_act", absent.activation);
  stack.last_state_is_normed = false;
  for (uint32_t i = 0; i < config.Number("num_hidden_layers", 12); ++i) {
    const std::string at = fmt::format("{}encoder.layers.{}.", prefix, i);
    StackLayer layer;
    layer.attention.norm = at + "layer_norm1";
    layer.attention.query = at + "self_attn.q_proj";
    layer.attention.key = at + "self_attn.k_proj";
    layer.attention.value = at + "self_attn.v_proj";
    layer.attention.output = at + "self_attn.out_proj";
    layer.feed_forward.norm = at + "layer_norm2";
    layer.feed_forward.up = at + "mlp.fc1";
    layer.feed_forward.down = at + "mlp.fc2";
    stack.layers.push_back(layer);
  }
  // Sizes follow from the tensors; the remaining key concerns training.
  config.Ignore({"hidden_size", "initializer_factor", "intermediate_size", "projection_dim", "projection_size"});
}

// The number that a model has learned to multiply cosines with, or to add to them.
float Learned(const Weights& weights, const char* name) {
  const Constant number = weights.Get(name);
  if (uint64_t{number.rows} * number.width != 1)
    Fail("tensor {} has {} numbers, but must have one", name, number.rows * number.width);
  return number.load()[0];
}

// The configuration of one tower. Older directories have it under another name as well, which is then preferred.
Checkpoint PartOf(const Checkpoint& whole, const std::string& part, Task task) {
  const std::string older = part + "_config_dict", newer = part + "_config";
  whole.config.Ignore({newer});  // the older one is preferred
  const Config config(whole.config, whole.config.Get(older).is_object() ? older : newer);
  return {whole.directory, config, task, part == "vision" ? whole.image_size : ""};
}

}  // namespace

LayerStack TextTower(const Config& config, const TowerDefaults& absent, Description& description) {
  const std::string prefix = "text_model.";
  LayerStack stack;
  stack.table = prefix + "embeddings.token_embedding.weight";
  stack.positions = prefix + "embeddings.position_embedding.weight";
  stack.final_norm = prefix + "final_layer_norm";
  SetLayers(config, absent, prefix, stack);
  const uint32_t positions = description.weights.Get(stack.positions).rows;
  if (config.Number("max_position_embeddings", positions) != positions) {
    Fail("tensor {} has {} rows, but config.json: max_position_embeddings is {}", stack.positions, positions,
         config.Number("max_position_embeddings"));
  }
  description.SetMetadata("max_positions", std::to_string(positions));
  const uint32_t padding = config.View("pad_token_id").Number({0, INT32_MAX}, 1);
  description.SetMetadata("pad_token_id", std::to_string(padding));
  description.must_use.push_back(prefix);
  return stack;
}

LayerStack PictureTower(const Config& config, const TowerDefaults& absent, const ImageInput& image, bool class_token,
                        Description& description) {
  const std::string prefix = "vision_model.", embeddings = prefix + "embeddings.";
  LayerStack stack;
  stack.space = "image_rows";
  const PatchPositions positions(description.weights, embeddings + "position_embedding.weight", class_token ? 1 : 0,
                                 image);
  PatchRows rows = {embeddings + "patch_embedding", {}, positions.patches};
  if (class_token) {
    rows.tokens = {Sum({description.weights.Get(embeddings + "class_embedding"), positions.tokens[0]})};
  }
  SetPatchRows(rows, image, description, stack);
  SetLayers(config, absent, prefix, stack);
  description.must_use.insert(description.must_use.end(), {embeddings, prefix + "encoder."});
  return stack;
}

void DescribeTowers(const Towers& towers, const Checkpoint& checkpoint, Description& description) {
  const bool both = checkpoint.task == Task::kEmbedding, text = both || checkpoint.task == Task::kText;
  const bool classes = checkpoint.task == Task::kImageClassification;
  const bool picture = both || classes || checkpoint.task == Task::kImage;
  if (!text && !picture) Fail("{} supports the tasks embedding, text and image", checkpoint.config.Text("model_type"));
  const auto describe = [&](const char* part, const auto& make, const char* program) {
    const Checkpoint of = PartOf(checkpoint, part, classes ? checkpoint.task : Task::kEmbedding);
    make(of, both ? program : "encode", description);
    WarnOfUnknown(of.config, part, description);
  };
  if (text) describe("text", towers.text, "encode_text");
  if (picture) describe("vision", towers.picture, "encode_image");
  // The scale and sizes follow from the tensors; configurations of towers are read above, if their tower is converted.
  checkpoint.config.Ignore({"initializer_factor", "logit_scale_init_value", "projection_dim", "text_config",
                            "text_config_dict", "vision_config", "vision_config_dict"});
  if (classes) return;
  description.SetMetadata("matching", towers.matching);
  description.SetMetadata("logit_scale", fmt::format("{}", expf(Learned(description.weights, "logit_scale"))));
  if (description.weights.Has("logit_bias")) {
    description.SetMetadata("logit_bias", fmt::format("{}", Learned(description.weights, "logit_bias")));
  }
}

void AddClasses(const std::string& pooled, ProgramBuilder& builder, Description& description) {
  description.SetMetadata("task", "image-classification");
  builder.Outputs({builder.Linear(pooled, "classifier", "logits")});
  builder.Labels("classifier");
}

}  // namespace fovea::tools
