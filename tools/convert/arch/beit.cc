// BEiT and Data2Vec of images: ViT with a bias for each distance in the grid of patches, learned factors on both
// branches, and the mean of the patches as the picture's embedding.
#include <algorithm>
#include <numeric>

#include "tools/base/fail.h"
#include "tools/convert/arch/patch_rows.h"
#include "tools/convert/arch/vit.h"

namespace fovea::tools {
namespace {

// Distances between patches are numbers: differences of coordinates in rows of 2 * columns - 1. The class token's
// coordinate is farther from the patches than any patch.
class PatchDistances {
 public:
  explicit PatchDistances(const ImageInput& image) : trained_(image.trained_patches()), patches_(image.patches()) {}

  Constant Places() const {
    const uint32_t reach = Offsets(patches_).count() / 2;
    std::vector<int32_t> places = {static_cast<int32_t>(2 * reach + 1)};
    for (uint32_t i = 0; i < patches_.count(); ++i) {
      places.push_back(static_cast<int32_t>(i / patches_.columns * Offsets(patches_).columns + i % patches_.columns));
    }
    return Indices(1, patches_.count() + 1, places);
  }

  // From a table of offsets between patches, query less key, then the scores of class to patch, of patch to class and
  // of the class to itself: a bias for attention, key less query, in which what is out of reach has the outermost
  // score. The class sees itself at distance 0, as a patch does: all of its scores are shifted alike, which changes no
  // weight.
  Constant Bias(const Constant& stored, const std::string& name) const {
    const Grid from = Offsets(trained_), to = Offsets(patches_);
    if (stored.rows != from.count() + 3) {
      Fail("tensor {} has {} rows, but {} x {} patches need {}", name, stored.rows, trained_.rows, trained_.columns,
           from.count() + 3);
    }
    // The original reads the table of a grid that is no square by its columns.
    const Constant offsets =
        Resample(Slice(stored, {0, from.count()}), {from.columns, from.rows}, to, Interpolation::kBilinear);
    const auto extra = [&](uint32_t i) { return Slice(stored, {from.count() + i, from.count() + i + 1}); };
    std::vector<uint32_t> reversed(to.count());
    std::iota(reversed.rbegin(), reversed.rend(), 0u);
    const uint32_t middle = to.count() / 2;
    const Constant shift = Sum({Slice(offsets, {middle, middle + 1}), Scale(extra(2), -1)});
    return Transpose(Concatenate({Sum({extra(0), shift}), Rows(offsets, reversed), extra(1)}));
  }

 private:
  static Grid Offsets(Grid grid) { return {2 * grid.rows - 1, 2 * grid.columns - 1}; }
  // Pick, also for a table of a single row.
  static Constant Rows(const Constant& table, const std::vector<uint32_t>& rows) {
    return table.rows == 1 ? table : Pick(table, rows);
  }

