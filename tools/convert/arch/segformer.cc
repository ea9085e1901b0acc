// SegFormer: stages of overlapping patches. Keys and values are made of a coarser grid, and a depthwise convolution in
// the feed-forward is the only source of positions. The head for segmentation sums projections of all stages.
#include <math.h>

#include "tools/base/fail.h"
#include "tools/convert/arch/grid_convolution.h"
#include "tools/convert/arch/image_input.h"
#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {
namespace {

// One number for each stage.
std::vector<uint32_t> Numbers(const Config& config, const std::string& key, size_t stages) {
  const JsonView values = config.View(key);
  if (!values.json().is_array() || values.json().size() < stages) {
    Fail("{} must be a list of {} whole numbers, not {}", values.name(), stages, Shown(values.json()));
  }
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < stages; ++i) numbers.push_back(values.At(i).Number({1, 1u << 14}));
  return numbers;
}

class Segformer {
 public:
  Segformer(const Checkpoint& checkpoint, Description& description)
      : checkpoint_(checkpoint),
        config_(checkpoint.config),
        description_(description),
        weights_(description.weights),
        stages_(config_.Number("num_encoder_blocks", 4)),
        depths_(Numbers(config_, "depths", stages_)),
        heads_(Numbers(config_, "num_attention_heads", stages_)),
        ratios_(Numbers(config_, "sr_ratios", stages_)),
        sizes_(Numbers(config_, "patch_sizes", stages_)),
        strides_(Numbers(config_, "strides", stages_)),
        activation_(config_.Activation("hidden_act", "gelu")) {
    const char* const first = "encoder.patch_embeddings.0.proj.weight";
    prefix_ = weights_.Has(first) ? "" : "segformer.";
  }

  void Describe() {
    const ImageInput image(checkpoint_, OverlappingPatches{sizes_[0], strides_[0], sizes_[0] / 2});
    image.SetMetadata(description_);
    weights_.Add("patches", image.PatchTable(0));
    std::vector<Space> spaces = image.Spaces();
    for (uint32_t i = 0; i < stages_; ++i) {
      grids_.push_back(i == 0 ? image.patches() : Convolved(grids_.back(), PatchFilter(i)));
      AddSpace(Own(i) + "patches", grids_.back(), &spaces);
      if (ratios_[i] > 1) AddSpace(Own(i) + "reduced", Convolved(grids_.back(), ReducingFilter(i)), &spaces);
    }
    // The original's norms do not read it.
    config_.Ignore({"layer_norm_eps"});
    ProgramBuilder builder(checkpoint_, description_, {"layer", 1e-5}, spaces, image.Pixels());
    b_ = &builder;
    std::string x = "pixel_values";
    for (uint32_t i = 0; i < stages_; ++i) x = Stage(i, x, image);
    description_.must_use = {prefix_ + "encoder.", "decode_head."};
    // Sizes follow from the tensors; the remaining keys concern training.
    config_.Ignore({"classifier_dropout_prob", "decoder_hidden_size", "downsampling_rates", "drop_path_rate",
                    "hidden_sizes", "image_size", "mlp_ratios", "semantic_loss_ignore_index"});
    if (checkpoint_.task == Task::kSemanticSegmentation) {
      SegmentationHead();
      builder.End();
      return;
    }
    description_.must_use.pop_back();
    Heads task_heads;
    task_heads.sequence_pool = "mean";
    task_heads.sequence.out = "classifier";
    builder.Finish(x, task_heads);
  }

 private:
  static std::string Own(uint32_t stage) { return fmt::format("stages.{}.", stage); }
  Filter PatchFilter(uint32_t i) const { return {sizes_[i], strides_[i], sizes_[i] / 2}; }
  Filter ReducingFilter(uint32_t i) const { return {ratios_[i], ratios_[i], 0}; }

  static void AddSpace(const std::string& name, Grid grid, std::vector<Space>* spaces) {
    if (grid.count() == 0) Fail("images are too small: {} would have no cells", name);
    spaces->push_back({name, "images"});
    spaces->back().each = grid.count();
  }

  // A convolution of rows of `grid`.
  std::string Convolve(const std::string& x, const std::string& name, Grid grid, const Filter& filter,
                       const std::string& table, const std::string& space, const std::string& out) {
    if (!weights_.Has(table)) weights_.Add(table, FilterTable(grid, filter));
    weights_.Add(name + ".by_cell.weight", FiltersByCell(weights_.Get(name + ".weight"), filter));
    if (weights_.Has(name + ".bias")) weights_.Add(name + ".by_cell.bias", weights_.Get(name + ".bias"));
    b_->Arrange(x, table, space, out + "_cells");
    return b_->Linear(out + "_cells", name + ".by_cell", out);
  }

