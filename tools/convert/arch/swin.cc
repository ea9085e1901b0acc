// Swin and Swin v2: stages of windowed attention over the patches of an image, windows of every second block shifted by
// half; four patches become one between stages. Windows are segments: their rows are a space below the windows of an
// image. Swin v2 scores by cosines, makes its bias with a small network, which is run here, and norms what a layer adds
// instead of what it reads.
#include <math.h>

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

enum class Generation { kFirst, kSecond };

Constant Mapped(Constant of, double (*function)(double)) {
  return {of.rows, of.width, [of, function] {
            std::vector<float> values = of.load();
            for (float& value : values) value = static_cast<float>(function(value));
            return values;
          }};
}

// A row for each offset, as a stored table of the first Swin has it.
Constant ContinuousBias(const Weights& weights, const std::string& network, uint32_t window, uint32_t trained_window) {
  const Constant middle = Product(LogarithmicOffsets(window, trained_window), weights.Get(network + ".0.weight"),
                                  weights.Get(network + ".0.bias"));
  const Constant scores =
      Product(Mapped(middle, [](double x) { return std::max(x, 0.0); }), weights.Get(network + ".2.weight"));
  return Mapped(scores, [](double x) { return 16 / (1 + exp(-x)); });
}

// The place of a stage in the model.
struct StagePlace {
  uint32_t index;
  Grid patches;
  uint32_t heads;
  uint32_t trained_rows;    // the second Swin's windows shrink to the images it was configured for
  uint32_t trained_window;  // unit of its offsets; 0: its window
};

