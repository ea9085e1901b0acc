// Swin: stages of windowed attention over the patches of an image, windows of every second block shifted by half; four
// patches become one between stages. Windows are segments: their rows are a space below the windows of an image.
#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/image_input.h"
#include "tools/convert/arch/image_windows.h"
#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {
namespace {

std::vector<uint32_t> Numbers(const Config& config, const std::string& key) {
  const Json& values = config.Get(key);
  const auto fits = [](const Json& value) { return value.is_number_unsigned() && value.get<uint64_t>() <= UINT16_MAX; };
  if (!values.is_array() || values.empty() || !std::all_of(values.begin(), values.end(), fits)) {
    Fail("config.json: {} must be a list of whole numbers, not {}", key, values.dump());
  }
  return values.get<std::vector<uint32_t>>();
}

// One stage: its spaces and tables, then its blocks.
class Stage {
 public:
  Stage(const Config& config, uint32_t index, Grid patches, uint32_t heads, const std::string& prefix,
        Description& description, ProgramBuilder& builder)
      : patches_(patches),
        heads_(heads),
        activation_(config.Activation("hidden_act", "gelu")),
        at_(fmt::format("{}encoder.layers.{}.", prefix, index)),
        own_(fmt::format("stages.{}.", index)),
        attentions_(fmt::format("attentions.{}", index)),
        weights_(description.weights),
        b_(builder) {
    // A window that is no smaller than the picture shrinks to it and need not shift.
    const uint32_t wanted = config.Number("window_size", 7), smallest = std::min(patches.rows, patches.columns);
    window_ = std::min(wanted, smallest);
    const uint32_t shift = smallest <= wanted ? 0 : wanted / 2;
    for (uint32_t shifted = 0; shifted < (shift == 0 ? 1 : 2); ++shifted) {
      const ImageWindows windows(patches, window_, shifted == 0 ? 0 : shift);
      const std::string name = shifted == 0 ? "plain" : "shifted";
      tables_.push_back(own_ + name);
      weights_.Add(own_ + name + ".into", windows.IntoWindows());
      weights_.Add(own_ + name + ".out", windows.OutOfWindows());
      weights_.Add(own_ + name + ".coordinates", windows.Coordinates());
      if (shifted != 0) continue;
      description.spaces.push_back({own_ + "windows", "images"});
      description.spaces.back().each = windows.count();
      description.spaces.push_back({own_ + "window_rows", own_ + "windows"});
      description.spaces.back().each = windows.size();
    }
  }

  std::string Blocks(std::string x, uint32_t count, const std::string& last) {
    for (uint32_t i = 0; i < count; ++i) x = Block(x, i, i + 1 == count, i + 1 == count ? last : "");
    return x;
  }

  // Of `to`, the space of the next stage.
  std::string Downsample(const std::string& x, const std::string& to, const std::string& out) {
    weights_.Add(own_ + "merge", MergeTable(patches_));
    b_.Arrange(x, own_ + "merge", to, own_ + "four");
    b_.Norm(own_ + "four", at_ + "downsample.norm", own_ + "four_normed");
    return b_.Linear(own_ + "four_normed", at_ + "downsample.reduction", out);
  }

 private:
  // `shown`: the weights of its attention are those that the original library returns for the stage.
  std::string Block(const std::string& x, uint32_t index, bool shown, const std::string& out) {
    const std::string at = fmt::format("{}blocks.{}.", at_, index), own = fmt::format("{}blocks.{}.", own_, index);
    const std::string& tables = tables_[index % tables_.size()];
    b_.Norm(x, at + "layernorm_before", own + "normed");
    const std::string in = b_.Arrange(own + "normed", tables + ".into", own_ + "window_rows", own + "windows");
    std::vector<std::string> qkv;
    for (const char* part : {"query", "key", "value"}) {
      qkv.push_back(b_.Linear(in, fmt::format("{}attention.self.{}", at, part), own + part));
    }
    const std::string table = at + "attention.self.relative_position_bias_table";
    const Constant bias = weights_.Get(table);
    const uint32_t offsets = 2 * window_ - 1;
    if (bias.rows != offsets * offsets) {
      Fail("tensor {} has {} rows, windows of {} on {} x {} patches need {}", table, bias.rows, window_, patches_.rows,
           patches_.columns, offsets * offsets);
    }
    weights_.Add(own + "bias", HidingBias(bias));
    b_.Attention(shown ? attentions_ : own + "attention", qkv, {own + "bias", tables + ".coordinates"},
                 own + "attended", {{"heads", heads_}});
    b_.Arrange(own + "attended", tables + ".out", own_ + "patches", own + "arranged");
    b_.Linear(own + "arranged", at + "attention.output.dense", own + "attention_output");
    b_.Op("add", {x, own + "attention_output"}, {}, own + "attention_sum");
    b_.Norm(own + "attention_sum", at + "layernorm_after", own + "input");
    b_.Linear(own + "input", at + "intermediate.dense", own + "up", activation_);
    b_.Linear(own + "up", at + "output.dense", own + "down");
    return b_.Op("add", {own + "attention_sum", own + "down"}, {}, out.empty() ? own + "output" : out);
  }

