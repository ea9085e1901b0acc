// Encoders of speech as the original library defines them, written down plainly in double precision: wav2vec 2.0 and
// its relatives, and wav2vec2-BERT.
#ifndef FOVEA_TESTS_GOLDEN_SPEECH_REFERENCE_H_
#define FOVEA_TESTS_GOLDEN_SPEECH_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/golden/sound_reference.h"
#include "tools/base/json.h"

namespace fovea::test {

struct SpeechTensor {
  std::vector<uint64_t> shape;
  std::vector<float> values;
};
using SpeechTensors = std::map<std::string, SpeechTensor>;

// Layers that all of these encoders use.
class SpeechLayers {
 public:
  SpeechLayers(const tools::Json& config, const SpeechTensors& tensors) : config_(config), tensors_(tensors) {}

  bool Has(const std::string& name) const { return tensors_.count(name) != 0; }
  const std::vector<float>& Values(const std::string& name) const { return tensors_.at(name).values; }
  const std::vector<uint64_t>& Shape(const std::string& name) const { return tensors_.at(name).shape; }
  template <typename T>
  T Set(const char* key, T absent) const {
    return config_.contains(key) && !config_[key].is_null() ? config_[key].get<T>() : absent;
  }

  double Activated(double x, const std::string& name) const {
    if (name == "relu") return std::max(x, 0.0);
    if (name == "silu" || name == "swish") return x / (1 + std::exp(-x));
    if (name == "tanh") return std::tanh(x);
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  }
  Rows Activated(Rows x, const std::string& name) const {
    for (auto& row : x) {
      for (double& v : row) v = Activated(v, name);
    }
    return x;
  }
  Rows Linear(const Rows& x, const std::string& name) const {
    const std::vector<float>& w = Values(name + ".weight");
    const size_t made = Shape(name + ".weight")[0];
    Rows y;
    for (const auto& row : x) {
      y.emplace_back(made);
      for (size_t r = 0; r < made; ++r) {
        if (Has(name + ".bias")) y.back()[r] = Values(name + ".bias")[r];
        for (size_t c = 0; c < row.size(); ++c) y.back()[r] += double{w[r * row.size() + c]} * row[c];
      }
    }
    return y;
  }
  // Each row; without a name no weight and bias.
  Rows Norm(Rows x, const std::string& name, double epsilon) const {
    for (auto& row : x) Normalize(row, epsilon);
    for (auto& row : x) {
      for (size_t c = 0; c < row.size() && !name.empty(); ++c) {
        row[c] = row[c] * Values(name + ".weight")[c] + Values(name + ".bias")[c];
      }
    }
    return x;
  }
  static void Normalize(std::vector<double>& row, double epsilon) {
    double mean = 0, variance = 0;
    const auto count = static_cast<double>(row.size());
    for (const double v : row) mean += v / count;
    for (const double v : row) variance += (v - mean) * (v - mean) / count;
    for (double& v : row) v = (v - mean) / std::sqrt(variance + epsilon);
  }
  static Rows Sum(Rows x, const Rows& y, double factor = 1) {
    for (size_t r = 0; r < x.size(); ++r) {
      for (size_t c = 0; c < x[r].size(); ++c) x[r][c] += factor * y[r][c];
    }
    return x;
  }
  // Weights [out, in / groups, kernel]; rows outside are zeros.
  static Rows Convolve(const Rows& x, const std::vector<double>& weights, const std::vector<float>* bias, size_t kernel,
                       size_t stride, size_t before, size_t after, size_t groups) {
    const size_t in = x.empty() ? 0 : x[0].size(), own = std::max<size_t>(in / groups, 1);
    const size_t made = weights.size() / (own * kernel);
    Rows y;
    for (size_t first = 0; first + kernel <= x.size() + before + after; first += stride) {
      y.emplace_back(made);
      for (size_t o = 0; o < made; ++o) {
        double sum = bias == nullptr ? 0 : (*bias)[o];
        const size_t group = o / (made / groups);
        for (size_t k = 0; k < kernel; ++k) {
          if (first + k < before || first + k - before >= x.size()) continue;
          const auto& row = x[first + k - before];
          for (size_t c = 0; c < own; ++c) sum += weights[(o * own + c) * kernel + k] * row[group * own + c];
        }
        y.back()[o] = sum;
      }
    }
    return y;
  }
  Rows Convolve(const Rows& x, const std::string& name, size_t stride, size_t padding) const {
    const std::vector<float>& w = Values(name + ".weight");
    return Convolve(x, {w.begin(), w.end()}, Has(name + ".bias") ? &Values(name + ".bias") : nullptr,
                    Shape(name + ".weight")[2], stride, padding, padding, 1);
  }
  // Half of the columns by the other half.
  static Rows Gated(const Rows& x) {
    Rows y;
    for (const auto& row : x) {
      y.emplace_back();
      for (size_t c = 0; c < row.size() / 2; ++c) y.back().push_back(row[c] / (1 + std::exp(-row[c + row.size() / 2])));
    }
    return y;
  }
  // `more`: what is added to the product of a query and a key, both divided by the root of their size together.
  using More = std::function<double(size_t head, size_t i, size_t j, const double* query)>;
  static Rows Attend(const Rows& q, const Rows& k, const Rows& v, size_t heads, const More& more = {}) {
    const size_t size = q.empty() ? 0 : q[0].size() / heads;
    Rows y(q.size(), std::vector<double>(size * heads));
    for (size_t i = 0; i < q.size(); ++i) {
      for (size_t h = 0; h < heads; ++h) {
        std::vector<double> weights;
        double sum = 0;
        for (size_t j = 0; j < k.size(); ++j) {
          double score = more ? more(h, i, j, q[i].data() + h * size) : 0;
          for (size_t c = h * size; c < (h + 1) * size; ++c) score += q[i][c] * k[j][c];
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
          sum += weights.back();
        }
        for (size_t j = 0; j < k.size(); ++j) {
          for (size_t c = h * size; c < (h + 1) * size; ++c) y[i][c] += weights[j] / sum * v[j][c];
        }
      }
    }
    return y;
  }
  static std::vector<double> Mean(const Rows& x) {
    std::vector<double> mean(x[0].size());
    for (const auto& row : x) {
      for (size_t c = 0; c < row.size(); ++c) mean[c] += row[c] / static_cast<double>(x.size());
    }
    return mean;
  }