  std::string Stage(uint32_t i, std::string x, const ImageInput& image) {
    const std::string own = Own(i), space = own + "patches";
    const std::string projection = fmt::format("{}encoder.patch_embeddings.{}.", prefix_, i);
    if (i == 0) {
      const std::string name = projection + "proj";
      weights_.Add(name + ".by_strip.weight", image.Filters(weights_.Get(name + ".weight")));
      if (weights_.Has(name + ".bias")) weights_.Add(name + ".by_strip.bias", weights_.Get(name + ".bias"));
      b_->Arrange(x, "patches", space, "pixels");
      b_->Linear("pixels", name + ".by_strip", own + "projected");
    } else {
      Convolve(x, projection + "proj", grids_[i - 1], PatchFilter(i), own + "cells", space, own + "projected");
    }
    x = b_->Norm(own + "projected", projection + "layer_norm", own + "embedded");
    weights_.Add(own + "neighbours", FilterTable(grids_[i], {3, 1, 1}));
    for (uint32_t layer = 0; layer < depths_[i]; ++layer) x = Layer(i, layer, x);
    const bool last = i + 1 == stages_;
    const std::string state = last ? b_->LastHiddenState(i) : b_->HiddenState(i);
    const std::string layout = fmt::format("channels_first {} {}", grids_[i].rows, grids_[i].columns);
    if (!last || config_.Flag("reshape_last_stage", true)) {
      description_.SetMetadata("layout." + b_->HiddenState(i), layout);
      if (last) description_.SetMetadata("layout.last_hidden_state", layout);
    }
    return b_->Norm(x, fmt::format("{}encoder.layer_norm.{}", prefix_, i), state);
  }

  std::string Layer(uint32_t i, uint32_t layer, const std::string& x) {
    const std::string at = fmt::format("{}encoder.block.{}.{}.", prefix_, i, layer);
    const std::string own = fmt::format("{}blocks.{}.", Own(i), layer), self = at + "attention.self.";
    b_->Norm(x, at + "layer_norm_1", own + "normed");
    std::string seen = own + "normed";
    if (ratios_[i] > 1) {
      Convolve(seen, self + "sr", grids_[i], ReducingFilter(i), Own(i) + "reduction", Own(i) + "reduced",
               own + "reduced");
      seen = b_->Norm(own + "reduced", self + "layer_norm", own + "reduced_normed");
    }
    b_->Linear(own + "normed", self + "query", own + "query");
    b_->Linear(seen, self + "key", own + "key");
    b_->Linear(seen, self + "value", own + "value");
    b_->Attention(fmt::format("attentions.{}", attentions_++), {own + "query", own + "key", own + "value"}, {},
                  own + "attended", {{"heads", heads_[i]}});
    b_->Linear(own + "attended", at + "attention.output.dense", own + "attention_output");
    b_->Op("add", {x, own + "attention_output"}, {}, own + "attention_sum");
    b_->Norm(own + "attention_sum", at + "layer_norm_2", own + "input");
    b_->Linear(own + "input", at + "mlp.dense1", own + "up");
    const std::string depthwise = at + "mlp.dwconv.dwconv";
    const Constant stored = weights_.Get(depthwise + ".weight");
    weights_.Add(depthwise + ".taps", Transpose(stored));
    b_->Op("convolve", {own + "up"}, {depthwise + ".taps", depthwise + ".bias", Own(i) + "neighbours"},
           own + "convolved", Json::object(), Own(i) + "patches");
    b_->Op("activate", {own + "convolved"}, {}, own + "activated", {{"activation", activation_}});
    b_->Linear(own + "activated", at + "mlp.dense2", own + "down");
    return b_->Op("add", {own + "attention_sum", own + "down"}, {}, own + "output");
  }