  Grid patches_;
  uint32_t heads_, window_;
  std::string activation_;
  std::string at_, own_, attentions_;  // names of stored tensors; of values, tables and spaces; of the step
  std::vector<std::string> tables_;    // by block: even, odd
  Weights& weights_;
  ProgramBuilder& b_;
};

}  // namespace

void DescribeSwin(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = weights.Has("layernorm.weight") ? "" : "swin.";
  const std::string embeddings = prefix + "embeddings.";
  description.must_use = {embeddings + "patch_embeddings.", embeddings + "norm.", prefix + "encoder.",
                          prefix + "layernorm."};
  const std::vector<uint32_t> depths = Numbers(config, "depths"), heads = Numbers(config, "num_heads");
  if (depths.size() != heads.size()) Fail("config.json: {} depths, {} num_heads", depths.size(), heads.size());

  const ImageInput image(checkpoint, PartialPatches::kPadded);
  image.SetMetadata(description);
  weights.Add("patches", image.PatchTable(0));
  std::vector<Space> spaces = image.Spaces();
  std::vector<Grid> grids = {image.patches()};
  for (size_t i = 0; i < depths.size(); ++i) {
    if (i > 0) grids.push_back(Merged(grids.back()));
    spaces.push_back({fmt::format("stages.{}.patches", i), "images"});
    spaces.back().each = grids.back().count();
  }

  const NormStyle norms = {"layer", config.Real("layer_norm_eps", 1e-5)};
  ProgramBuilder builder(checkpoint, description, norms, spaces, image.Pixels());
  builder.Arrange("pixel_values", "patches", "stages.0.patches", "pixels");
  builder.Linear("pixels", embeddings + "patch_embeddings.projection", "embeddings.patches");
  const std::string positions = embeddings + "position_embeddings";
  const bool absolute = config.Flag("use_absolute_embeddings", false);
  std::string x =
      builder.Norm("embeddings.patches", embeddings + "norm", absolute ? "embeddings.normed" : builder.HiddenState(0));
  if (absolute) {
    weights.Add("positions", Resample(weights.Get(positions), image.trained_patches(), image.patches()));
    x = builder.Op("position", {x}, {"positions"}, builder.HiddenState(0));
  }
  for (uint32_t i = 0; i < depths.size(); ++i) {
    if (depths[i] == 0) Fail("config.json: stage {} has no layers", i);
    Stage stage(config, i, grids[i], heads[i], prefix, description, builder);
    const bool last = i + 1 == depths.size();
    const std::string state = builder.HiddenState(i + 1);
    x = stage.Blocks(x, depths[i], last ? state : "");
    if (!last) x = stage.Downsample(x, fmt::format("stages.{}.patches", i + 1), state);
  }
  // The hidden states once more, as pictures.
  for (size_t i = 0; i <= depths.size(); ++i) {
    const Grid& grid = grids[std::min(i, grids.size() - 1)];
    const std::string name = fmt::format("reshaped_hidden_states.{}", i);
    description.SetMetadata("alias." + name, builder.HiddenState(static_cast<uint32_t>(i)));
    description.SetMetadata("layout." + name, fmt::format("channels_first {} {}", grid.rows, grid.columns));
  }
  Heads task_heads;
  task_heads.mean_pooler = true;
  task_heads.sequence_pool = "mean";
  task_heads.sequence.out = "classifier";
  RefuseBiases(checkpoint, weights, "qkv_bias", true,
               {"attention.self.query", "attention.self.key", "attention.self.value"});
  // What follows from the tensors or concerns training.
  for (const char* key : {"drop_path_rate", "embed_dim", "encoder_stride", "hidden_size", "mlp_ratio", "num_layers",
                          "out_features", "out_indices", "path_norm", "stage_names"}) {
    config.Get(key);
  }
  builder.Finish(builder.Norm(x, prefix + "layernorm", "last_hidden_state"), task_heads);
}

}  // namespace fovea::tools
