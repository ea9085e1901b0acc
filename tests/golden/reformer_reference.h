// Reformer in double, from the stored tensors, as plainly as can be, with the padding of the original library: a text
// padded to `padded` tokens, whose padding is sorted after everything and seen by none.
#ifndef FOVEA_TESTS_GOLDEN_REFORMER_REFERENCE_H_
#define FOVEA_TESTS_GOLDEN_REFORMER_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tools/safetensors/safetensors.h"

namespace fovea::test {

struct ReformerChunks {
  uint32_t length, before, after;  // chunks seen beside the own one
};

struct ReformerShape {
  const char* name;
  uint32_t rounds, buckets;
  std::vector<uint32_t> factors;  // factors of the number of buckets
  ReformerChunks hashed_chunks, local_chunks;
  std::vector<bool> hashed;  // by layer
  bool causal, gelu;         // gelu: else relu

  const ReformerChunks& ChunksOf(size_t layer) const { return hashed[layer] ? hashed_chunks : local_chunks; }
  // Tokens that the library pads a text of `tokens` tokens to.
  uint32_t Padded(uint32_t tokens) const {
    uint32_t least = UINT32_MAX, whole = 1;
    for (size_t i = 0; i < hashed.size(); ++i) {
      least = std::min(least, ChunksOf(i).length);
      whole = std::lcm(whole, ChunksOf(i).length);
    }
    return tokens <= least ? tokens : (tokens + whole - 1) / whole * whole;
  }
};
inline constexpr uint32_t kReformerHeads = 4;

class ReformerReference {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  // `rotations`: tensor <i> [heads, depth, rounds, directions] is of the i-th hashed layer.
  ReformerReference(const ReformerShape& shape, const tools::SafetensorsReader& tensors,
                    const tools::SafetensorsReader& rotations)
      : shape_(shape), tensors_(tensors), rotations_(rotations) {}

  Rows Logits(const std::vector<int64_t>& ids, uint32_t padded) const {
    const std::string embeddings = "reformer.embeddings.", layers = "reformer.encoder.layers.";
    const Rows words = Matrix(embeddings + "word_embeddings.weight");
    Rows first;
    for (size_t i = 0; i < ids.size(); ++i) first.push_back(Sum(words[static_cast<size_t>(ids[i])], Position(i)));
    Rows second = first;
    uint32_t hashed = 0;
    weights_.clear();
    for (size_t i = 0; i < shape_.hashed.size(); ++i) {
      const std::string at = layers + std::to_string(i) + ".";
      const Rows in = Norm(second, at + "attention.layer_norm");
      const Rows seen = Attention(in, at + "attention.self_attention.", shape_.ChunksOf(i),
                                  shape_.hashed[i] ? int(hashed++) : -1, padded);
      Add(&first, Linear(seen, at + "attention.output.dense"));
      Rows up = Linear(Norm(first, at + "feed_forward.layer_norm"), at + "feed_forward.dense.dense");
      for (Row& row : up) {
        for (double& x : row) x = shape_.gelu ? x * 0.5 * std::erfc(-x / std::sqrt(2.0)) : std::max(x, 0.0);
      }
      Add(&second, Linear(up, at + "feed_forward.output.dense"));
    }
    for (size_t i = 0; i < first.size(); ++i) first[i].insert(first[i].end(), second[i].begin(), second[i].end());
    Rows logits = Linear(Norm(first, "reformer.encoder.layer_norm"), "lm_head.decoder");
    for (Row& row : logits) row = Sum(row, Matrix("lm_head.bias")[0]);
    return logits;
  }

  // Attention weights of the last pass, by layer: [heads, chunks of all rounds, chunk, keys seen].
  const std::vector<std::vector<float>>& weights() const { return weights_; }

 private:
  // The last dimension is the width.
  Rows Matrix(const std::string& name) const {
    const tools::StoredTensor& stored = tensors_.Get(name);
    const std::vector<float> values = tools::ToFloats(stored);
    const size_t width = stored.shape.back();
    Rows rows;
    for (size_t i = 0; i < values.size(); i += width) rows.emplace_back(values.begin() + i, values.begin() + i + width);
    return rows;
  }
  Row Position(size_t p) const {
    const std::string at = "reformer.embeddings.position_embeddings.";
    if (tensors_.Find(at + "embedding.weight") != nullptr) return Matrix(at + "embedding.weight")[p];
    const Rows a = Matrix(at + "weights.0"), b = Matrix(at + "weights.1");
    Row row = a[p / b.size()];
    row.insert(row.end(), b[p % b.size()].begin(), b[p % b.size()].end());
    return row;
  }
  static Row Sum(Row a, const Row& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static void Add(Rows* to, const Rows& rows) {
    for (size_t i = 0; i < rows.size(); ++i) (*to)[i] = Sum((*to)[i], rows[i]);
  }
  static double Dot(const double* a, const double* b, size_t count) { return std::inner_product(a, a + count, b, 0.0); }
  Rows Linear(const Rows& in, const std::string& name) const {
    const Rows w = Matrix(name + ".weight");
    const bool bias = tensors_.Find(name + ".bias") != nullptr;
    Rows out(in.size(), bias ? Matrix(name + ".bias")[0] : Row(w.size()));
    for (size_t i = 0; i < in.size(); ++i) {
      for (size_t j = 0; j < w.size(); ++j) out[i][j] += Dot(in[i].data(), w[j].data(), w[j].size());
    }
    return out;
  }
  Rows Norm(Rows rows, const std::string& name) const {
    const Row gain = Matrix(name + ".weight")[0], bias = Matrix(name + ".bias")[0];
    for (Row& row : rows) {
      const double n = static_cast<double>(row.size()), mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
      double variance = 0;
      for (const double x : row) variance += (x - mean) * (x - mean) / n;
      for (size_t i = 0; i < row.size(); ++i)
        row[i] = (row[i] - mean) / std::sqrt(variance + 1e-12) * gain[i] + bias[i];
    }
    return rows;
  }

  // Rows by bucket in each round; rotations are [heads, depth, rounds, directions].
  std::vector<std::vector<size_t>> Sorted(const Rows& x, size_t head, size_t depth, int hashed) const {
    const std::vector<float> rotations = tools::ToFloats(rotations_.Get(std::to_string(hashed)));
    const size_t directions = rotations.size() / (kReformerHeads * depth * shape_.rounds);
    std::vector<std::vector<size_t>> orders;
    for (size_t round = 0; round < shape_.rounds; ++round) {
      std::vector<size_t> buckets;
      for (const Row& row : x) {
        size_t bucket = 0, first = 0, product = 1;
        for (const uint32_t factor : shape_.factors) {
          Row scores(factor);
          for (size_t i = 0; i < factor / 2; ++i) {
            for (size_t j = 0; j < depth; ++j) {
              scores[i] += row[head * depth + j] *
                           rotations[((head * depth + j) * shape_.rounds + round) * directions + first + i];
            }
            scores[factor / 2 + i] = -scores[i];
          }
          bucket += product * static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
          product *= factor;
          first += factor / 2;
        }
        buckets.push_back(bucket);
      }
      std::vector<size_t> order(x.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buckets[a] < buckets[b]; });
      orders.push_back(order);
    }
    return orders;
  }

