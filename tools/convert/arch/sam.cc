// SAM's encoder of images: layers of attention within windows and, some of them, over the whole picture. The score of
// two patches gets a part of the query by their distance along each axis. A neck of two convolutions makes what the
// rest of SAM, which is not converted, reads.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/grid_convolution.h"
#include "tools/convert/arch/image_input.h"
#include "tools/convert/arch/image_windows.h"
#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {
namespace {

// For each distance from -reach to reach a bucket.
Constant OwnBuckets(uint32_t reach) {
  std::vector<int32_t> buckets;
  for (uint32_t i = 0; i <= 2 * reach; ++i) buckets.push_back(static_cast<int32_t>(i));
  return Indices(1, 2 * reach + 1, buckets);
}

// The stored rows of one axis, by query - key from 1 - cells to cells - 1, in the order of buckets by key - query from
// -reach to reach; zeros where there are no such cells.
Constant ByBucket(const Constant& stored, uint32_t cells, uint32_t reach, float factor) {
  const uint32_t distances = 2 * cells - 1;
  const Constant rows = stored.rows == distances ? stored : Blended(stored, Bilinear({1, stored.rows}, {1, distances}));
  return {2 * reach + 1, stored.width, [rows, cells, reach, factor] {
            const std::vector<float> from = rows.load();
            std::vector<float> to((2 * uint64_t{reach} + 1) * rows.width);
            for (uint64_t i = 0; i < rows.rows; ++i) {
              const uint64_t bucket = uint64_t{reach} + cells - 1 - i;
              for (uint64_t c = 0; c < rows.width; ++c) to[bucket * rows.width + c] = factor * from[i * rows.width + c];
            }
            return to;
          }};
}

class SamEncoder {
 public:
  SamEncoder(const Checkpoint& checkpoint, const Config& config, Description& description)
      : checkpoint_(checkpoint),
        config_(config),
        description_(description),
        weights_(description.weights),
        heads_(config.Number("num_attention_heads", 12)),
        window_(config.Get("window_size").is_null() ? 14 : config.View("window_size").Number({0, UINT16_MAX})),
        relative_(config.Flag("use_rel_pos", true)),
        activation_(config.Activation("hidden_act", "gelu")) {}

  void Describe() {
    const ImageInput image({checkpoint_.directory, config_, checkpoint_.task, checkpoint_.image_size},
                           PartialPatches::kDropped);
    image.SetMetadata(description_);
    grid_ = image.patches();
    weights_.Add("patches", image.PatchTable(0));
    std::vector<Space> spaces = image.Spaces();
    spaces.push_back({"patches", "images"});
    spaces.back().each = grid_.count();
    if (window_ != 0) {
      const ImageWindows windows(grid_, window_, 0);
      weights_.Add("windows.into", windows.IntoWindows());
      weights_.Add("windows.out", windows.OutOfWindows());
      spaces.push_back({"windows", "images"});
      spaces.back().each = windows.count();
      spaces.push_back({"window_rows", "windows"});
      spaces.back().each = windows.size();
    }
    ProgramBuilder builder(checkpoint_, description_, {"layer", config_.Real("layer_norm_eps", 1e-6)}, spaces,
                           image.Pixels());
    b_ = &builder;
    const std::string embedded = config_.Flag("use_abs_pos", true) ? "embeddings.patches" : builder.HiddenState(0);
    builder.Arrange("pixel_values", "patches", "patches", "pixels");
    builder.Linear("pixels", kPrefix + "patch_embed.projection", embedded);
    if (embedded != builder.HiddenState(0)) {
      AddPositions(image.trained_patches());
      builder.Op("position", {embedded}, {"positions"}, builder.HiddenState(0));
    }
    const uint32_t layers = config_.Number("num_hidden_layers", 12);
    for (uint32_t i = 0; i < layers; ++i) Layer(i);
    for (uint32_t i = 0; i <= layers; ++i) {
      description_.SetMetadata("layout." + builder.HiddenState(i),
                               fmt::format("channels_last {} {}", grid_.rows, grid_.columns));
    }
    RefuseBiases({checkpoint_.directory, config_, checkpoint_.task, ""}, weights_, "qkv_bias", true, {"attn.qkv"});
    description_.must_use = {kPrefix};
    description_.SetMetadata("task", "embedding");
    builder.Outputs({Neck(builder.HiddenState(layers))});
    builder.End();
    // Sizes follow from the tensors or belong to other parts of SAM; the remaining keys were read above from a copy of
    // the configuration.
    config_.Ignore({"hidden_size", "image_size", "initializer_factor", "mlp_dim", "mlp_ratio", "num_channels",
                    "num_pos_feats", "output_channels", "patch_size", "qkv_bias"});
  }

 private:
  void AddPositions(Grid trained) {
    const std::string name = kPrefix + "pos_embed";
    const Constant stored = weights_.Get(name);  // [rows, columns, width]
    if (stored.rows != trained.rows || stored.width % trained.columns != 0) {
      Fail("tensor {} is not a table of {} x {} patches", name, trained.rows, trained.columns);
    }
    const Constant rows = Reshape(stored, trained.count(), stored.width / trained.columns);
    weights_.Add("positions", Resample(rows, trained, grid_));
  }

  bool Global(uint32_t layer) const {
    if (window_ == 0) return true;
    const JsonView indexes = config_.View("global_attn_indexes");
    if (!indexes.json().is_array()) Fail("{} must be a list, not {}", indexes.name(), Shown(indexes.json()));
    bool found = false;
    for (size_t i = 0; i < indexes.json().size(); ++i) found |= indexes.At(i).Number({0, UINT16_MAX}) == layer;
    return found;
  }

