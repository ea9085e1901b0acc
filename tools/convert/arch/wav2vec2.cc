// wav2vec 2.0 and its relatives: samples of sound through strided convolutions, positions by a grouped convolution,
// then layers with norms after them or, "stable", in front.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/gated_positions.h"
#include "tools/convert/arch/grouped.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/arch/sound_front.h"
#include "tools/convert/arch/speech_heads.h"
#include "tools/convert/arch/x_vector.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

constexpr double kNormEpsilon = 1e-5;  // for norms without a key in config.json

std::vector<uint32_t> Numbers(const Config& config, const std::string& key, std::vector<uint32_t> absent) {
  const JsonView list = config.View(key);
  if (list.IsNull()) return absent;
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < list.List().size(); ++i) numbers.push_back(list.At(i).Number({1, UINT16_MAX}));
  return numbers;
}

std::string PlainNorm(ProgramBuilder& builder, const std::string& in, std::vector<std::string> tensors,
                      const std::string& out) {
  return builder.Op("norm", {in}, std::move(tensors), out, {{"kind", "layer"}, {"epsilon", kNormEpsilon}});
}

// Filters [out, in * kernel] of a convolution with weight norm: for each place of the kernel all filters together have
// the length given by `gains` [1, kernel].
Constant WeightNorm(Constant filters, Constant gains) {
  const uint32_t kernel = gains.width;
  if (gains.rows != 1 || kernel == 0 || filters.width % kernel != 0) {
    Fail("filters [{}, {}] do not match gains [{}, {}]", filters.rows, filters.width, gains.rows, gains.width);
  }
  return {filters.rows, filters.width, [filters, gains, kernel] {
            std::vector<float> values = filters.load();
            const std::vector<float> lengths = gains.load();
            std::vector<double> factors(kernel);
            for (size_t i = 0; i < values.size(); ++i) factors[i % kernel] += double{values[i]} * values[i];
            for (uint32_t k = 0; k < kernel; ++k) factors[k] = lengths[k] / sqrt(factors[k]);
            for (size_t i = 0; i < values.size(); ++i) {
              values[i] = static_cast<float>(values[i] * factors[i % kernel]);
            }
            return values;
          }};
}

class Encoder {
 public:
  Encoder(const Checkpoint& checkpoint, Description& description)
      : checkpoint_(checkpoint),
        config_(checkpoint.config),
        description_(description),
        weights_(description.weights),
        data2vec_(config_.Text("model_type") == "data2vec-audio"),
        stable_(!data2vec_ && config_.Flag("do_stable_layer_norm", false)),
        activation_(config_.Activation("feat_extract_activation", "gelu")) {
    for (const char* name : {"wav2vec2.", "hubert.", "unispeech.", "unispeech_sat.", "data2vec_audio.", "wavlm."}) {
      if (weights_.Has(std::string(name) + "feature_projection.projection.weight")) prefix_ = name;
    }
    ReadConvolutions();
    ReadAdapter();
  }

