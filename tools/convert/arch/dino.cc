// DINOv2 and DINOv3: patches after a class token and registers, norms in front, a learned factor on each branch.
// DINOv2 adds positions, resampled for other sizes; DINOv3 rotates queries and keys of patches by their coordinates.
#include <math.h>

#include "tools/base/fail.h"
#include "tools/convert/arch/patch_rows.h"

namespace fovea::tools {
namespace {

class Dino {
 public:
  Dino(const Checkpoint& checkpoint, Description& description, const ImageSizes& sizes)
      : image_(checkpoint, PartialPatches::kDropped, sizes),
        checkpoint_(checkpoint),
        config_(checkpoint.config),
        description_(description),
        weights_(description.weights) {
    stack_.final_norm = "norm";
    stack_.last_state_is_normed = false;
    // Sizes follow from the tensors; the remaining keys concern training and backbones.
    config_.Ignore({"apply_layernorm", "drop_path_rate", "hidden_size", "intermediate_size", "layerscale_value",
                    "mlp_ratio", "out_features", "out_indices", "pos_embed_jitter", "pos_embed_rescale",
                    "pos_embed_shift", "reshape_hidden_states", "stage_names", "use_mask_token"});
  }

  void DescribeSecond() {
    const std::string base = config_.Text("model_type");
    const std::string prefix = weights_.Has("embeddings.cls_token") ? "" : base + ".";
    const std::string at = prefix + "embeddings.";
    SetRegisters(at);
    // The first version resamples positions without regard to how much they shrink.
    const PatchPositions positions(weights_, at + "position_embeddings", 1, image_,
                                   base == "dinov2" ? Interpolation::kBicubic : Interpolation::kAntialiasedBicubic);
    rows_.tokens[0] = Sum({rows_.tokens[0], positions.tokens[0]});
    rows_.positions = positions.patches;
    rows_.projection = at + "patch_embeddings.projection";
    const bool gated = config_.Flag("use_swiglu_ffn", false);
    stack_.norms = {"layer", config_.Real("layer_norm_eps", 1e-6)};
    stack_.heads = config_.Number("num_attention_heads", 12);
    stack_.activation = config_.Activation("hidden_act", "gelu");
    if (gated) stack_.activation = "silu";
    stack_.final_norm = prefix + "layernorm";
    for (uint32_t i = 0; i < config_.Number("num_hidden_layers", 12); ++i) {
      AddLayer(fmt::format("{}encoder.layer.{}.", prefix, i),
               {.query = "attention.attention.query",
                .key = "attention.attention.key",
                .value = "attention.attention.value",
                .output = "attention.output.dense",
                .up = gated ? "mlp.weights_in" : "mlp.fc1",
                .down = gated ? "mlp.weights_out" : "mlp.fc2"},
               gated);
    }
    RefuseBiases(checkpoint_, weights_, "qkv_bias", true,
                 {"attention.attention.query", "attention.attention.key", "attention.attention.value"});
    description_.must_use = {rows_.projection, prefix + "encoder.", stack_.final_norm + "."};
    Finish();
  }