// One stage: its spaces and tables, then its blocks.
class Stage {
 public:
  Stage(Generation generation, const Config& config, const StagePlace& place, const std::string& prefix,
        Description& description, ProgramBuilder& builder)
      : second_(generation == Generation::kSecond),
        patches_(place.patches),
        heads_(place.heads),
        trained_window_(place.trained_window),
        activation_(config.Activation("hidden_act", "gelu")),
        at_(fmt::format("{}encoder.layers.{}.", prefix, place.index)),
        own_(fmt::format("stages.{}.", place.index)),
        attentions_(fmt::format("attentions.{}", place.index)),
        weights_(description.weights),
        b_(builder) {
    // A window that is no smaller than the picture shrinks to it and need not shift.
    const uint32_t wanted = config.Number("window_size", 7);
    const uint32_t smallest = second_ ? place.trained_rows : std::min(patches_.rows, patches_.columns);
    window_ = std::min(wanted, smallest);
    const uint32_t shift = smallest <= wanted ? 0 : wanted / 2;
    for (uint32_t shifted = 0; shifted < (shift == 0 ? 1 : 2); ++shifted) {
      const ImageWindows windows(patches_, window_, shifted == 0 ? 0 : shift);
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

  // Merges patches into rows of `to`, the space of the next stage.
  std::string Downsample(const std::string& x, const std::string& to, const std::string& out) {
    weights_.Add(own_ + "merge", MergeTable(patches_));
    b_.Arrange(x, own_ + "merge", to, own_ + "four");
    if (second_) {
      b_.Linear(own_ + "four", at_ + "downsample.reduction", own_ + "reduced");
      return b_.Norm(own_ + "reduced", at_ + "downsample.norm", out);
    }
    b_.Norm(own_ + "four", at_ + "downsample.norm", own_ + "four_normed");
    return b_.Linear(own_ + "four_normed", at_ + "downsample.reduction", out);
  }

 private:
  // `shown`: the original library returns this attention map for the stage.
  std::string Block(const std::string& x, uint32_t index, bool shown, const std::string& out) {
    const std::string at = fmt::format("{}blocks.{}.", at_, index), own = fmt::format("{}blocks.{}.", own_, index);
    const std::string& tables = tables_[index % tables_.size()];
    const std::string sum = own + "attention_sum", after = out.empty() ? own + "output" : out;
    if (second_) {
      Attended(x, at, own, tables, shown);
      b_.Norm(own + "attention_output", at + "layernorm_before", own + "attention_normed");
      b_.Op("add", {x, own + "attention_normed"}, {}, sum);
      b_.Norm(FeedForward(sum, at, own), at + "layernorm_after", own + "output_normed");
      return b_.Op("add", {sum, own + "output_normed"}, {}, after);
    }
    Attended(b_.Norm(x, at + "layernorm_before", own + "normed"), at, own, tables, shown);
    b_.Op("add", {x, own + "attention_output"}, {}, sum);
    FeedForward(b_.Norm(sum, at + "layernorm_after", own + "input"), at, own);
    return b_.Op("add", {sum, own + "down"}, {}, after);
  }

  // From the patches and back to them, as `own`.attention_output.
  void Attended(const std::string& x, const std::string& at, const std::string& own, const std::string& tables,
                bool shown) {
    const std::string in = b_.Arrange(x, tables + ".into", own_ + "window_rows", own + "windows");
    const std::string attention = at + "attention.self.";
    std::vector<std::string> qkv;
    for (const char* part : {"query", "key", "value"}) qkv.push_back(b_.Linear(in, attention + part, own + part));
    Json attributes = {{"heads", heads_}};
    if (second_) {
      if (weights_.Has(attention + "key.bias")) Fail("tensor {}key.bias: keys of Swin v2 have no bias", attention);
      AddScales(attention, own);
      qkv[0] = UnitLength(qkv[0], own + "query_scales");
      qkv[1] = UnitLength(qkv[1], own + "key_scales");
      attributes["scale"] = 1;
    }
    weights_.Add(own + "bias", HidingBias(Bias(attention)));
    b_.Attention(shown ? attentions_ : own + "attention", qkv,
                 {.distance_bias = own + "bias", .coordinates = tables + ".coordinates"}, own + "attended", attributes);
    b_.Arrange(own + "attended", tables + ".out", own_ + "patches", own + "arranged");
    b_.Linear(own + "arranged", at + "attention.output.dense", own + "attention_output");
  }

  std::string FeedForward(const std::string& x, const std::string& at, const std::string& own) {
    b_.Linear(x, at + "intermediate.dense", own + "up", activation_);
    return b_.Linear(own + "up", at + "output.dense", own + "down");
  }

  // A row for each offset of two positions of a window.
  Constant Bias(const std::string& attention) const {
    const uint32_t offsets = 2 * window_ - 1;
    if (second_) {
      return ContinuousBias(weights_, attention + "continuous_position_bias_mlp", window_, trained_window_);
    }
    const std::string table = attention + "relative_position_bias_table";
    const Constant bias = weights_.Get(table);
    if (bias.rows != offsets * offsets) {
      Fail("tensor {} has {} rows, but windows of {} on {} x {} patches need {}", table, bias.rows, window_,
           patches_.rows, patches_.columns, offsets * offsets);
    }
    return bias;
  }

  // The weights of RMS norms that give queries the length of their head's factor, and keys length 1.
  void AddScales(const std::string& attention, const std::string& own) {
    const std::string name = attention + "logit_scale";
    const Constant stored = weights_.Get(name);
    const uint32_t width = weights_.Get(attention + "query.weight").rows;
    if (stored.rows * uint64_t{stored.width} != heads_ || width % heads_ != 0) {
      Fail("tensor {} is [{}, {}], but {} heads of queries {} wide need one number each", name, stored.rows,
           stored.width, heads_, width);
    }
    const uint32_t size = width / heads_;
    const Constant exponents = Reshape(stored, heads_, 1);
    weights_.Add(own + "query_scales", {heads_, size, [exponents, size] {
                                          std::vector<float> scales;
                                          for (const float exponent : exponents.load()) {
                                            const double most = log(100.0), root = sqrt(static_cast<double>(size));
                                            const double scale = exp(std::min<double>(exponent, most)) / root;
                                            scales.insert(scales.end(), size, static_cast<float>(scale));
                                          }
                                          return scales;
                                        }});
    const auto inverse = static_cast<float>(1 / sqrt(static_cast<double>(size)));
    weights_.Add(own + "key_scales", Literal(1, size, std::vector<float>(size, inverse)));
  }

  std::string UnitLength(const std::string& x, const std::string& scales) {
    // Lengths of less than 1e-12 count as that in the original; so little does this add to their squares.
    const double width = weights_.Get(scales).width;
    return b_.Op("norm", {x}, {scales}, x + "_unit", {{"kind", "rms"}, {"epsilon", 1e-24 / width}, {"heads", heads_}});
  }

  bool second_;
  Grid patches_;
  uint32_t heads_, trained_window_, window_;
  std::string activation_;
  std::string at_, own_, attentions_;  // names of stored tensors; of values, tables and spaces; of the step
  std::vector<std::string> tables_;    // by block: even, odd
  Weights& weights_;
  ProgramBuilder& b_;
};

// The window that is the unit of offsets, for each stage; 0: the stage's window.
std::vector<uint32_t> TrainedWindows(const Config& config, size_t stages) {
  if (config.Get("pretrained_window_sizes").is_null()) return std::vector<uint32_t>(stages);
  std::vector<uint32_t> windows = Numbers(config, "pretrained_window_sizes");
  if (windows.size() < stages || std::count(windows.begin(), windows.end(), 1u) != 0) {
    Fail("config.json: pretrained_window_sizes must be {} numbers, 0 or at least 2, not {}", stages,
         config.Get("pretrained_window_sizes").dump());
  }
  return windows;
}

class Swin {
 public:
  Swin(Generation generation, const Checkpoint& checkpoint, Description& description)
      : generation_(generation),
        second_(generation == Generation::kSecond),
        checkpoint_(checkpoint),
        config_(checkpoint.config),
        description_(description),
        weights_(description.weights),
        prefix_(weights_.Has("layernorm.weight") ? ""
                : second_                        ? "swinv2."
                                                 : "swin."),
        depths_(Numbers(config_, "depths")),
        heads_(Numbers(config_, "num_heads")) {
    if (depths_.size() != heads_.size())
      Fail("config.json: depths has {} elements, but num_heads has {}", depths_.size(), heads_.size());
    if (second_) windows_ = TrainedWindows(config_, depths_.size());
  }

  void Describe() {
    description_.must_use = {prefix_ + "embeddings.patch_embeddings.", prefix_ + "embeddings.norm.",
                             prefix_ + "encoder.", prefix_ + "layernorm."};
    const ImageInput image(checkpoint_, PartialPatches::kPadded);
    image.SetMetadata(description_);
    weights_.Add("patches", image.PatchTable(0));
    const NormStyle norms = {.kind = "layer", .epsilon = config_.Real("layer_norm_eps", 1e-5)};
    ProgramBuilder builder(checkpoint_, description_, norms, Spaces(image), image.Pixels());
    std::string x = Embeddings(image, builder);
    for (uint32_t i = 0; i < depths_.size(); ++i) x = StageOf(i, x, image, builder);
    DescribeReshaped(builder);
    RefuseBiases(checkpoint_, weights_, "qkv_bias", true,
                 {"attention.self.query", "attention.self.key", "attention.self.value"});
    // Sizes follow from the tensors; the remaining keys concern training and backbones.
    config_.Ignore({"drop_path_rate", "embed_dim", "encoder_stride", "hidden_size", "mlp_ratio", "num_layers",
                    "out_features", "out_indices", "path_norm", "stage_names"});
    Heads task_heads;
    task_heads.mean_pooler = true;
    task_heads.sequence_pool = "mean";
    task_heads.sequence.out = "classifier";
    builder.Finish(builder.Norm(x, prefix_ + "layernorm", "last_hidden_state"), task_heads);
  }

 private:
  std::vector<Space> Spaces(const ImageInput& image) {
    std::vector<Space> spaces = image.Spaces();
    for (size_t i = 0; i < depths_.size(); ++i) {
      grids_.push_back(i == 0 ? image.patches() : Merged(grids_.back()));
      spaces.push_back({fmt::format("stages.{}.patches", i), "images"});
      spaces.back().each = grids_.back().count();
    }
    return spaces;
  }

  std::string Embeddings(const ImageInput& image, ProgramBuilder& builder) {
    const std::string embeddings = prefix_ + "embeddings.", positions = embeddings + "position_embeddings";
    builder.Arrange("pixel_values", "patches", "stages.0.patches", "pixels");
    builder.Linear("pixels", embeddings + "patch_embeddings.projection", "embeddings.patches");
    const bool absolute = config_.Flag("use_absolute_embeddings", false);
    const std::string x = builder.Norm("embeddings.patches", embeddings + "norm",
                                       absolute ? "embeddings.normed" : builder.HiddenState(0));
    if (!absolute) return x;
    if (weights_.Get(positions).rows != image.trained_patches().count()) {
      Fail("tensor {} has {} rows, but {} patches need one each", positions, weights_.Get(positions).rows,
           image.trained_patches().count());
    }
    weights_.Add("positions", Resample(weights_.Get(positions), image.trained_patches(), image.patches()));
    return builder.Op("position", {x}, {"positions"}, builder.HiddenState(0));
  }

  std::string StageOf(uint32_t i, const std::string& x, const ImageInput& image, ProgramBuilder& builder) {
    if (depths_[i] == 0) Fail("config.json: stage {} has no layers", i);
    const uint32_t trained_rows = i < 32 ? image.whole_trained_patches().rows >> i : 0;
    const StagePlace place = {i, grids_[i], heads_[i], trained_rows, second_ ? windows_[i] : 0};
    Stage stage(generation_, config_, place, prefix_, description_, builder);
    const bool last = i + 1 == depths_.size();
    const std::string state = builder.HiddenState(i + 1);
    const std::string out = stage.Blocks(x, depths_[i], last ? state : "");
    return last ? out : stage.Downsample(out, fmt::format("stages.{}.patches", i + 1), state);
  }

  // The hidden states once more, as images.
  void DescribeReshaped(const ProgramBuilder& builder) {
    for (size_t i = 0; i <= depths_.size(); ++i) {
      const Grid& grid = grids_[std::min(i, grids_.size() - 1)];
      const std::string name = fmt::format("reshaped_hidden_states.{}", i);
      description_.SetMetadata("alias." + name, builder.HiddenState(static_cast<uint32_t>(i)));
      description_.SetMetadata("layout." + name, fmt::format("channels_first {} {}", grid.rows, grid.columns));
    }
  }

  const Generation generation_;
  const bool second_;
  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  const std::string prefix_;
  const std::vector<uint32_t> depths_, heads_;
  std::vector<uint32_t> windows_;  // Swin v2 only
  std::vector<Grid> grids_;
};

}  // namespace

// The original: transformers/models/swin/modeling_swin.py: SwinModel.
void DescribeSwin(const Checkpoint& checkpoint, Description& description) {
  Swin(Generation::kFirst, checkpoint, description).Describe();
}

// The original: transformers/models/swinv2/modeling_swinv2.py: Swinv2Model.
void DescribeSwinv2(const Checkpoint& checkpoint, Description& description) {
  Swin(Generation::kSecond, checkpoint, description).Describe();
}

}  // namespace fovea::tools
