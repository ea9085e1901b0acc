#include "tests/convert/dense_model.h"

#include <cmath>
#include <stdexcept>

namespace fovea::test {
namespace {

using Row = std::vector<double>;

const std::vector<float>& Values(const DenseTensors& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw std::runtime_error("the dense model has no " + name);
  return found->second.second;
}

Row Norm(const DenseModel& model, const DenseTensors& tensors, const Row& x, const std::string& name, size_t part) {
  const bool plain = name == "plain";
  Row out(x.size());
  for (size_t at = 0; at < x.size(); at += part) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < part; ++i) mean += model.rms ? 0 : x[at + i] / static_cast<double>(part);
    for (size_t i = 0; i < part; ++i) square += (x[at + i] - mean) * (x[at + i] - mean) / static_cast<double>(part);
    for (size_t i = 0; i < part; ++i) {
      const double weight = plain ? 1 : Values(tensors, name + ".weight")[i] + model.weight_offset;
      const double bias = !plain && tensors.count(name + ".bias") != 0 ? Values(tensors, name + ".bias")[i] : 0;
      out[at + i] = (x[at + i] - mean) / std::sqrt(square + model.epsilon) * weight + bias;
    }
  }
  return out;
}

void Rotate(const DenseModel& model, size_t position, Row& x) {
  const size_t half = model.rotated / 2;
  for (size_t at = 0; at < x.size(); at += model.head) {
    for (size_t i = 0; i < half; ++i) {
      double angle =
          static_cast<double>(position) / std::pow(model.theta, 2.0 * static_cast<double>(i) / model.rotated);
      if (!model.divisors.empty()) angle /= model.divisors[i];
      if (model.backwards) angle = -angle;
      double& a = x[at + (model.interleaved ? 2 * i : i)];
      double& b = x[at + (model.interleaved ? 2 * i + 1 : i + half)];
      const double old = a;
      a = old * std::cos(angle) - b * std::sin(angle);
      b = b * std::cos(angle) + old * std::sin(angle);
    }
  }
}

class Walk {
 public:
  Walk(const DenseModel& model, const DenseTensors& tensors) : model_(model), tensors_(tensors) {}

  DenseRows Attention(const DenseLayer& layer, const DenseRows& x) const {
    DenseRows q = DenseLinear(tensors_, x, layer.query), k = DenseLinear(tensors_, x, layer.key),
              v = DenseLinear(tensors_, x, layer.value);
    Prepare(layer, layer.query_norm, q);
    Prepare(layer, layer.key_norm, k);
    for (Row& row : v) Clip(row);
    const double scale = model_.scale == 0 ? 1 / std::sqrt(model_.head) : model_.scale;
    DenseRows attended(x.size(), Row(q[0].size()));
    for (size_t r = 0; r < x.size(); ++r) {
      for (uint32_t h = 0; h < model_.heads; ++h) {
        const size_t of_query = size_t{h} * model_.head,
                     of_key = size_t{h} * model_.kv_heads / model_.heads * model_.head;
        Row scores(x.size(), -INFINITY);
        double most = -INFINITY, sum = 0;
        for (size_t c = 0; c < x.size(); ++c) {
          if (model_.causal && c > r) continue;
          if (layer.window != 0 && c + layer.window <= r) continue;
          double score = 0;
          for (size_t i = 0; i < model_.head; ++i) score += q[r][of_query + i] * k[c][of_key + i];
          score *= scale;
          if (model_.cap != 0) score = model_.cap * std::tanh(score / model_.cap);
          if (layer.bias) score += layer.bias(h, static_cast<int64_t>(c) - static_cast<int64_t>(r));
          scores[c] = score;
          most = std::max(most, score);
        }
        for (double& score : scores) sum += score = std::exp(score - most);
        for (size_t c = 0; c < x.size(); ++c) {
          for (size_t i = 0; i < model_.head; ++i) attended[r][of_query + i] += scores[c] / sum * v[c][of_key + i];
        }
      }
    }
    return DenseLinear(tensors_, attended, layer.output);
  }