  // The heads of both families, of all hidden states and what comes after them.
  Rows Scores(const std::string& head, const std::vector<Rows>& states, const Rows& last) const {
    if (head == "ctc") return Linear(last, "lm_head");
    Rows x = last;
    if (Set("use_weighted_layer_sum", false)) {
      double sum = 0;
      for (const float w : Values("layer_weights")) sum += std::exp(double{w});
      x = Rows(last.size(), std::vector<double>(last[0].size()));
      for (size_t i = 0; i < states.size(); ++i)
        x = Sum(x, states[i], std::exp(double{Values("layer_weights")[i]}) / sum);
    }
    if (head == "frames") return Linear(x, "classifier");
    return Linear({Mean(Linear(x, "projector"))}, "classifier");
  }

 protected:
  const tools::Json& config_;
  const SpeechTensors& tensors_;
};

class Wav2Vec2Reference : public SpeechLayers {
 public:
  Wav2Vec2Reference(const tools::Json& config, const SpeechTensors& tensors, std::string prefix)
      : SpeechLayers(config, tensors),
        prefix_(std::move(prefix)),
        data2vec_(Set<std::string>("model_type", "") == "data2vec-audio"),
        activation_(Set<std::string>("feat_extract_activation", "gelu")),
        epsilon_(Set("layer_norm_eps", 1e-5)) {}

