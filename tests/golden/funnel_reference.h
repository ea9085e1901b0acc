// Funnel-Transformer in double, from the stored tensors, as plainly as can be. It knows padding, which the runtime does
// not have: a text padded to `padded` tokens, whose padding is pooled like all other rows and then hidden.
#ifndef FOVEA_TESTS_GOLDEN_FUNNEL_REFERENCE_H_
#define FOVEA_TESTS_GOLDEN_FUNNEL_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tools/safetensors/safetensors.h"

namespace fovea::test {

struct FunnelShape {
  std::vector<uint32_t> blocks = {1, 2, 1}, repeats = {1, 1, 1};
  uint32_t heads = 4, decoder_layers = 1;
  bool separate = true, truncated = true, only_queries = true, max = false;
};

class FunnelReference {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  FunnelReference(const FunnelShape& shape, const tools::SafetensorsReader& weights)
      : shape_(shape), weights_(weights) {}

  // Every hidden state of one text, first the encoder's, then the decoder's.
  std::vector<Rows> States(std::vector<int64_t> ids, std::vector<int64_t> types, size_t padded = 0) const {
    std::vector<Place> places;
    for (size_t i = 0; i < std::max(ids.size(), padded); ++i) {
      places.push_back({static_cast<double>(i), i < ids.size() ? types[i] : 0, i < ids.size(), i == 0});
    }
    ids.resize(places.size(), 0);
    const Rows words = Matrix("embeddings.word_embeddings.weight");
    Rows x;
    for (const int64_t id : ids) x.push_back(words[static_cast<size_t>(id)]);
    x = Norm(x, "embeddings.layer_norm");
    std::vector<Rows> states = {x};
    std::vector<Place> at = places;
    for (size_t block = 0; block < shape_.blocks.size(); ++block) {
      Rows keys = x;
      std::vector<Place> keys_at = at;
      if (block > 0 && x.size() > (shape_.separate ? 2u : 1u)) {
        Pool(&x, &at);
        if (!shape_.only_queries) keys = x, keys_at = at;
      }
      for (size_t layer = 0; layer < shape_.blocks[block]; ++layer) {
        const std::string name = "encoder.blocks." + std::to_string(block) + "." + std::to_string(layer) + ".";
        for (uint32_t repeat = 0; repeat < shape_.repeats[block]; ++repeat) {
          keys = x = Layer(name, x, at, keys, keys_at);
          keys_at = at;
          states.push_back(x);
        }
      }
    }
    Rows whole = states[shape_.blocks[0]];
    const size_t stride = size_t{1} << (shape_.blocks.size() - 1), first = shape_.separate ? 1 : 0;
    for (size_t i = 0; i < whole.size(); ++i) {
      const size_t from = i < first ? i : first + (i - first) / stride;
      if (from < x.size()) whole[i] = Sum(whole[i], x[from]);
    }
    states.push_back(whole);
    for (uint32_t layer = 0; layer < shape_.decoder_layers; ++layer) {
      const std::string name = "decoder.layers." + std::to_string(layer) + ".";
      states.push_back(Layer(name, states.back(), places, states.back(), places));
    }
    return states;
  }
  size_t EncoderStates() const {
    size_t count = 1;
    for (size_t i = 0; i < shape_.blocks.size(); ++i) count += size_t{shape_.blocks[i]} * shape_.repeats[i];
    return count;
  }

  // Scores of words.
  Rows Logits(const Rows& x) const {
    const Rows words = Matrix("embeddings.word_embeddings.weight");
    const std::vector<float> bias = tools::ToFloats(weights_.Get("lm_head.bias"));
    Rows logits(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t w = 0; w < words.size(); ++w) logits[i].push_back(bias[w] + Dot(words[w], x[i]));
    }
    return logits;
  }

 private:
  struct Place {
    double position;
    int64_t type;
    bool seen;   // no padding in it
    bool first;  // the first row of its text
  };