  DenseRows FeedForward(const DenseLayer& layer, const DenseRows& x) const {
    DenseRows up = DenseLinear(tensors_, x, layer.up);
    if (layer.gate.empty()) {
      for (Row& row : up) {
        for (double& value : row) value = DenseActivation(model_.activation, value);
      }
    } else {
      const DenseRows gate = DenseLinear(tensors_, x, layer.gate);
      for (size_t r = 0; r < up.size(); ++r) {
        for (size_t c = 0; c < up[r].size(); ++c) up[r][c] *= DenseActivation(model_.activation, gate[r][c]);
      }
    }
    return DenseLinear(tensors_, up, layer.down);
  }

  DenseRows Normed(const DenseRows& x, const std::string& name) const {
    if (name.empty()) return x;
    DenseRows out;
    for (const Row& row : x) out.push_back(Norm(model_, tensors_, row, name, row.size()));
    return out;
  }

  DenseRows Sum(const DenseRows& x, const DenseRows& branch) const {
    DenseRows out = x;
    for (size_t r = 0; r < x.size(); ++r) {
      for (size_t c = 0; c < x[r].size(); ++c) out[r][c] += model_.residual_scale * branch[r][c];
    }
    return out;
  }

 private:
  void Clip(Row& row) const {
    if (model_.clip == 0) return;
    for (double& value : row) value = std::min(std::max(value, -model_.clip), model_.clip);
  }

  void Prepare(const DenseLayer& layer, const std::string& norm, DenseRows& x) const {
    for (size_t r = 0; r < x.size(); ++r) {
      const auto normed = [&] {
        if (!norm.empty()) x[r] = Norm(model_, tensors_, x[r], norm, model_.head);
      };
      if (!model_.norm_after_rotary) normed();
      Clip(x[r]);
      if (layer.rotates) Rotate(model_, r, x[r]);
      if (model_.norm_after_rotary) normed();
    }
  }

  const DenseModel& model_;
  const DenseTensors& tensors_;
};

}  // namespace

double DenseActivation(const std::string& name, double x) {
  if (name == "silu") return x / (1 + std::exp(-x));
  if (name == "gelu") return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  if (name == "gelu_tanh") {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
  }
  if (name == "relu") return x > 0 ? x : 0;
  if (name == "relu2") return x > 0 ? x * x : 0;
  if (name == "tanh") return std::tanh(x);
  throw std::runtime_error("no activation " + name);
}

DenseRows DenseLinear(const DenseTensors& tensors, const DenseRows& x, const std::string& name) {
  const std::vector<float>& weight = Values(tensors, name + ".weight");
  const bool biased = tensors.count(name + ".bias") != 0;
  DenseRows out;
  for (const Row& row : x) {
    Row made;
    for (size_t o = 0; o < weight.size() / row.size(); ++o) {
      double sum = biased ? Values(tensors, name + ".bias")[o] : 0;
      for (size_t i = 0; i < row.size(); ++i) sum += row[i] * weight[o * row.size() + i];
      made.push_back(sum);
    }
    out.push_back(made);
  }
  return out;
}

DenseRows DenseModel::States(const DenseTensors& tensors, const std::vector<int32_t>& ids) const {
  const Walk walk(*this, tensors);
  const size_t width = tensors.at(words).first[1];
  DenseRows x;
  for (size_t r = 0; r < ids.size(); ++r) {
    Row row;
    for (size_t c = 0; c < width; ++c) {
      double value = word_scale * Values(tensors, words)[static_cast<size_t>(ids[r]) * width + c];
      if (!positions.empty()) value += Values(tensors, positions)[(r + first_position) * width + c];
      if (!types.empty()) value += Values(tensors, types)[c];
      row.push_back(value);
    }
    x.push_back(row);
  }
  x = walk.Normed(x, embedding_norm);
  for (const DenseLayer& layer : layers) {
    const DenseRows in = walk.Normed(x, layer.before);
    DenseRows middle = walk.Normed(walk.Sum(x, walk.Normed(walk.Attention(layer, in), layer.out)), layer.sum);
    const DenseRows next = parallel ? in : walk.Normed(middle, layer.forward_before);
    x = walk.Normed(walk.Sum(middle, walk.Normed(walk.FeedForward(layer, next), layer.forward_out)), layer.forward_sum);
  }
  return walk.Normed(x, final_norm);
}

}  // namespace fovea::test