  struct Result {
    Rows features;  // normed
    std::vector<Rows> states;
    Rows last;
  };
  // `valid`: samples that are no padding; 0: all.
  Result Run(const std::vector<float>& samples, size_t valid = 0) const {
    Rows x = Convolved(samples);
    if (valid != 0) x.resize(Length(valid));
    Result result;
    const std::string at = prefix_ + "feature_projection.";
    if (Has(at + "layer_norm.weight")) x = Norm(x, at + "layer_norm", epsilon_);
    result.features = x;
    x = Linear(x, at + "projection");
    x = Sum(x, Positions(x));
    const bool stable = !data2vec_ && Set("do_stable_layer_norm", false);
    if (!stable) x = Norm(x, prefix_ + "encoder.layer_norm", epsilon_);
    const auto layers = Set<size_t>("num_hidden_layers", 12);
    for (size_t i = 0; i < layers; ++i) {
      result.states.push_back(x);
      x = Layer(x, prefix_ + "encoder.layers." + std::to_string(i) + ".", stable);
    }
    if (stable) x = Norm(x, prefix_ + "encoder.layer_norm", epsilon_);
    result.states.push_back(x);
    result.last = Set("add_adapter", false) ? Adapted(x) : x;
    return result;
  }

 private:
  size_t Length(size_t samples) const {
    for (size_t i = 0; i < config_["conv_kernel"].size(); ++i) {
      samples = (samples - config_["conv_kernel"][i].get<size_t>()) / config_["conv_stride"][i].get<size_t>() + 1;
    }
    return samples;
  }
  Rows Convolved(const std::vector<float>& samples) const {
    Rows x;
    for (const float sample : samples) x.push_back({sample});
    const bool every = data2vec_ || Set<std::string>("feat_extract_norm", "group") == "layer";
    for (size_t i = 0; i < config_["conv_stride"].size(); ++i) {
      const std::string at = prefix_ + "feature_extractor.conv_layers." + std::to_string(i) + ".";
      x = Convolve(x, at + "conv", config_["conv_stride"][i].get<size_t>(), 0);
      if (every) x = Norm(x, at + "layer_norm", 1e-5);
      if (!every && i == 0) {
        for (size_t c = 0; c < x[0].size(); ++c) {
          std::vector<double> column;
          for (const auto& row : x) column.push_back(row[c]);
          Normalize(column, 1e-5);
          for (size_t r = 0; r < x.size(); ++r) {
            x[r][c] = column[r] * Values(at + "layer_norm.weight")[c] + Values(at + "layer_norm.bias")[c];
          }
        }
      }
      x = Activated(x, activation_);
    }
    return x;
  }
  Rows Positions(Rows x) const {
    const std::string at = prefix_ + "encoder.pos_conv_embed.";
    const auto groups = Set<size_t>("num_conv_pos_embedding_groups", 16);
    const auto convolve = [&](const Rows& rows, const std::string& name, const std::vector<double>& weights,
                              size_t kernel) {
      return Convolve(rows, weights, &Values(name + ".bias"), kernel, 1, kernel / 2, kernel - 1 - kernel / 2, groups);
    };
    if (data2vec_) {
      const auto kernel = Set<size_t>("conv_pos_kernel_size", 19);
      for (size_t i = 0; i < Set<size_t>("num_conv_pos_embeddings", 5); ++i) {
        const std::string name = at + "layers." + std::to_string(i) + ".conv";
        const std::vector<float>& w = Values(name + ".weight");
        x = Activated(Norm(convolve(x, name, {w.begin(), w.end()}, kernel), "", 1e-5), activation_);
      }
      return x;
    }
    const auto kernel = Set<size_t>("num_conv_pos_embeddings", 128);
    const std::string name = at + "conv";
    if (Set("conv_pos_batch_norm", false)) {
      const std::string norm = at + "batch_norm.";
      for (auto& row : x) {
        for (size_t c = 0; c < row.size(); ++c) {
          row[c] = (row[c] - Values(norm + "running_mean")[c]) / std::sqrt(Values(norm + "running_var")[c] + 1e-5) *
                       Values(norm + "weight")[c] +
                   Values(norm + "bias")[c];
        }
      }
      const std::vector<float>& w = Values(name + ".weight");
      return Activated(convolve(x, name, {w.begin(), w.end()}, kernel), activation_);
    }
    const bool old = Has(name + ".weight_v");
    const std::vector<float>& g = Values(name + (old ? ".weight_g" : ".parametrizations.weight.original0"));
    const std::vector<float>& v = Values(name + (old ? ".weight_v" : ".parametrizations.weight.original1"));
    std::vector<double> weights(v.begin(), v.end()), lengths(kernel);
    for (size_t i = 0; i < v.size(); ++i) lengths[i % kernel] += weights[i] * weights[i];
    for (size_t i = 0; i < v.size(); ++i) weights[i] *= g[i % kernel] / std::sqrt(lengths[i % kernel]);
    return Activated(convolve(x, name, weights, kernel), activation_);
  }
  Rows Layer(const Rows& x, const std::string& at, bool stable) const {
    const auto heads = Set<size_t>("num_attention_heads", 12);
    const auto attend = [&](const Rows& in) {
      return Linear(Attend(Linear(in, at + "attention.q_proj"), Linear(in, at + "attention.k_proj"),
                           Linear(in, at + "attention.v_proj"), heads, GatedBias(in, at + "attention.")),
                    at + "attention.out_proj");
    };
    const auto feed = [&](const Rows& in) {
      return Linear(
          Activated(Linear(in, at + "feed_forward.intermediate_dense"), Set<std::string>("hidden_act", "gelu")),
          at + "feed_forward.output_dense");
    };
    if (!stable) {
      const Rows middle = Norm(Sum(x, attend(x)), at + "layer_norm", epsilon_);
      return Norm(Sum(middle, feed(middle)), at + "final_layer_norm", epsilon_);
    }
    const Rows middle = Sum(x, attend(Norm(x, at + "layer_norm", epsilon_)));
    const Rows out = Sum(middle, feed(Norm(middle, at + "final_layer_norm", epsilon_)));
    if (Set("adapter_attn_dim", 0) == 0) return out;
    const std::string adapter = at + "adapter_layer.";
    return Sum(out, Linear(Activated(Linear(Norm(out, adapter + "norm", 1e-5), adapter + "linear_1"), "relu"),
                           adapter + "linear_2"));
  }
  // WavLM's: of the first layer's table, times a gate.
  More GatedBias(const Rows& in, const std::string& at) const {
    if (!Has(at + "gru_rel_pos_const")) return {};
    return [&in, at, gate = 0.0, this](size_t h, size_t i, size_t j, const double*) mutable {
      const auto heads = Set<size_t>("num_attention_heads", 12), size = in[0].size() / heads;
      double gates[2] = {};
      for (size_t r = 0; r < 8 && j == 0; ++r) {  // it is that of all keys
        gates[r / 4] += Values(at + "gru_rel_pos_linear.bias")[r];
        for (size_t c = 0; c < size; ++c) {
          gates[r / 4] += Values(at + "gru_rel_pos_linear.weight")[r * size + c] * in[i][h * size + c];
        }
      }
      for (double& part : gates) part = 1 / (1 + std::exp(-part));
      if (j == 0) gate = gates[0] * (gates[1] * Values(at + "gru_rel_pos_const")[h] - 1) + 2;
      const int half = Set("num_buckets", 320) / 2, exact = half / 2;
      const int distance = static_cast<int>(j) - static_cast<int>(i), far = std::abs(distance);
      int bucket = far;
      if (far >= exact) {
        const double share = std::log(static_cast<float>(far) / exact) /
                             std::log(Set("max_bucket_distance", 800) / static_cast<double>(exact));
        bucket = std::min(exact + static_cast<int>(static_cast<float>(share * (half - exact))), half - 1);
      }
      if (distance > 0) bucket += half;
      const std::vector<float>& biases = Values(prefix_ + "encoder.layers.0.attention.rel_attn_embed.weight");
      return gate * biases[static_cast<size_t>(bucket) * heads + h] * std::sqrt(static_cast<double>(size));
    };
  }
  Rows Adapted(Rows x) const {
    const std::string at = prefix_ + "adapter.";
    if (Has(at + "proj.weight")) x = Norm(Linear(x, at + "proj"), at + "proj_layer_norm", 1e-5);
    for (size_t i = 0; i < Set<size_t>("num_adapter_layers", 3); ++i) {
      x = Gated(Convolve(x, at + "layers." + std::to_string(i) + ".conv", Set<size_t>("adapter_stride", 2), 1));
    }
    return x;
  }

