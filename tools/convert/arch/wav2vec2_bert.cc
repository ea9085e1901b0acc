// wav2vec2-BERT: frames of features through conformer blocks: half of a feed-forward, attention, a causal convolution
// of gated columns, half of another feed-forward, a norm.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/rotary.h"
#include "tools/convert/arch/sound_front.h"
#include "tools/convert/arch/speech_heads.h"
#include "tools/convert/arch/x_vector.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

const char kFrames[] = "frames", kBuckets[] = "encoder.distance_buckets";

// Row r encodes the distance of a key r - reach rows after the query: sines and cosines by turns.
Constant Distances(uint32_t reach, uint32_t width) {
  return {2 * reach + 1, width, [=] {
            std::vector<float> table;
            for (uint32_t r = 0; r <= 2 * reach; ++r) {
              const double before = static_cast<double>(reach) - r;
              for (uint32_t i = 0; i < width; ++i) {
                const double angle = before * pow(10000.0, -static_cast<double>(i - i % 2) / width);
                table.push_back(static_cast<float>(i % 2 == 0 ? sin(angle) : cos(angle)));
              }
            }
            return table;
          }};
}

// The ways in which scores depend on distances.
class Positions {
 public:
  Positions(const Config& config, const std::string& prefix, Weights& weights)
      : weights_(weights), heads_(config.Number("num_attention_heads", 16)), type_(TypeOf(config)) {
    const uint32_t left = config.View("left_max_position_embeddings").Number({0, 4096}, 64);
    const uint32_t right = config.View("right_max_position_embeddings").Number({0, 4096}, 8);
    const uint32_t rows = config.View("max_source_positions").Number({1, 1 << 13}, 5000);
    const RotaryKeys keys = {"rotary_embedding_base", 10000, "rope_scaling"};
    const Constant projection = weights_.Get(prefix + "feature_projection.projection.weight");
    width_ = projection.rows;
    if (width_ % heads_ != 0) Fail("config.json: num_attention_heads {} do not divide {} columns", heads_, width_);
    if (type_ == "rotary") {
      if (width_ / heads_ % 2 != 0)
        Fail("config.json: heads of {} columns cannot be split into pairs to rotate", width_ / heads_);
      rotary_ = ReadRotary(config, keys, width_ / heads_, "encoder", weights);
    } else {
      config.Ignore({keys.theta});  // other kinds of positions do not rotate
    }
    if (type_ == "relative") {
      reach_ = rows - 1;
      longest_ = rows;
      weights_.Add("encoder.distances", Distances(reach_, width_));
      weights_.Add("encoder.ones", Literal(1, 1, {1.0f}));
      weights_.Add("encoder.zeros", Literal(rows, 1, std::vector<float>(rows)));
    }
    // Bucket b is the distance b - `first`, between the last ones.
    const uint32_t first = type_ == "relative" ? reach_ : left, last = type_ == "relative" ? reach_ : right;
    if (type_ == "relative" || type_ == "relative_key") {
      const auto most = static_cast<int32_t>(std::max({first, last, 1u}));
      std::vector<int32_t> buckets;
      for (int32_t d = -most; d <= most; ++d) {
        const int32_t nearest = std::clamp(d, -static_cast<int32_t>(first), static_cast<int32_t>(last));
        buckets.push_back(nearest + static_cast<int32_t>(first));
      }
      weights_.Add(kBuckets, Indices(1, 2 * static_cast<uint32_t>(most) + 1, buckets));
      count_ = first + last + 1;
    }
  }

  uint32_t heads() const { return heads_; }
  uint32_t longest() const { return longest_; }  // the most frames of a clip; 0: any number

  // The rows that queries and keys are made of.
  std::string Placed(ProgramBuilder& b, const std::string& in) const {
    return rotary_.none() ? in : AddRotate(rotary_, b, in, heads_, in + ".turned");
  }

  // The same rows, of a clip that is no longer than distances are known.
  std::string Bounded(ProgramBuilder& b, const std::string& in, const std::string& out) const {
    if (longest_ == 0) return in;
    b.Op("fill", {}, {"encoder.ones"}, in + ".ones", Json::object(), kFrames);
    b.Op("position", {in + ".ones"}, {"encoder.zeros"}, in + ".placed");
    return b.Op("gate", {in + ".placed", in}, {}, out, {{"activation", "none"}});
  }