  void SegmentationHead() {
    if (!config_.Flag("reshape_last_stage", true)) {
      Fail("config.json: reshape_last_stage false cannot be combined with segmentation");
    }
    description_.SetMetadata("task", "semantic-segmentation");
    AddProjections();
    std::string sum;
    for (uint32_t i = 0; i < stages_; ++i) {
      const std::string x = Enlarged(i);
      sum = i == 0 ? x : b_->Op("add", {sum, x}, {}, head_ + Own(i) + "sum");
    }
    b_->Op("activate", {sum}, {}, head_ + "activated", {{"activation", "relu"}});
    description_.SetMetadata("layout.logits", fmt::format("channels_first {} {}", grids_[0].rows, grids_[0].columns));
    b_->Outputs({b_->Linear(head_ + "activated", head_ + "classifier", "logits")});
    b_->Labels(head_ + "classifier");
  }

  // One part of the head's batch norm.
  Constant BatchNorm(const char* part, uint32_t width) const {
    Constant values = weights_.Get(head_ + "batch_norm." + part);
    if (values.rows != 1 || values.width != width) Fail("tensor {}batch_norm.{} is not {} wide", head_, part, width);
    return values;
  }

  // A stage's projection and its part of the layer that reads all stages become one matrix, since upsampling commutes
  // with linear layers; the batch norm is folded into it. Stage 0 holds all biases.
  void AddProjections() {
    const Constant fuse = weights_.Get(head_ + "linear_fuse.weight");
    const uint32_t width = fuse.rows;
    if (fuse.width != uint64_t{stages_} * width) {
      Fail("tensor {}linear_fuse.weight is [{}, {}], not [{}, {}]", head_, width, fuse.width, width,
           uint64_t{stages_} * width);
    }
    const Constant gain = BatchNorm("weight", width), shift = BatchNorm("bias", width),
                   mean = BatchNorm("running_mean", width), variance = BatchNorm("running_var", width);
    const Constant factors = {1, width, [gain, variance] {
                                std::vector<float> values = gain.load();
                                const std::vector<float> squares = variance.load();
                                for (size_t i = 0; i < values.size(); ++i) values[i] /= sqrtf(squares[i] + 1e-5f);
                                return values;
                              }};
    std::vector<Constant> biases;
    for (uint32_t i = 0; i < stages_; ++i) {
      const std::string projection = fmt::format("{}linear_c.{}.proj", head_, i);
      const uint32_t place = stages_ - 1 - i;  // the last stage comes first
      const Constant part = Slice(fuse, {}, {place * width, (place + 1) * width});
      const Constant columns = Transpose(weights_.Get(projection + ".weight"));
      weights_.Add(head_ + Own(i) + "weight", ScaleRows(Product(part, columns), factors));
      biases.push_back(Product(weights_.Get(projection + ".bias"), part));
    }
    const Constant before = Sum(biases);
    weights_.Add(head_ + Own(0) + "bias", {1, width, [before, factors, mean, shift] {
                                             std::vector<float> values = before.load();
                                             const std::vector<float> f = factors.load(), m = mean.load(),
                                                                      s = shift.load();
                                             for (size_t i = 0; i < values.size(); ++i) {
                                               values[i] = (values[i] - m[i]) * f[i] + s[i];
                                             }
                                             return values;
                                           }});
  }

  // The projection of stage i on the grid of stage 0.
  std::string Enlarged(uint32_t i) {
    const std::string own = head_ + Own(i);
    std::vector<std::string> tensors = {own + "weight"};
    if (i == 0) tensors.push_back(own + "bias");
    const std::string x = b_->Op("linear", {b_->HiddenState(i)}, tensors, own + "projected");
    if (grids_[i].rows == grids_[0].rows && grids_[i].columns == grids_[0].columns) return x;
    const Blend blend = Bilinear(grids_[i], grids_[0]);
    weights_.Add(own + "rows", blend.rows);
    weights_.Add(own + "shares", blend.weights);
    return b_->Op("arrange", {x}, {own + "rows", own + "shares"}, own + "enlarged", Json::object(), Own(0) + "patches");
  }

  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  uint32_t stages_;
  const std::string head_ = "decode_head.";
  std::vector<uint32_t> depths_, heads_, ratios_, sizes_, strides_;
  std::string activation_, prefix_;
  std::vector<Grid> grids_;
  uint32_t attentions_ = 0;
  ProgramBuilder* b_ = nullptr;
};

}  // namespace

// The original: transformers/models/segformer/modeling_segformer.py: SegformerModel,
// SegformerForSemanticSegmentation.
void DescribeSegformer(const Checkpoint& checkpoint, Description& description) {
  Segformer(checkpoint, description).Describe();
}

}  // namespace fovea::tools