  const std::string prefix_;
  const bool data2vec_;
  const std::string activation_;
  const double epsilon_;
};

class Wav2Vec2BertReference : public SpeechLayers {
 public:
  Wav2Vec2BertReference(const tools::Json& config, const SpeechTensors& tensors, std::string prefix)
      : SpeechLayers(config, tensors), prefix_(std::move(prefix)), epsilon_(Set("layer_norm_eps", 1e-5)) {}

  struct Result {
    std::vector<Rows> states;
    Rows last;
  };
  Result Run(const Rows& features) const {
    const std::string at = prefix_ + "feature_projection.";
    Rows x = Linear(Norm(features, at + "layer_norm", epsilon_), at + "projection");
    Result result;
    for (size_t i = 0; i < Set<size_t>("num_hidden_layers", 24); ++i) {
      result.states.push_back(x);
      x = Layer(x, prefix_ + "encoder.layers." + std::to_string(i) + ".");
    }
    result.states.push_back(x);
    if (Set("use_intermediate_ffn_before_adapter", false)) {
      x = Sum(x, FeedForward(x, prefix_ + "intermediate_ffn", "relu"), 0.5);
    }
    result.last = Set("add_adapter", false) ? Adapted(x) : x;
    return result;
  }

 private:
  size_t heads() const { return Set<size_t>("num_attention_heads", 16); }