  // Tensors for the layer whose attention is stored as `at`. Its query projection is then `at` + "asking".
  AttentionTensors Tensors(const std::string& at) {
    const Constant query = weights_.Get(at + "linear_q.weight");
    if (query.rows != width_) Fail("tensor {}linear_q.weight has {} rows, not {}", at, query.rows, width_);
    weights_.Add(at + "asking.weight", query);
    const Constant bias = weights_.Get(at + "linear_q.bias");
    if (type_ == "relative_key") return WithKeys(at, bias, SharedKeys(at));
    if (type_ != "relative") {
      weights_.Add(at + "asking.bias", bias);
      return {};
    }
    const Constant content = Reshape(weights_.Get(at + "pos_bias_u"), 1, width_);
    const Constant places = weights_.Get(at + "pos_bias_v");
    const Constant all = Product(weights_.Get("encoder.distances"), weights_.Get(at + "linear_pos.weight"));
    const uint32_t size = width_ / heads_;
    const Constant keys = Reshape(Permute(all, {count_, heads_, size}, {1, 0, 2}), heads_ * count_, size);
    // (q + u) . k + (q + v) . p is q' . k + q' . p + (v - u) . p of q' = q + u.
    const Constant rest = Sum({Reshape(places, heads_, size), Scale(Reshape(content, heads_, size), -1)});
    const Constant projection = weights_.Get(at + "linear_pos.weight");
    std::vector<Constant> rows;
    for (uint32_t head = 0; head < heads_; ++head) {
      const Range own = {head * size, (head + 1) * size};
      rows.push_back(Product(Slice(rest, {head, head + 1}), Transpose(Slice(projection, own))));
    }
    const std::string added = at + "distance_bias";
    const Constant sums = Product(Concatenate(rows), weights_.Get("encoder.distances"));
    weights_.Add(added, Scale(sums, static_cast<float>(1 / sqrt(static_cast<double>(size)))),
                 uint64_t{count_} * width_);
    AttentionTensors tensors = WithKeys(at, Sum({bias, content}), keys);
    tensors.distance_bias = added;
    return tensors;
  }

 private:
  static std::string TypeOf(const Config& config) {
    if (config.Get("position_embeddings_type").is_null()) return "none";
    const std::string type = config.Text("position_embeddings_type");
    if (type != "relative_key" && type != "relative" && type != "rotary") {
      Fail("config.json: position_embeddings_type {} is not supported", type);
    }
    return type;
  }

  Constant SharedKeys(const std::string& at) const {
    const Constant table = weights_.Get(at + "distance_embedding.weight");
    if (table.rows != count_ || table.width != width_ / heads_) {
      Fail("tensor {}distance_embedding.weight is [{}, {}], not [{}, {}]", at, table.rows, table.width, count_,
           width_ / heads_);
    }
    return Concatenate(std::vector<Constant>(heads_, table));
  }

  AttentionTensors WithKeys(const std::string& at, const Constant& bias, const Constant& keys) {
    weights_.Add(at + "asking.bias", bias);
    weights_.Add(at + "distance_keys", keys);
    return {.relative_keys = at + "distance_keys", .buckets = kBuckets};
  }

  Weights& weights_;
  const uint32_t heads_;
  const std::string type_;
  uint32_t width_ = 0, reach_ = 0, longest_ = 0, count_ = 0;
  RotaryPositions rotary_;
};

class Encoder {
 public:
  Encoder(const Checkpoint& checkpoint, Description& description)
      : checkpoint_(checkpoint),
        config_(checkpoint.config),
        description_(description),
        weights_(description.weights),
        prefix_(weights_.Has("wav2vec2_bert.feature_projection.projection.weight") ? "wav2vec2_bert." : ""),
        norms_({"layer", config_.Real("layer_norm_eps", 1e-5)}),
        activation_(config_.Activation("hidden_act", "silu")),
        widened_(config_.Flag("use_intermediate_ffn_before_adapter", false)),
        adapted_(config_.Flag("add_adapter", false)),
        positions_(config_, prefix_, weights_) {
    ReadAdapter();
  }