  static Row Softmax(Row scores) {
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - most);
    for (double& score : scores) score /= sum;
    return scores;
  }

  Rows Attention(const Rows& in, const std::string& name, const ReformerChunks& of, int hashed, size_t padded) const {
    const Rows q = Linear(in, name + (hashed >= 0 ? "query_key" : "query")), v = Linear(in, name + "value");
    const size_t depth = q[0].size() / kReformerHeads, n = in.size();
    Rows k = hashed >= 0 ? q : Linear(in, name + "key"), out(n, Row(v[0].size()));
    const size_t chunk = of.length;
    std::vector<float> weights;
    for (size_t head = 0; head < kReformerHeads; ++head) {
      for (Row& key : k) {
        double* part = &key[head * depth];
        const double length = hashed >= 0 ? std::sqrt(Dot(part, part, depth) / static_cast<double>(depth) + 1e-6) : 1;
        for (size_t i = 0; i < depth; ++i) part[i] /= length * std::sqrt(static_cast<double>(depth));
      }
      std::vector<std::vector<size_t>> orders = {std::vector<size_t>(n)};
      std::iota(orders[0].begin(), orders[0].end(), 0);
      if (hashed >= 0) orders = Sorted(q, head, depth, hashed);
      if (padded <= chunk) orders.resize(1);
      const size_t chunks = (padded + chunk - 1) / chunk, all = chunks * orders.size();
      const size_t before = chunks > 1 ? of.before : 0, after = chunks > 1 ? of.after : 0;
      const size_t columns = (before + 1 + after) * chunk;
      weights.resize((head + 1) * all * chunk * columns);
      std::vector<std::vector<size_t>> places_of(n);
      for (size_t round = 0; round < orders.size(); ++round) {
        for (size_t place = 0; place < n; ++place)
          places_of[orders[round][place]].push_back(round * chunks * chunk + place);
      }
      for (size_t row = 0; row < n; ++row) {
        std::vector<size_t> keys, cells;  // for all rounds; cells: their order chunk by chunk
        std::vector<size_t> ends;         // end of each round
        for (const size_t own : places_of[row]) {
          for (size_t i = 0; i <= before + after; ++i) {
            // As slices of a list are put together there: one that would be a whole circle away is the own one.
            const bool near = i + all > before && i < before + all;
            const size_t seen = near ? (own / chunk + all + i - before) % all : own / chunk;
            const size_t first = seen % chunks * chunk;
            for (size_t place = first; place < std::min(first + chunk, n); ++place) {
              const size_t key = orders[seen / chunks][place];
              if (shape_.causal && key > row) continue;
              keys.push_back(key);
              cells.push_back((head * all * chunk + own) * columns + i * chunk + place - first);
            }
          }
          ends.push_back(keys.size());
        }
        Row scores;
        for (const size_t key : keys) {
          scores.push_back(hashed >= 0 && key == row ? -1e5 : Dot(&q[row][head * depth], &k[key][head * depth], depth));
        }
        for (size_t round = 0, i = 0; round < ends.size(); ++round) {
          const Row part = Softmax(
              {scores.begin() + static_cast<ptrdiff_t>(i), scores.begin() + static_cast<ptrdiff_t>(ends[round])});
          for (const double weight : part) weights[cells[i++]] = static_cast<float>(weight);
        }
        scores = Softmax(scores);
        for (size_t i = 0; i < keys.size(); ++i) {
          for (size_t j = 0; j < depth; ++j) out[row][head * depth + j] += scores[i] * v[keys[i]][head * depth + j];
        }
      }
    }
    weights_.push_back(weights);
    return out;
  }

  const ReformerShape& shape_;
  const tools::SafetensorsReader &tensors_, &rotations_;
  mutable std::vector<std::vector<float>> weights_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_REFORMER_REFERENCE_H_