  Rows Matrix(const std::string& name) const {
    const tools::StoredTensor& stored = weights_.Get("funnel." + name);
    const std::vector<float> values = tools::ToFloats(stored);
    const size_t width = stored.shape.size() == 1 ? values.size() : values.size() / stored.shape[0];
    Rows rows;
    for (size_t i = 0; i < values.size(); i += width) {
      rows.emplace_back(values.begin() + static_cast<ptrdiff_t>(i), values.begin() + static_cast<ptrdiff_t>(i + width));
    }
    return rows;
  }
  // A matrix as one row.
  Row Flat(const std::string& name) const {
    const std::vector<float> values = tools::ToFloats(weights_.Get("funnel." + name));
    return {values.begin(), values.end()};
  }
  static Row Sum(Row a, const Row& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static double Dot(const Row& a, const Row& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
  Rows Linear(const Rows& in, const std::string& name) const {
    const Rows w = Matrix(name + ".weight");
    const bool bias = weights_.Find("funnel." + name + ".bias") != nullptr;
    Rows out(in.size(), bias ? Flat(name + ".bias") : Row(w.size()));
    for (size_t i = 0; i < in.size(); ++i) {
      for (size_t j = 0; j < w.size(); ++j) out[i][j] += Dot(in[i], w[j]);
    }
    return out;
  }
  Rows Norm(Rows rows, const std::string& name) const {
    const Row gain = Flat(name + ".weight"), bias = Flat(name + ".bias");
    for (Row& row : rows) {
      const double n = static_cast<double>(row.size()), mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
      double variance = 0;
      for (const double x : row) variance += (x - mean) * (x - mean) / n;
      for (size_t i = 0; i < row.size(); ++i) row[i] = (row[i] - mean) / std::sqrt(variance + 1e-9) * gain[i] + bias[i];
    }
    return rows;
  }

  // Pairs of rows; a separate first one is put in front once more, for which the last one goes if they are truncated.
  void Pool(Rows* x, std::vector<Place>* at) const {
    std::vector<size_t> order;
    if (shape_.separate) order.push_back(0);
    const size_t count = x->size() - (shape_.separate && shape_.truncated ? 1 : 0);
    for (size_t i = 0; i < count; ++i) order.push_back(i);
    Rows pooled;
    std::vector<Place> places;
    for (size_t i = 0; i < order.size(); i += 2) {
      Row row = (*x)[order[i]];
      Place place = (*at)[order[i]];
      if (i + 1 < order.size()) {
        const Row& other = (*x)[order[i + 1]];
        for (size_t c = 0; c < row.size(); ++c) {
          row[c] = shape_.max ? std::max(row[c], other[c]) : (row[c] + other[c]) / 2;
        }
        place.seen &= (*at)[order[i + 1]].seen;
      }
      pooled.push_back(row);
      places.push_back(place);
    }
    *x = pooled;
    *at = places;
  }

  Rows Layer(const std::string& name, const Rows& x, const std::vector<Place>& at, const Rows& keys,
             const std::vector<Place>& keys_at) const {
    const Rows attended = Linear(Attention(name + "attention.", x, at, keys, keys_at), name + "attention.post_proj");
    Rows middle = x;
    for (size_t i = 0; i < x.size(); ++i) middle[i] = Sum(x[i], attended[i]);
    middle = Norm(middle, name + "attention.layer_norm");
    Rows up = Linear(middle, name + "ffn.linear_1");
    for (Row& row : up) {
      for (double& v : row) v = 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
    }
    Rows out = Linear(up, name + "ffn.linear_2");
    for (size_t i = 0; i < x.size(); ++i) out[i] = Sum(middle[i], out[i]);
    return Norm(out, name + "ffn.layer_norm");
  }

  Rows Attention(const std::string& name, const Rows& x, const std::vector<Place>& at, const Rows& keys,
                 const std::vector<Place>& keys_at) const {
    const Rows q = Linear(x, name + "q_head"), k = Linear(keys, name + "k_head"), v = Linear(keys, name + "v_head");
    const Row content = Flat(name + "r_w_bias"), distance = Flat(name + "r_r_bias"), type = Flat(name + "r_s_bias");
    const Rows kernel = Matrix(name + "r_kernel"), types = Matrix(name + "seg_embed");
    const size_t width = kernel.size(), depth = q[0].size() / shape_.heads;
    Rows out(x.size(), Row(q[0].size()));
    for (size_t head = 0; head < shape_.heads; ++head) {
      const size_t from = head * depth;
      for (size_t i = 0; i < x.size(); ++i) {
        Row scores;
        // The query as distances meet it, before their kernel is applied.
        Row met(width);
        for (size_t d = 0; d < width; ++d) {
          for (size_t c = from; c < from + depth; ++c) met[d] += (q[i][c] + distance[c]) * kernel[d][c];
        }
        for (size_t j = 0; j < keys.size(); ++j) {
          double score = 0;
          for (size_t c = from; c < from + depth; ++c) score += (q[i][c] + content[c]) * k[j][c];
          if (!shape_.separate || (!at[i].first && !keys_at[j].first)) {
            const double apart = at[i].position - keys_at[j].position;
            for (size_t d = 0; d < width / 2; ++d) {
              const double angle =
                  apart * std::pow(10000.0, -2.0 * static_cast<double>(d) / static_cast<double>(width));
              score += met[d] * std::sin(angle) + met[width / 2 + d] * std::cos(angle);
            }
            const bool same = at[i].type == keys_at[j].type || at[i].type == 2 || keys_at[j].type == 2;
            for (size_t c = from; c < from + depth; ++c) score += (q[i][c] + type[c]) * types[same ? 1 : 0][c];
          }
          score /= std::sqrt(static_cast<double>(depth));
          scores.push_back(keys_at[j].seen ? score : score - 1e6);
        }
        const double most = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        for (double& score : scores) sum += score = std::exp(score - most);
        for (size_t j = 0; j < keys.size(); ++j) {
          for (size_t c = from; c < from + depth; ++c) out[i][c] += scores[j] / sum * v[j][c];
        }
      }
    }
    return out;
  }

  const FunnelShape shape_;
  const tools::SafetensorsReader& weights_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_FUNNEL_REFERENCE_H_