  void Describe() {
    const Front front = FromSamples(FromFeatures(), checkpoint_, description_);
    std::vector<Space> spaces = front.spaces;
    for (const Space& space : AdaptedSpaces(adapter_, weights_, kFrames)) spaces.push_back(space);
    const std::string last_space = adapted_ ? spaces.back().name : kFrames;
    if (checkpoint_.task == Task::kXVector) AddXVectorSpaces(last_space, spaces);
    // With an adapter its result is the last hidden state, not the last layer's.
    Checkpoint states = checkpoint_;
    if (widened_ || adapted_) states.task = Task::kBackbone;
    ProgramBuilder b(states, description_, norms_, spaces, front.input);
    SpeechHeads heads;
    std::string x = front.rows(b, front.input.name, b.HiddenState(0));
    const uint32_t layers = config_.Number("num_hidden_layers", 24);
    for (uint32_t i = 0; i < layers; ++i) {
      heads.states.push_back(x);
      x = Layer(b, i, x, i + 1 == layers ? b.LastHiddenState(i + 1) : b.HiddenState(i + 1));
    }
    heads.states.push_back(x);
    if (widened_) x = Widened(b, x, adapted_ ? "widened" : "last_hidden_state");
    if (adapted_) x = Adapted(b, x);
    heads.last = x;
    heads.space = last_space;
    FinishSpeech(heads, checkpoint_, description_, b);
    for (const char* part : {"feature_projection.", "encoder.", "adapter.", "intermediate_ffn."}) {
      description_.must_use.push_back(prefix_ + part);
    }
    if (positions_.longest() != 0) description_.SetMetadata("max_positions", std::to_string(positions_.longest()));
    // Sizes follow from the tensors; the remaining keys concern training and other heads.
    config_.Ignore({"adapter_act",
                    "apply_spec_augment",
                    "classifier_proj_size",
                    "conv_depthwise_kernel_size",
                    "ctc_loss_reduction",
                    "ctc_zero_infinity",
                    "hidden_size",
                    "intermediate_size",
                    "layerdrop",
                    "mask_feature_length",
                    "mask_feature_min_masks",
                    "mask_feature_prob",
                    "mask_time_length",
                    "mask_time_min_masks",
                    "mask_time_prob",
                    "output_hidden_size",
                    "tdnn_dilation",
                    "tdnn_dim",
                    "tdnn_kernel",
                    "xvector_output_dim"});
  }