  Grid trained_, patches_;
};

LayerStack BeitStack(const Checkpoint& checkpoint, const std::string& prefix, const ImageInput& image,
                     Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string embeddings = prefix + "embeddings.", encoder = prefix + "encoder.";
  PatchRows rows = {embeddings + "patch_embeddings.projection", {weights.Get(embeddings + "cls_token")}};
  if (config.Flag("use_absolute_position_embeddings", false)) {
    const PatchPositions positions(weights, embeddings + "position_embeddings", 1, image);
    rows.tokens[0] = Sum({rows.tokens[0], positions.tokens[0]});
    rows.positions = positions.patches;
  }
  LayerStack stack;
  SetPatchRows(rows, image, description, stack);
  stack.norms = {"layer", config.Real("layer_norm_eps", 1e-12)};
  stack.heads = config.Number("num_attention_heads", 12);
  stack.activation = config.Activation("hidden_act", "gelu");
  const bool averages = config.Flag("use_mean_pooling", true);
  if (!averages) stack.final_norm = prefix + "layernorm";
  stack.last_state_is_normed = false;

  const bool own = config.Flag("use_relative_position_bias", false);
  const bool shared = config.Flag("use_shared_relative_position_bias", false);
  const PatchDistances distances(image);
  const std::string table = "relative_position_bias.relative_position_bias_table";
  if (own || shared) {
    stack.coordinates = "places";
    weights.Add("places", distances.Places());
  }
  if (shared && !own) {
    stack.distance_bias = "bias";
    weights.Add("bias", distances.Bias(weights.Get(encoder + table), encoder + table));
  }
  const bool scaled = config.Real("layer_scale_init_value", 0.1) > 0;
  const auto layer_of = [&](const std::string& name, const std::string& factors) {
    return scaled ? ScaleLayer(weights, name, factors) : name;
  };
  for (uint32_t i = 0; i < config.Number("num_hidden_layers", 12); ++i) {
    const std::string at = fmt::format("{}layer.{}.", encoder, i);
    StackLayer layer = VitLayer(at);
    layer.attention.output = layer_of(layer.attention.output, at + "lambda_1");
    layer.feed_forward.down = layer_of(layer.feed_forward.down, at + "lambda_2");
    if (own) {
      const std::string stored = at + "attention.attention." + table;
      Constant bias = weights.Get(stored);
      if (shared) bias = Sum({bias, weights.Get(encoder + table)});
      layer.distance_bias = fmt::format("bias.{}", i);
      weights.Add(layer.distance_bias, distances.Bias(bias, stored));
    }
    stack.layers.push_back(layer);
  }
  description.must_use = {rows.projection, embeddings + "position_embeddings", encoder, prefix + "layernorm."};
  return stack;
}

}  // namespace

// The original: transformers/models/beit/modeling_beit.py: BeitModel;
// transformers/models/data2vec/modeling_data2vec_vision.py: Data2VecVisionModel.
void DescribeBeit(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  const Weights& weights = description.weights;
  std::string base = config.Text("model_type");
  std::replace(base.begin(), base.end(), '-', '_');
  const std::string prefix = weights.Has("embeddings.cls_token") ? "" : base + ".";
  const bool classifies = checkpoint.task == Task::kImageClassification;
  if (!classifies && checkpoint.task != Task::kEmbedding)
    Fail("{} supports only image embedding and image classification", base);
  const ImageInput image(checkpoint, PartialPatches::kDropped, {224, 16});
  const LayerStack stack = BeitStack(checkpoint, prefix, image, description);
  // Sizes follow from the tensors; the remaining keys concern training, backbones and the head for segmentation.
  config.Ignore({"add_fpn", "auxiliary_channels", "auxiliary_concat_input", "auxiliary_loss_weight",
                 "auxiliary_num_convs", "drop_path_rate", "hidden_size", "intermediate_size", "out_features",
                 "out_indices", "pool_scales", "reshape_hidden_states", "semantic_loss_ignore_index", "stage_names",
                 "use_auxiliary_head", "use_mask_token"});

  ProgramBuilder builder(checkpoint, description, stack.norms, SpacesOf(stack), InputOf(stack));
  const std::string last = AddStack(stack, builder);
  const std::string norm = prefix + "pooler.layernorm";
  const bool averages = config.Flag("use_mean_pooling", true);
  std::vector<std::string> outputs = {last};
  if (!averages) {
    outputs.push_back(builder.Op("pool", {last}, {}, "pooler_output", {{"kind", "first"}}));
  } else if (classifies || weights.Has(norm + ".weight")) {
    outputs.push_back(builder.Norm(AddMeanOfPatches(last, 1, image, description, builder), norm, "pooler_output"));
  }
  if (classifies) {
    outputs = {builder.Linear("pooler_output", "classifier", "logits")};
    builder.Labels("classifier");
  }
  description.SetMetadata("task", classifies ? "image-classification" : "embedding");
  builder.Outputs(outputs);
  builder.End();
}

}  // namespace fovea::tools