  void Layer(uint32_t i) {
    const std::string at = fmt::format("{}layers.{}.", kPrefix, i), own = fmt::format("layers.{}.", i);
    const std::string x = b_->HiddenState(i), attention = at + "attn.";
    const bool global = Global(i);
    std::string in = b_->Norm(x, at + "layer_norm1", own + "normed");
    if (!global) in = b_->Arrange(in, "windows.into", "window_rows", own + "windows");
    SplitLinear(weights_, attention + "qkv", {"query", "key", "value"});
    std::vector<std::string> qkv;
    for (const char* part : {"query", "key", "value"}) {
      qkv.push_back(b_->Linear(in, attention + "qkv." + part, own + part));
    }
    AttentionTensors tensors;
    Json attributes = {{"heads", heads_}};
    if (relative_) {
      const std::string place = global ? "picture" : "window";
      const Grid grid = global ? grid_ : Grid{window_, window_};
      const uint32_t reach = std::max(grid.rows, grid.columns) - 1;
      if (!weights_.Has(place + ".coordinates")) {
        weights_.Add(place + ".coordinates", CellCoordinates(grid));
        weights_.Add(place + ".buckets", OwnBuckets(reach));
      }
      AddRelative(attention, grid, reach, own + "relative_keys");
      tensors = {
          .coordinates = place + ".coordinates", .relative_keys = own + "relative_keys", .buckets = place + ".buckets"};
      attributes["axes"] = 2;
    }
    const std::string step = fmt::format("attentions.{}", i);
    description_.SetMetadata("layout." + step, "flat");
    std::string out = b_->Attention(step, qkv, tensors, own + "attended", attributes);
    if (!global) out = b_->Arrange(out, "windows.out", "patches", own + "arranged");
    b_->Linear(out, attention + "proj", own + "attention_output");
    b_->Op("add", {x, own + "attention_output"}, {}, own + "attention_sum");
    b_->Norm(own + "attention_sum", at + "layer_norm2", own + "input");
    b_->Linear(own + "input", at + "mlp.lin1", own + "up", activation_);
    b_->Linear(own + "up", at + "mlp.lin2", own + "down");
    b_->Op("add", {own + "attention_sum", own + "down"}, {}, b_->HiddenState(i + 1));
  }

  // All heads have the same rows. The original does not scale relative scores; the runtime does, so the rows are
  // divided by the scale.
  void AddRelative(const std::string& attention, Grid grid, uint32_t reach, const std::string& name) {
    std::vector<Constant> tables;
    for (const char* axis : {"rel_pos_h", "rel_pos_w"}) {
      const Constant stored = weights_.Get(attention + axis);
      const uint32_t width = weights_.Get(attention + "qkv.query.weight").rows;
      if (uint64_t{stored.width} * heads_ != width) {
        Fail("tensor {}{} is {} wide, but heads are {} wide", attention, axis, stored.width,
             width / std::max(heads_, 1u));
      }
      const uint32_t cells = axis[8] == 'h' ? grid.rows : grid.columns;
      const Constant rows = ByBucket(stored, cells, reach, sqrtf(static_cast<float>(stored.width)));
      tables.insert(tables.end(), heads_, rows);
    }
    weights_.Add(name, Concatenate(tables));
  }

  std::string Neck(const std::string& x) {
    const std::string neck = kPrefix + "neck.";
    const Filter filter = {3, 1, 1};
    b_->Linear(x, neck + "conv1", "neck.narrow");
    const auto norm = [&](const std::string& in, const std::string& name, const std::string& out) {
      return b_->Op("norm", {in}, {name + ".weight", name + ".bias"}, out, {{"kind", "layer"}, {"epsilon", 1e-6}});
    };
    norm("neck.narrow", neck + "layer_norm1", "neck.narrow_normed");
    weights_.Add("neck.neighbours", FilterTable(grid_, filter));
    weights_.Add("neck.filters", FiltersByCell(weights_.Get(neck + "conv2.weight"), filter));
    b_->Arrange("neck.narrow_normed", "neck.neighbours", "patches", "neck.cells");
    b_->Op("linear", {"neck.cells"}, {"neck.filters"}, "neck.convolved");
    description_.SetMetadata("layout.last_hidden_state",
                             fmt::format("channels_first {} {}", grid_.rows, grid_.columns));
    return norm("neck.convolved", neck + "layer_norm2", "last_hidden_state");
  }

  static const std::string kPrefix;

  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  uint32_t heads_, window_;
  bool relative_;
  std::string activation_;
  Grid grid_;
  ProgramBuilder* b_ = nullptr;
};

const std::string SamEncoder::kPrefix = "vision_encoder.";

void Describe(const Checkpoint& checkpoint, const Config& config, Description& description) {
  if (checkpoint.task != Task::kEmbedding && checkpoint.task != Task::kEncoder) {
    Fail("config.json: SAM's encoder has no such head; --task encoder converts it without a head");
  }
  SamEncoder(checkpoint, config, description).Describe();
}

}  // namespace

// The original: transformers/models/sam/modeling_sam.py: SamVisionModel.
void DescribeSamVision(const Checkpoint& checkpoint, Description& description) {
  Describe(checkpoint, checkpoint.config, description);
}

// The original: transformers/models/sam/modeling_sam.py: SamModel.
void DescribeSam(const Checkpoint& checkpoint, Description& description) {
  if (checkpoint.task != Task::kEncoder) {
    Fail("config.json: SAM's mask decoder is not supported; --task encoder converts the image encoder alone");
  }
  const Config config(checkpoint.config, "vision_config");
  config.Ignore({"model_type"});
  checkpoint.config.Ignore({"mask_decoder_config", "prompt_encoder_config"});  // parts that are not converted
  Describe(checkpoint, config, description);
  WarnOfUnknown(config, "vision_config", description);
}

}  // namespace fovea::tools