  void DescribeThird() {
    const std::string at = "embeddings.";
    SetRegisters(at);
    rows_.projection = at + "patch_embeddings";
    stack_.norms = {"layer", config_.Real("layer_norm_eps", 1e-5)};
    stack_.heads = config_.Number("num_attention_heads", 6);
    stack_.activation = config_.Activation("hidden_act", "gelu");
    const bool gated = config_.Flag("use_gated_mlp", false);
    for (uint32_t i = 0; i < config_.Number("num_hidden_layers", 12); ++i) {
      AddLayer(fmt::format("layer.{}.", i),
               {.query = "attention.q_proj",
                .key = "attention.k_proj",
                .value = "attention.v_proj",
                .output = "attention.o_proj",
                .up = "mlp.up_proj",
                .down = "mlp.down_proj"},
               false);
      if (gated) stack_.layers.back().feed_forward.gate = fmt::format("layer.{}.mlp.gate_proj", i);
      stack_.layers.back().rotary.table = "angles";
    }
    RefuseBiases(checkpoint_, weights_, "query_bias", true, {"attention.q_proj"});
    RefuseBiases(checkpoint_, weights_, "key_bias", false, {"attention.k_proj"});
    RefuseBiases(checkpoint_, weights_, "value_bias", true, {"attention.v_proj"});
    RefuseBiases(checkpoint_, weights_, "proj_bias", true, {"attention.o_proj"});
    RefuseBiases(checkpoint_, weights_, "mlp_bias", true, {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"});
    weights_.Add("angles", Angles(HeadSize(config_, "hidden_size", stack_.heads)));
    description_.must_use = {rows_.projection, "layer.", "norm."};
    Finish();
  }

 private:
  struct Names {
    const char *query, *key, *value, *output, *up, *down;
  };

  void SetRegisters(const std::string& at) {
    rows_.tokens = {weights_.Get(at + "cls_token")};
    const uint32_t count = config_.Number("num_register_tokens", 0);
    if (config_.Text("model_type") == "dinov2" || count == 0) return;
    const Constant registers = weights_.Get(at + "register_tokens");
    if (registers.rows != count)
      Fail("config.json: num_register_tokens is {}, but {} are stored", count, registers.rows);
    rows_.tokens.push_back(registers);
  }

  // `halves`: up is a gate and what it lets through, in one.
  void AddLayer(const std::string& at, const Names& names, bool halves) {
    StackLayer layer;
    layer.attention.norm = at + "norm1";
    layer.attention.query = at + names.query;
    layer.attention.key = at + names.key;
    layer.attention.value = at + names.value;
    layer.attention.output = ScaleLayer(weights_, at + names.output, at + "layer_scale1.lambda1");
    layer.feed_forward.norm = at + "norm2";
    layer.feed_forward.up = at + names.up;
    if (halves) {
      SplitLinear(weights_, at + names.up, {"gate", "value"});
      layer.feed_forward.gate = at + names.up + ".gate";
      layer.feed_forward.up = at + names.up + ".value";
    }
    layer.feed_forward.down = ScaleLayer(weights_, at + names.down, at + "layer_scale2.lambda1");
    stack_.layers.push_back(layer);
  }

  // Cosines, then sines, of every row; only patches turn. In single precision, as the original has them.
  Constant Angles(uint32_t head) const {
    if (head % 4 != 0) Fail("heads of {} columns cannot be split into four equal parts", head);
    const uint32_t part = head / 4, leading = rows_.leading();
    const double theta = config_.Real("rope_theta", 100);
    if (!(theta > 0)) Fail("config.json: rope_theta {} is not supported", theta);
    const Grid grid = image_.patches();
    std::vector<float> table;
    const auto add = [&](const std::vector<float>& angles) {
      for (const float angle : angles) table.push_back(cosf(angle));
      for (const float angle : angles) table.push_back(sinf(angle));
    };
    for (uint32_t i = 0; i < leading; ++i) add(std::vector<float>(2 * part));
    for (uint32_t i = 0; i < grid.count(); ++i) {
      const auto center = [](uint32_t at, uint32_t of) {
        return 2.0f * ((static_cast<float>(at) + 0.5f) / static_cast<float>(of)) - 1.0f;
      };
      std::vector<float> angles;
      for (const float place : {center(i / grid.columns, grid.rows), center(i % grid.columns, grid.columns)}) {
        for (uint32_t k = 0; k < part; ++k) {
          const auto exponent = static_cast<float>(k * (4.0 / head));
          const float frequency = 1.0f / powf(static_cast<float>(theta), exponent);
          angles.push_back(static_cast<float>(2 * 3.14159265358979323846) * place * frequency);
        }
      }
      add(angles);
    }
    return Literal(leading + grid.count(), 4 * part, table);
  }

  void Finish() {
    SetPatchRows(rows_, image_, description_, stack_);
    ProgramBuilder builder(checkpoint_, description_, stack_.norms, SpacesOf(stack_), InputOf(stack_));
    const std::string last = AddStack(stack_, builder);
    const bool classifies = checkpoint_.task == Task::kImageClassification;
    if (!classifies && checkpoint_.task != Task::kEmbedding) {
      Fail("{} supports only image embedding and image classification", config_.Text("model_type"));
    }
    builder.Op("pool", {last}, {}, "pooler_output", {{"kind", "first"}});
    if (classifies) {
      const std::string mean = AddMeanOfPatches(last, rows_.leading(), image_, description_, builder);
      builder.Op("concat", {"pooler_output", mean}, {}, "class_and_mean");
      builder.Linear("class_and_mean", "classifier", "logits");
      builder.Labels("classifier");
    }
    description_.SetMetadata("task", classifies ? "image-classification" : "embedding");
    builder.Outputs(classifies ? std::vector<std::string>{"logits"} : std::vector<std::string>{last, "pooler_output"});
    builder.End();
  }

  const ImageInput image_;
  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  LayerStack stack_;
  PatchRows rows_;
};

}  // namespace

// The original: transformers/models/dinov2/modeling_dinov2.py: Dinov2Model;
// transformers/models/dinov2_with_registers/modeling_dinov2_with_registers.py: Dinov2WithRegistersModel.
void DescribeDinov2(const Checkpoint& checkpoint, Description& description) {
  const bool first = checkpoint.config.Text("model_type") == "dinov2";
  Dino(checkpoint, description, {224, first ? 14u : 16u}).DescribeSecond();
}

// The original: transformers/models/dinov3_vit/modeling_dinov3_vit.py: DINOv3ViTModel.
void DescribeDinov3(const Checkpoint& checkpoint, Description& description) {
  Dino(checkpoint, description, {224, 16}).DescribeThird();
}

}  // namespace fovea::tools