  void Describe() {
    const LayerStack stack = Stack();
    std::vector<Space> spaces = SpacesOf(stack);
    for (const Space& space : AdaptedSpaces(adapter_, weights_, stack.space)) spaces.push_back(space);
    const std::string last_space = adapted_ ? spaces.back().name : stack.space;
    if (checkpoint_.task == Task::kXVector) AddXVectorSpaces(last_space, spaces);
    // With an adapter its result is the last hidden state, not the last layer's.
    Checkpoint states = checkpoint_;
    if (adapted_) states.task = Task::kBackbone;
    ProgramBuilder builder(states, description_, stack.norms, spaces, InputOf(stack));
    SpeechHeads heads;
    heads.last = AddStack(stack, builder);
    for (size_t i = 0; i < stack.layers.size(); ++i) {
      heads.states.push_back(builder.HiddenState(static_cast<uint32_t>(i)));
    }
    heads.states.push_back(heads.last);
    if (adapted_) heads.last = Adapted(builder, heads.last);
    heads.space = last_space;
    FinishSpeech(heads, checkpoint_, description_, builder);
    for (const char* part : {"feature_extractor.", "feature_projection.", "encoder.", "adapter."}) {
      description_.must_use.push_back(prefix_ + part);
    }
    // Sizes follow from the tensors; the remaining keys concern training and other heads.
    config_.Ignore({"adapter_attn_dim",
                    "apply_spec_augment",
                    "classifier_proj_size",
                    "codevector_dim",
                    "contrastive_logits_temperature",
                    "conv_bias",
                    "conv_dim",
                    "ctc_loss_reduction",
                    "ctc_zero_infinity",
                    "diversity_loss_weight",
                    "intermediate_size",
                    "layerdrop",
                    "mask_channel_length",
                    "mask_channel_min_space",
                    "mask_channel_other",
                    "mask_channel_prob",
                    "mask_channel_selection",
                    "mask_feature_length",
                    "mask_feature_min_masks",
                    "mask_feature_prob",
                    "mask_time_length",
                    "hidden_size",
                    "mask_time_min_masks",
                    "mask_time_min_space",
                    "mask_time_other",
                    "mask_time_prob",
                    "mask_time_selection",
                    "num_clusters",
                    "num_codevector_groups",
                    "num_codevectors_per_group",
                    "num_ctc_classes",
                    "num_negatives",
                    "output_hidden_size",
                    "proj_codevector_dim",
                    "replace_prob",
                    "tdnn_dilation",
                    "tdnn_dim",
                    "tdnn_kernel",
                    "xvector_output_dim"});
  }

 private:
  // ---- what is stored ----