 private:
  void ReadAdapter() {
    const uint32_t stride = config_.View("adapter_stride").Number({1, UINT16_MAX}, 2);
    const uint32_t kernel = config_.View("adapter_kernel_size").Number({1, UINT16_MAX}, 3);
    const uint32_t layers = config_.View("num_adapter_layers").Number({1, 64}, 1);
    if (!adapted_) return;
    if (stride < 2) Fail("config.json: adapter_stride {} is not supported", stride);
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string name = fmt::format("{}adapter.layers.{}.residual_conv", prefix_, i);
      const Constant weight = weights_.Get(name + ".weight");
      if (weight.rows % 2 != 0 || weight.width != uint64_t{weight.rows / 2} * kernel) {
        Fail("tensor {}.weight is [{}, {}], not two halves of filters over {} rows", name, weight.rows, weight.width,
             kernel);
      }
      adapter_.push_back({name, weight.rows / 2, stride, stride / 2});
    }
  }

  Front FromFeatures() {
    Front front;
    front.spaces = {{"clips"}, {kFrames, "clips"}};
    front.input = {"input_features", kFrames, false, config_.Number("feature_projection_input_dim", 160)};
    front.rows = [this](ProgramBuilder& b, const std::string& in, const std::string& out) {
      const std::string at = prefix_ + "feature_projection.";
      const std::string normed =
          b.Norm(positions_.Bounded(b, in, "features.bounded"), at + "layer_norm", "extract_features");
      return b.Linear(normed, at + "projection", out);
    };
    return front;
  }

  // Half of what a feed-forward makes, and what it reads or `x`.
  std::string HalfFeedForward(ProgramBuilder& b, const std::string& name, const std::string& in, const std::string& x,
                              const std::string& activation, const std::string& out) {
    const std::string down = name + ".output_dense", half = down + ".half";
    weights_.Add(half + ".weight", Scale(weights_.Get(down + ".weight"), 0.5f));
    weights_.Add(half + ".bias", Scale(weights_.Get(down + ".bias"), 0.5f));
    b.Linear(in, name + ".intermediate_dense", out + ".up", activation);
    return b.Op("add", {x, b.Linear(out + ".up", half, out + ".down")}, {}, out);
  }

  std::string Layer(ProgramBuilder& b, uint32_t i, std::string x, const std::string& state) {
    const std::string name = fmt::format("{}encoder.layers.{}.", prefix_, i), at = fmt::format("layers.{}.", i);
    x = HalfFeedForward(b, name + "ffn1", b.Norm(x, name + "ffn1_layer_norm", at + "first_input"), x, activation_,
                        at + "first");
    const std::string in = b.Norm(x, name + "self_attn_layer_norm", at + "attention_input");
    const std::string tensors_of = name + "self_attn.";
    const AttentionTensors tensors = positions_.Tensors(tensors_of);
    const std::string placed = positions_.Placed(b, in);
    b.Linear(placed, tensors_of + "asking", at + "query");
    b.Linear(placed, tensors_of + "linear_k", at + "key");
    b.Linear(in, tensors_of + "linear_v", at + "value");
    b.Attention(fmt::format("attentions.{}", i), {at + "query", at + "key", at + "value"}, tensors, at + "attended",
                {{"heads", positions_.heads()}});
    b.Linear(at + "attended", tensors_of + "linear_out", at + "attention_output");
    x = b.Op("add", {x, at + "attention_output"}, {}, at + "attention_sum");
    x = b.Op("add", {x, Convolution(b, name + "conv_module.", x, at + "convolution.")}, {}, at + "convolution_sum");
    x = HalfFeedForward(b, name + "ffn2", b.Norm(x, name + "ffn2_layer_norm", at + "second_input"), x, activation_,
                        at + "second");
    return b.Norm(x, name + "final_layer_norm", state);
  }

  std::string Convolution(ProgramBuilder& b, const std::string& name, const std::string& in, const std::string& at) {
    const std::string kernel = name + "depthwise_conv.weight", taps = name + "depthwise_conv.taps";
    weights_.Add(taps, Transpose(weights_.Get(kernel)));  // stored as [columns, 1, taps]
    b.Norm(in, name + "layer_norm", at + "input");
    b.Linear(at + "input", name + "pointwise_conv1", at + "halves");
    AddGatedHalf(b, at + "halves", weights_.Get(kernel).rows, at + "gated");
    b.Op("convolve", {at + "gated"}, {taps}, at + "convolved");
    b.Norm(at + "convolved", name + "depthwise_layer_norm", at + "normed");
    b.Op("activate", {at + "normed"}, {}, at + "activated", {{"activation", activation_}});
    return b.Linear(at + "activated", name + "pointwise_conv2", at + "output");
  }

  std::string Widened(ProgramBuilder& b, const std::string& x, const std::string& out) {
    return HalfFeedForward(b, prefix_ + "intermediate_ffn", x, x, "relu", out);
  }

  std::string Adapted(ProgramBuilder& b, std::string x) {
    const std::string stored = prefix_ + "adapter.";
    if (weights_.Has(stored + "proj.weight")) {
      b.Linear(x, stored + "proj", "adapter.projected");
      x = b.Norm("adapter.projected", stored + "proj_layer_norm", "adapter.normed");
    }
    for (size_t i = 0; i < adapter_.size(); ++i) {
      const bool last = i + 1 == adapter_.size();
      x = AdapterLayer(b, i, x, last ? "last_hidden_state" : fmt::format("adapter.{}", i));
    }
    return x;
  }

  // Two convolutions: one in front of attention, the other in place of what attention is added to.
  std::string AdapterLayer(ProgramBuilder& b, size_t i, const std::string& x, const std::string& out) {
    const std::string name = fmt::format("{}adapter.layers.{}.", prefix_, i), at = fmt::format("adapter.{}.", i);
    const std::string space = fmt::format("adapted.{}", i), self = name + "self_attn.";
    tools::Convolution convolution = adapter_[i];
    b.Norm(x, name + "residual_layer_norm", at + "residual_input");
    AddGatedConvolution(convolution, weights_, b, at + "residual_input", at + "residual", space);
    convolution.name = name + "self_attn_conv";
    b.Norm(x, name + "self_attn_layer_norm", at + "attention_input");
    AddGatedConvolution(convolution, weights_, b, at + "attention_input", at + "shortened", space);
    b.Linear(at + "shortened", self + "linear_q", at + "query");
    b.Linear(at + "shortened", self + "linear_k", at + "key");
    b.Linear(at + "shortened", self + "linear_v", at + "value");
    b.Attention(fmt::format("adapter_attentions.{}", i), {at + "query", at + "key", at + "value"}, {}, at + "attended",
                {{"heads", positions_.heads()}});
    b.Linear(at + "attended", self + "linear_out", at + "attention_output");
    const std::string middle = b.Op("add", {at + "residual", at + "attention_output"}, {}, at + "middle");
    b.Norm(middle, name + "ffn_layer_norm", at + "input");
    b.Linear(at + "input", name + "ffn.intermediate_dense", at + "up", config_.Activation("adapter_act", "relu"));
    return b.Op("add", {middle, b.Linear(at + "up", name + "ffn.output_dense", at + "down")}, {}, out);
  }

  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  const std::string prefix_;
  const NormStyle norms_;
  const std::string activation_;
  const bool widened_, adapted_;
  Positions positions_;
  std::vector<tools::Convolution> adapter_;
};

}  // namespace

// The original: transformers/models/wav2vec2_bert/modeling_wav2vec2_bert.py: Wav2Vec2BertModel.
void DescribeWav2Vec2Bert(const Checkpoint& checkpoint, Description& description) {
  Encoder(checkpoint, description).Describe();
}

}  // namespace fovea::tools