  Rows FeedForward(const Rows& x, const std::string& name, const std::string& activation) const {
    return Linear(Activated(Linear(x, name + ".intermediate_dense"), activation), name + ".output_dense");
  }
  Rows Layer(Rows x, const std::string& at) const {
    const auto activation = Set<std::string>("hidden_act", "swish");
    x = Sum(x, FeedForward(Norm(x, at + "ffn1_layer_norm", epsilon_), at + "ffn1", activation), 0.5);
    x = Sum(x, Attention(Norm(x, at + "self_attn_layer_norm", epsilon_), at + "self_attn."));
    const std::string convolution = at + "conv_module.";
    Rows y = Gated(Linear(Norm(x, convolution + "layer_norm", epsilon_), convolution + "pointwise_conv1"));
    const std::vector<float>& w = Values(convolution + "depthwise_conv.weight");
    const size_t kernel = Shape(convolution + "depthwise_conv.weight")[2];
    y = Convolve(y, {w.begin(), w.end()}, nullptr, kernel, 1, kernel - 1, 0, x[0].size());
    y = Activated(Norm(y, convolution + "depthwise_layer_norm", epsilon_), activation);
    x = Sum(x, Linear(y, convolution + "pointwise_conv2"));
    x = Sum(x, FeedForward(Norm(x, at + "ffn2_layer_norm", epsilon_), at + "ffn2", activation), 0.5);
    return Norm(x, at + "final_layer_norm", epsilon_);
  }
  // By distance: sines and cosines of it by turns.
  std::vector<double> Sinusoid(double distance, size_t width) const {
    std::vector<double> row;
    for (size_t c = 0; c < width; ++c) {
      const double angle =
          distance * std::exp(-static_cast<double>(c - c % 2) * std::log(10000.0) / static_cast<double>(width));
      row.push_back(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
    return row;
  }
  Rows Turned(Rows x) const {
    const size_t size = x[0].size() / heads();
    for (size_t p = 0; p < x.size(); ++p) {
      for (size_t first = 0; first < x[p].size(); first += size) {
        for (size_t c = 0; c < size / 2; ++c) {
          const double angle =
              static_cast<double>(p) * std::pow(Set("rotary_embedding_base", 10000.0),
                                                -2.0 * static_cast<double>(c) / static_cast<double>(size));
          double& a = x[p][first + c];
          double& b = x[p][first + c + size / 2];
          const double turned = a * std::cos(angle) - b * std::sin(angle);
          b = b * std::cos(angle) + a * std::sin(angle);
          a = turned;
        }
      }
    }
    return x;
  }
  Rows Attention(const Rows& x, const std::string& at) const {
    const auto type = Set<std::string>("position_embeddings_type", "none");
    const Rows placed = type == "rotary" ? Turned(x) : x;
    Rows q = Linear(placed, at + "linear_q"), k = Linear(placed, at + "linear_k"), v = Linear(x, at + "linear_v");
    const size_t size = q[0].size() / heads();
    More more;
    if (type == "relative_key") {
      more = [&, left = Set("left_max_position_embeddings", 64), right = Set("right_max_position_embeddings", 8)](
                 size_t, size_t i, size_t j, const double* query) {
        const int distance = std::clamp(static_cast<int>(j) - static_cast<int>(i), -left, right) + left;
        double sum = 0;
        for (size_t c = 0; c < size; ++c) {
          sum += query[c] * Values(at + "distance_embedding.weight")[static_cast<size_t>(distance) * size + c];
        }
        return sum;
      };
    }
    if (type == "relative") {
      more = [&](size_t h, size_t i, size_t j, const double* query) {
        const double distance = static_cast<double>(i) - static_cast<double>(j);
        const std::vector<double> p = Linear({Sinusoid(distance, x[0].size())}, at + "linear_pos")[0];
        double sum = 0;
        for (size_t c = 0; c < size; ++c) {
          sum += Values(at + "pos_bias_u")[h * size + c] * k[j][h * size + c];
          sum += (query[c] + Values(at + "pos_bias_v")[h * size + c]) * p[h * size + c];
        }
        return sum;
      };
    }
    return Linear(Attend(q, k, v, heads(), more), at + "linear_out");
  }
  Rows Adapted(Rows x) const {
    const std::string adapter = prefix_ + "adapter.";
    if (Has(adapter + "proj.weight")) x = Norm(Linear(x, adapter + "proj"), adapter + "proj_layer_norm", epsilon_);
    const auto stride = Set<size_t>("adapter_stride", 2);
    for (size_t i = 0; i < Set<size_t>("num_adapter_layers", 1); ++i) {
      const std::string at = adapter + "layers." + std::to_string(i) + ".", self = at + "self_attn.";
      const Rows residual =
          Gated(Convolve(Norm(x, at + "residual_layer_norm", epsilon_), at + "residual_conv", stride, stride / 2));
      const Rows in =
          Gated(Convolve(Norm(x, at + "self_attn_layer_norm", epsilon_), at + "self_attn_conv", stride, stride / 2));
      x = Sum(residual, Linear(Attend(Linear(in, self + "linear_q"), Linear(in, self + "linear_k"),
                                      Linear(in, self + "linear_v"), heads()),
                               self + "linear_out"));
      x = Sum(x, FeedForward(Norm(x, at + "ffn_layer_norm", epsilon_), at + "ffn",
                             Set<std::string>("adapter_act", "relu")));
    }
    return x;
  }

  const std::string prefix_;
  const double epsilon_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_SPEECH_REFERENCE_H_