  void ReadConvolutions() {
    const std::vector<uint32_t> kernels = Numbers(config_, "conv_kernel", {10, 3, 3, 3, 3, 2, 2});
    const std::vector<uint32_t> strides = Numbers(config_, "conv_stride", {5, 2, 2, 2, 2, 2, 2});
    if (kernels.empty() || kernels.size() != strides.size() || kernels.size() > 32) {
      Fail("config.json: {} conv_kernel and {} conv_stride are not supported", kernels.size(), strides.size());
    }
    config_.Only("num_feat_extract_layers", kernels.size());
    const std::string norm = data2vec_ ? "layer" : config_.Text("feat_extract_norm", "group");
    if (norm != "layer" && norm != "group") Fail("config.json: feat_extract_norm {} is not supported", norm);
    layer_norms_ = norm == "layer";
    uint32_t channels = 1;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const std::string name = fmt::format("{}feature_extractor.conv_layers.{}.conv", prefix_, i);
      const Constant weight = weights_.Get(name + ".weight");
      if (strides[i] < 2) Fail("config.json: conv_stride {} is not supported", strides[i]);
      if (weight.width != uint64_t{channels} * kernels[i]) {
        Fail("tensor {}.weight is [{}, {}], not filters over {} x {}", name, weight.rows, weight.width, channels,
             kernels[i]);
      }
      const bool normed = layer_norms_ || i == 0;
      convolutions_.push_back({name, channels, strides[i], 0, normed ? "none" : activation_});
      channels = weight.rows;
    }
  }

  void ReadAdapter() {
    adapted_ = config_.Flag("add_adapter", false);
    const uint32_t stride = config_.Number("adapter_stride", 2), kernel = config_.Number("adapter_kernel_size", 3);
    const uint32_t layers = config_.View("num_adapter_layers").Number({1, 64}, 3);
    if (!adapted_) return;
    if (stride < 2) Fail("config.json: adapter_stride {} is not supported", stride);
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string name = fmt::format("{}adapter.layers.{}.conv", prefix_, i);
      const Constant weight = weights_.Get(name + ".weight");
      if (kernel == 0 || weight.rows % 2 != 0 || weight.width != uint64_t{weight.rows / 2} * kernel) {
        Fail("tensor {}.weight is [{}, {}], not two halves of filters over {} rows", name, weight.rows, weight.width,
             kernel);
      }
      adapter_.push_back({name, weight.rows / 2, stride, 1});
    }
  }

  // ---- from samples to rows ----

  Front FromSound() {
    Front front;
    front.spaces = {{"clips"}, {"samples", "clips"}};
    front.input = {"input_values", "samples", false, 1};
    for (size_t i = 0; i < convolutions_.size(); ++i) {
      const std::string name = i + 1 == convolutions_.size() ? "tokens" : fmt::format("frames.{}", i + 1);
      front.spaces.push_back(ConvolvedSpace(convolutions_[i], weights_, name, front.spaces.back().name));
    }
    front.rows = [this, spaces = front.spaces](ProgramBuilder& builder, const std::string& in, const std::string& out) {
      std::string x = in;
      for (size_t i = 0; i < convolutions_.size(); ++i) {
        const std::string made = fmt::format("convolutions.{}", i);
        x = Convolved(builder, i, x, made, spaces[i + 2].name);
      }
      x = Projected(builder, x, "projected");
      return builder.Op("add", {x, Positions(builder, x)}, {}, out);
    };
    return FromSamples(front, checkpoint_, description_);
  }

  std::string Convolved(ProgramBuilder& builder, size_t i, const std::string& in, const std::string& out,
                        const std::string& space) {
    const Convolution& convolution = convolutions_[i];
    if (!layer_norms_ && i != 0) return AddConvolution(convolution, weights_, builder, in, out, space);
    AddConvolution(convolution, weights_, builder, in, out + ".convolved", space);
    const std::string norm = fmt::format("{}feature_extractor.conv_layers.{}.layer_norm", prefix_, i);
    const std::vector<std::string> tensors = {norm + ".weight", norm + ".bias"};
    if (layer_norms_) {
      PlainNorm(builder, out + ".convolved", tensors, out + ".normed");
    } else {
      // A group for each channel: of a clip.
      builder.Op("standardize", {out + ".convolved"}, tensors, out + ".normed", {{"epsilon", kNormEpsilon}});
    }
    return Activated(builder, out + ".normed", out);
  }

  std::string Activated(ProgramBuilder& builder, const std::string& in, const std::string& out) {
    return builder.Op("activate", {in}, {}, out, {{"activation", activation_}});
  }

  std::string Projected(ProgramBuilder& builder, const std::string& in, const std::string& out) {
    const std::string at = prefix_ + "feature_projection.";
    const bool normed = config_.Flag("feat_proj_layer_norm", true);
    return builder.Linear(normed ? builder.Norm(in, at + "layer_norm", "extract_features") : in, at + "projection",
                          out);
  }

  // ---- positions ----

  // The rows of positions, made of rows `in`, to which they are added.
  std::string Positions(ProgramBuilder& builder, const std::string& in) {
    const std::string at = prefix_ + "encoder.pos_conv_embed.";
    if (!data2vec_) {
      const uint32_t kernel = config_.View("num_conv_pos_embeddings").Number({1, UINT16_MAX}, 128);
      const std::string x = BatchNormed(builder, in, at + "batch_norm");
      return GroupedConvolution(builder, x, at + "conv", kernel, activation_, "positions");
    }
    const uint32_t kernel = config_.View("conv_pos_kernel_size").Number({1, UINT16_MAX}, 19);
    const uint32_t count = config_.View("num_conv_pos_embeddings").Number({1, 64}, 5);
    std::string x = in;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string out = fmt::format("positions.{}", i);
      GroupedConvolution(builder, x, fmt::format("{}layers.{}.conv", at, i), kernel, "none", out + ".convolved");
      PlainNorm(builder, out + ".convolved", {}, out + ".normed");
      x = Activated(builder, out + ".normed", out);
    }
    return x;
  }

  // With what was learned of means and variances a factor and an addend for each column. (The zeros beyond the ends of
  // a clip are added after it, so the convolution cannot take it in.)
  std::string BatchNormed(ProgramBuilder& builder, const std::string& in, const std::string& name) {
    if (!config_.Flag("conv_pos_batch_norm", false)) return in;
    const Constant mean = weights_.Get(name + ".running_mean"), variance = weights_.Get(name + ".running_var");
    const Constant weight = weights_.Get(name + ".weight"), bias = weights_.Get(name + ".bias");
    for (const Constant& constant : {mean, variance, weight, bias}) {
      if (constant.rows != 1 || constant.width != mean.width) Fail("tensors {} must have equal widths", name);
    }
    const auto made = [=](bool addend) {
      return Constant{1, mean.width, [=] {
                        const std::vector<float> m = mean.load(), v = variance.load(), w = weight.load(),
                                                 b = bias.load();
                        std::vector<float> values;
                        for (size_t i = 0; i < m.size(); ++i) {
                          const double factor = w[i] / sqrt(double{v[i]} + kNormEpsilon);
                          values.push_back(static_cast<float>(addend ? b[i] - m[i] * factor : factor));
                        }
                        return values;
                      }};
    };
    weights_.Add(name + ".factors", made(false));
    weights_.Add(name + ".addends", made(true));
    return builder.Op("convolve", {in}, {name + ".factors", name + ".addends"}, "positions.normed");
  }

  // Filters over `kernel` rows around each row; of an even number, one more row before it than after it.
  std::string GroupedConvolution(ProgramBuilder& builder, const std::string& in, const std::string& name,
                                 uint32_t kernel, const std::string& activation, const std::string& out) {
    const Constant filters = Filters(name);
    const uint32_t groups = config_.View("num_conv_pos_embedding_groups").Number({1, 4096}, 16);
    if (filters.rows % groups != 0 || filters.width != uint64_t{filters.rows / groups} * kernel) {
      Fail("tensor {}.weight is [{}, {}], not {} groups of filters over {} rows", name, filters.rows, filters.width,
           groups, kernel);
    }
    const uint32_t width = filters.rows / groups;
    const Constant unfolded = Permute(filters, {filters.rows, width, kernel}, {0, 2, 1});
    const uint64_t work = uint64_t{2} * filters.rows * filters.width;
    const Json neighbours = {{"before", kernel / 2}, {"after", kernel - 1 - kernel / 2}};
    Json attributes = Json::object();
    if (activation != "none") attributes["activation"] = activation;
    const bool biased = weights_.Has(name + ".bias");
    return ForGroups(builder, in, groups, width, out,
                     [&](uint32_t group, const std::string& columns, const std::string& made) {
                       const std::string part = fmt::format("{}.groups.{}", name, group);
                       const Range range = {group * width, (group + 1) * width};
                       weights_.Add(part + ".weight", Slice(unfolded, range), work);
                       if (biased) weights_.Add(part + ".bias", Slice(weights_.Get(name + ".bias"), {}, range));
                       builder.Op("unfold", {columns}, {}, made + ".unfolded", neighbours);
                       return builder.Layer("linear", {made + ".unfolded"}, part, made, attributes);
                     });
  }

  // As they are, or with weight norm in either of the forms that it was stored in.
  Constant Filters(const std::string& name) const {
    const std::string old = name + ".weight_", now = name + ".parametrizations.weight.original";
    if (weights_.Has(old + "v")) return WeightNorm(weights_.Get(old + "v"), weights_.Get(old + "g"));
    if (weights_.Has(now + "1")) return WeightNorm(weights_.Get(now + "1"), weights_.Get(now + "0"));
    return weights_.Get(name + ".weight");
  }

  // ---- layers ----

  LayerStack Stack() {
    LayerStack stack;
    stack.front = FromSound();
    stack.norms = {"layer", config_.Real("layer_norm_eps", 1e-5)};
    stack.heads = config_.Number("num_attention_heads", 12);
    stack.activation = config_.Activation("hidden_act", "gelu");
    (stable_ ? stack.final_norm : stack.embedding_norm) = prefix_ + "encoder.layer_norm";
    const uint32_t layers = config_.Number("num_hidden_layers", 12);
    if (config_.Text("model_type") == "wavlm" && layers != 0) {
      gated_.emplace(config_, prefix_ + "encoder.layers.", stack.heads, weights_);
      stack.attend = [this](ProgramBuilder& builder, const StackSite& site) { return gated_->Attend(builder, site); };
    }
    // The original builds language adapters into pre-norm layers only.
    const bool adapts = stable_ && config_.Get("adapter_attn_dim").is_number();
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string at = fmt::format("{}encoder.layers.{}.", prefix_, i);
      StackLayer layer;
      layer.attention.query = at + "attention.q_proj";
      layer.attention.key = at + "attention.k_proj";
      layer.attention.value = at + "attention.v_proj";
      layer.attention.output = at + "attention.out_proj";
      if (gated_) gated_->Widen(i, layer.attention);
      layer.feed_forward.up = at + "feed_forward.intermediate_dense";
      layer.feed_forward.down = at + "feed_forward.output_dense";
      (stable_ ? layer.attention.norm : layer.attention.sum_norm) = at + "layer_norm";
      (stable_ ? layer.feed_forward.norm : layer.feed_forward.sum_norm) = at + "final_layer_norm";
      if (adapts) layer.after = LanguageAdapter(at + "adapter_layer.");
      stack.layers.push_back(layer);
    }
    return stack;
  }

  // A small layer that was trained for a language.
  static std::function<std::string(ProgramBuilder&, const std::string&, const std::string&)> LanguageAdapter(
      const std::string& name) {
    return [name](ProgramBuilder& builder, const std::string& in, const std::string& out) {
      PlainNorm(builder, in, {name + "norm.weight", name + "norm.bias"}, out + ".adapter.normed");
      builder.Linear(out + ".adapter.normed", name + "linear_1", out + ".adapter.up", "relu");
      return builder.Op("add", {in, builder.Linear(out + ".adapter.up", name + "linear_2", out + ".adapter")}, {}, out);
    };
  }

  std::string Adapted(ProgramBuilder& builder, std::string x) {
    const std::string at = prefix_ + "adapter.";
    if (weights_.Has(at + "proj.weight")) {
      builder.Linear(x, at + "proj", "adapter.projected");
      const std::string norm = at + "proj_layer_norm";
      x = PlainNorm(builder, "adapter.projected", {norm + ".weight", norm + ".bias"}, "adapter.normed");
    }
    for (size_t i = 0; i < adapter_.size(); ++i) {
      const bool last = i + 1 == adapter_.size();
      x = AddGatedConvolution(adapter_[i], weights_, builder, x,
                              last ? "last_hidden_state" : fmt::format("adapter.{}", i), fmt::format("adapted.{}", i));
    }
    return x;
  }

  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  const bool data2vec_, stable_;
  const std::string activation_;
  std::string prefix_;
  std::vector<Convolution> convolutions_, adapter_;
  bool layer_norms_ = false;  // after every convolution; else one norm over a clip, after the first
  bool adapted_ = false;
  std::optional<GatedPositions> gated_;
};

}  // namespace

// The original: transformers/models/wav2vec2/modeling_wav2vec2.py: Wav2Vec2Model; and the same of hubert, wavlm,
// unispeech, unispeech_sat; transformers/models/data2vec/modeling_data2vec_audio.py: Data2VecAudioModel.
void DescribeWav2Vec2(const Checkpoint& checkpoint, Description& description) {
  Encoder(checkpoint, description).Describe();
}

}  // namespace fovea::tools
