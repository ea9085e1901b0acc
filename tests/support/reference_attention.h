// Reference attention: an explicit matrix of how often each query sees each key, and every score by its formula, in
// double. The only code shared with the engine is the description of the call.
#ifndef FOVEA_TESTS_SUPPORT_REFERENCE_ATTENTION_H_
#define FOVEA_TESTS_SUPPORT_REFERENCE_ATTENTION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/attention/attention.h"

namespace fovea {

// How often the query at this position of a segment sees the key at that position, for one head. `listed`: positions.
inline int TimesSeen(const Pattern& p, uint32_t head, int64_t query, int64_t key, int64_t keys,
                     const std::vector<int64_t>& listed) {
  if (p.causal && key > query) return 0;
  if (keys <= int64_t{p.full_up_to}) return 1;
  const int64_t block = p.block, blocks = (keys + block - 1) / block;
  const auto on_edge = [&](int64_t at) {
    return at < int64_t{p.global_first} ||
           (p.global_last > 0 && at >= (blocks - int64_t{p.global_last} / block) * block);
  };
  if (on_edge(query)) return 1;
  int times = 0;
  if (p.has_window) {
    int64_t left = p.left, right = p.right, dilation = p.dilation;
    if (p.head_windows != nullptr) {
      left = p.head_windows[head * 3];
      right = p.head_windows[head * 3 + 1];
      dilation = p.head_windows[head * 3 + 2];
      if (left < 0) left = kUnbounded;
      if (right < 0) right = kUnbounded;
    }
    const int64_t first = query / block * block, last = first + block - 1;
    if ((left == kUnbounded || key >= first - left) && (right == kUnbounded || key <= last + right) &&
        (key - query) % dilation == 0) {
      times = 1;
    }
  }
  if (on_edge(key)) times = 1;
  if (p.global_keys && std::find(listed.begin(), listed.end(), key) != listed.end()) times = 1;
  if (p.layout != nullptr) {
    const int64_t row = query / block - int64_t{p.global_first} / block;
    if (row >= 0 && row < int64_t{p.layout_rows}) {
      const int32_t* names = p.layout + ((p.layout_heads > 1 ? head : 0) * p.layout_rows + row) * p.layout_columns;
      times += static_cast<int>(std::count(names, names + p.layout_columns, key / block));
    }
  }
  return times;
}

inline double HalfToDouble(uint16_t bits, bool bf16) {
  if (bf16) {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
  }
  const int exponent = (bits >> 10) & 31;
  const double mantissa = (bits & 1023) / 1024.0;
  const double value = exponent == 0 ? std::ldexp(mantissa, -14) : std::ldexp(1.0 + mantissa, exponent - 15);
  return (bits & 0x8000) != 0 ? -value : value;
}

// Element i of a row of a head, as a number of any type.
inline double Element(const HeadRows& rows, DType type, const HeadRows& scales, size_t row, size_t head, size_t i) {
  const auto* at = static_cast<const uint8_t*>(rows.data) + row * rows.row_stride + head * rows.head_stride;
  uint16_t bits;
  switch (type) {
    case DType::kF32:
      return reinterpret_cast<const float*>(at)[i];
    case DType::kI8:
      return double{*reinterpret_cast<const float*>(static_cast<const uint8_t*>(scales.data) + row * scales.row_stride +
                                                    head * scales.head_stride)} *
             reinterpret_cast<const int8_t*>(at)[i];
    default:
      memcpy(&bits, at + 2 * i, 2);
      return HalfToDouble(bits, type == DType::kBf16);
  }
}

// Rounds to the nearest number of 8 significant bits.
inline double ToBf16(double x) {
  int exponent;
  std::frexp(static_cast<float>(x), &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(static_cast<float>(x), 8 - exponent)), exponent - 8);
}

struct ReferenceAttention {
  std::vector<double> out;      // [query rows, heads, d_v]
  std::vector<double> weights;  // [query rows, heads, weights_stride]
  std::vector<double> scores;   // the same; -infinity where a key is not seen
};

class ReferenceRun {
 public:
  ReferenceRun(const AttentionCall& call, uint32_t query_rows, uint32_t stride)
      : call_(call), spec_(*call.spec), query_rows_(query_rows), stride_(stride) {}

  // All query rows of the call (row_begin is taken as 0).
  ReferenceAttention Run() {
    result_.out.assign(size_t{query_rows_} * spec_.heads * spec_.d_v, 0.0);
    result_.weights.assign(size_t{query_rows_} * spec_.heads * stride_, 0.0);
    result_.scores.assign(result_.weights.size(), -INFINITY);
    for (uint32_t row = 0; row < query_rows_; ++row) {
      uint32_t segment = row, position = 0;
      if (spec_.pairing == Pairing::kPaired) {
        const uint32_t* offsets = call_.query_segments.offsets;
        segment = 0;
        while (offsets[segment + 1] <= row) ++segment;
        position = row - offsets[segment];
      }
      const uint32_t queries = spec_.pairing == Pairing::kPaired ? call_.query_segments.length(segment) : 1;
      place_ = position;
      position += call_.StartOf(segment, queries, call_.key_segments.length(segment));
      for (uint32_t head = 0; head < spec_.heads; ++head) RunRow(row, segment, position, head);
    }
    return std::move(result_);
  }

 private:
  void RunRow(uint32_t row, uint32_t segment, uint32_t position, uint32_t head) {
    const uint32_t first = call_.key_segments.offsets[segment];
    const uint32_t keys = call_.key_segments.offsets[segment + 1] - first;
    const std::vector<int> times = Times(row, segment, position, head, first, keys);
    std::vector<double> score(keys);
    for (uint32_t key = 0; key < keys; ++key) {
      if (times[key] > 0) score[key] = Score(row, segment, position, head, first, key);
    }
    // Keeps the best keys only; of equal scores the lower position wins.
    std::vector<bool> kept(keys, true);
    if (spec_.pattern.top_k > 0) {
      std::vector<uint32_t> order;
      for (uint32_t key = 0; key < keys; ++key) {
        if (times[key] > 0) order.push_back(key);
      }
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return score[a] > score[b]; });
      kept.assign(keys, false);
      for (size_t i = 0; i < order.size() && i < spec_.pattern.top_k; ++i) kept[order[i]] = true;
    }
    for (uint32_t key = 0; key < keys; ++key) {
      if (times[key] > 0 && kept[key]) result_.scores[(size_t{row} * spec_.heads + head) * stride_ + key] = score[key];
    }
    double max = spec_.weighting.sinks != nullptr ? double{spec_.weighting.sinks[head]} : -INFINITY;
    for (uint32_t key = 0; key < keys; ++key) {
      if (times[key] > 0 && kept[key]) max = std::max(max, score[key]);
    }
    const std::vector<double> summaries = SummaryScores(row, segment, position, head, keys);
    for (const double of_summary : summaries) max = std::max(max, of_summary);
    double sum = spec_.weighting.sinks != nullptr ? std::exp(spec_.weighting.sinks[head] - max) : 0.0;
    double* weights = &result_.weights[(size_t{row} * spec_.heads + head) * stride_];
    for (uint32_t key = 0; key < keys; ++key) {
      if (times[key] == 0 || !kept[key]) continue;
      weights[key] = score[key] == -INFINITY
                         ? 0.0
                         : times[key] * (spec_.weighting.kind == Activation::kNone ? std::exp(score[key] - max)
                                                                                   : Weigh(score[key]));
      sum += weights[key];
    }
    const auto weigh = [&](double s) {
      return spec_.weighting.kind == Activation::kNone ? std::exp(s - max) : Weigh(s);
    };
    for (const double of_summary : summaries) sum += weigh(of_summary);
    double* out = &result_.out[(size_t{row} * spec_.heads + head) * spec_.d_v];
    for (uint32_t i = 0; i < summaries.size(); ++i) {
      const double weight = weigh(summaries[i]) / (spec_.weighting.kind == Activation::kNone ? sum : 1.0);
      const uint32_t at = call_.summaries.segments.offsets[segment] + i;
      for (uint32_t j = 0; j < spec_.d_v; ++j) {
        out[j] += weight * Element(call_.summaries.v, call_.key_type, {}, at, KvHead(head), j);
      }
    }
    for (uint32_t key = 0; key < keys; ++key) {
      if (spec_.weighting.kind == Activation::kNone && sum > 0.0) weights[key] /= sum;
      if (spec_.weighting.gaussian && times[key] > 0) {
        const double from_center = key - Center(row, keys), half = spec_.pattern.left / 2.0;
        weights[key] *= std::exp(-from_center * from_center / (2 * half * half));
      }
      for (uint32_t i = 0; i < spec_.d_v; ++i) {
        const double value = Element(call_.v, call_.key_type, call_.v_scales, first + key, KvHead(head), i);
        out[i] += weights[key] * (spec_.score.products == Products::kBf16 ? ToBf16(value) : value);
      }
    }
  }

  // Scores of the summaries of the segment's whole groups of keys.
  std::vector<double> SummaryScores(uint32_t row, uint32_t segment, uint32_t position, uint32_t head,
                                    uint32_t keys) const {
    const SummaryPart& part = spec_.summaries;
    std::vector<double> scores;
    if (part.group == 0) return scores;
    const Segments& segments = call_.summaries.segments;
    scores.resize(std::min(keys / part.group, segments.length(segment)));
    for (uint32_t i = 0; i < scores.size(); ++i) {
      const auto k = [&](uint32_t j) {
        return Element(call_.summaries.k, call_.key_type, {}, segments.offsets[segment] + i, KvHead(head), j);
      };
      scores[i] = Product(row, head, k);
      if (part.bias == nullptr) continue;
      const int64_t own = std::min<int64_t>(position / part.group, static_cast<int64_t>(scores.size()) - 1);
      const int64_t reach = part.max_distance, distance = std::max(-reach, std::min(i - own, reach)) + reach;
      scores[i] += part.bias[head * (2 * static_cast<size_t>(reach) + 1) + static_cast<size_t>(distance)];
    }
    return scores;
  }

  uint32_t KvHead(uint32_t head) const { return head / (spec_.heads / spec_.kv_heads); }

  double Center(uint32_t row, uint32_t keys) const {
    const float center = call_.centers.Of(row);
    return double{spec_.pattern.centers == Centers::kFractions ? center * static_cast<float>(keys) : center};
  }

  std::vector<int> Times(uint32_t row, uint32_t segment, uint32_t position, uint32_t head, uint32_t first,
                         uint32_t keys) const {
    const Pattern& p = spec_.pattern;
    std::vector<int> times(keys, 0);
    if (spec_.pattern.centers != Centers::kNone) {
      const double center = Center(row, keys);
      for (uint32_t key = 0; key < keys; ++key) {
        times[key] =
            key - center >= -static_cast<double>(p.left) && key - center <= static_cast<double>(p.right) ? 1 : 0;
      }
      return times;
    }
    if (p.rounds > 0 && keys > p.chunk) {
      // The chunks of all rounds in one circle, each a list of keys.
      std::vector<std::vector<uint32_t>> circle;
      std::vector<int64_t> own;
      for (uint32_t round = 0; round < p.rounds; ++round) {
        const size_t column = size_t{head} * p.rounds + round, stride = call_.clusters.stride;
        for (uint32_t place = 0; place < keys; ++place) {
          const uint32_t key =
              call_.clusters.order == nullptr
                  ? place
                  : static_cast<uint32_t>(call_.clusters.order[(first + place) * stride + column]) - first;
          if (place % p.chunk == 0) circle.emplace_back();
          circle.back().push_back(key);
          if (key == position) own.push_back(static_cast<int64_t>(circle.size()) - 1);
        }
        while (circle.size() % (size_t{p.chunk_multiple}) != 0) circle.emplace_back();
      }
      const auto size = static_cast<int64_t>(circle.size());
      for (const int64_t chunk : own) {
        for (int64_t offset = -int64_t{p.chunks_before}; offset <= int64_t{p.chunks_after}; ++offset) {
          const int64_t seen = offset <= -size || offset >= size ? chunk : (chunk + offset + size) % size;
          for (const uint32_t key : circle[static_cast<size_t>(seen)]) {
            if (!p.causal || key <= position) ++times[key];
          }
        }
      }
      return times;
    }
    std::vector<int64_t> listed;
    if (p.global_keys) {
      const uint32_t* offsets = call_.global_keys.segments.offsets;
      for (uint32_t i = offsets[segment]; i < offsets[segment + 1]; ++i)
        listed.push_back(call_.global_keys.rows[i] - first);
    }
    for (uint32_t key = 0; key < keys; ++key) {
      times[key] =
          p.rounds > 0 ? (p.causal && key > position ? 0 : 1) : TimesSeen(p, head, position, key, keys, listed);
    }
    return times;
  }

  double Query(uint32_t row, uint32_t head, uint32_t i) const {
    return Element(call_.q, DType::kF32, {}, row, head, i);
  }

  // Scaled and capped; k(i) is element i of the key.
  template <class Key>
  double Product(uint32_t row, uint32_t head, const Key& k) const {
    const auto q = [&](uint32_t i) { return Query(row, head, i); };
    double score = 0.0;
    if (spec_.score.products != Products::kF32) {
      std::vector<double> qs(spec_.d_k), ks(spec_.d_k);
      for (uint32_t i = 0; i < spec_.d_k; ++i) qs[i] = q(i), ks[i] = k(i);
      Round(&qs);
      if (spec_.score.products != Products::kI8 || call_.key_type != DType::kI8) Round(&ks);
      score = std::inner_product(qs.begin(), qs.end(), ks.begin(), 0.0);
    }
    for (uint32_t i = 0; i < spec_.d_k && spec_.score.products == Products::kF32; ++i) {
      switch (spec_.score.kind) {
        case Score::kDot:
          score += q(i) * k(i);
          break;
        case Score::kDistance:
          score -= (q(i) - k(i)) * (q(i) - k(i));
          break;
        case Score::kAdditive:
          score += spec_.score.additive[size_t{head} * spec_.d_k + i] * std::tanh(q(i) + k(i));
          break;
      }
    }
    score *= spec_.score.scale;
    return spec_.score.cap > 0 ? spec_.score.cap * std::tanh(score / spec_.score.cap) : score;
  }

  double Score(uint32_t row, uint32_t segment, uint32_t position, uint32_t head, uint32_t first, uint32_t key) const {
    const HeadRows none = {};
    const auto q = [&](uint32_t i) { return Query(row, head, i); };
    const auto k = [&](uint32_t i) {
      return Element(call_.k, call_.key_type, call_.k_scales, first + key, KvHead(head), i);
    };
    double score = Product(row, head, k);
    const int64_t apart = spec_.positions.apart;
    const bool distances = int64_t{key} >= apart && int64_t{position} >= apart;
    for (uint32_t axis = 0; axis < spec_.positions.axes && distances; ++axis) {
      const int64_t distance = Distance(segment, position, first, key, axis), reach = spec_.score.max_distance;
      const size_t table = size_t{axis} * spec_.heads + head;
      if (spec_.score.distance_bias != nullptr)
        score +=
            spec_.score.distance_bias[table * (2 * static_cast<size_t>(reach) + 1) + static_cast<size_t>(distance)];
      const RelativeScores& relative = spec_.score.relative;
      if (relative.bucket_count == 0) continue;
      const size_t line = (table * relative.bucket_count + relative.buckets[distance]) * spec_.d_k;
      for (uint32_t i = 0; i < spec_.d_k; ++i) {
        if (relative.keys != nullptr)
          score += spec_.score.scale * q(i) * Entry(relative.keys, relative.keys_type, line + i);
        if (relative.queries != nullptr) {
          score += spec_.score.scale * k(i) * Entry(relative.queries, relative.queries_type, line + i);
        }
      }
    }
    if (spec_.score.slopes != nullptr && distances) {
      score += spec_.score.slopes[head] * static_cast<double>(Unclamped(segment, position, first, key, 0));
    }
    if (call_.key_bias.data != nullptr) score += Element(call_.key_bias, DType::kF32, none, first + key, head, 0);
    if (call_.pair_bias.data != nullptr && !call_.pair_bias.mask) {
      score += reinterpret_cast<const float*>(PairRow(row, segment, head))[key];
    }
    if (spec_.score.has_self_score && key == position) score = spec_.score.self_score;
    if (call_.pair_bias.data != nullptr && call_.pair_bias.mask && PairRow(row, segment, head)[key] == 0) {
      score = -INFINITY;
    }
    return score;
  }

  // Clamped, from 0 on.
  int64_t Distance(uint32_t segment, uint32_t position, uint32_t first, uint32_t key, uint32_t axis) const {
    const int64_t reach = spec_.score.max_distance, distance = Unclamped(segment, position, first, key, axis);
    return std::max(-reach, std::min(distance, reach)) + reach;
  }

  int64_t Unclamped(uint32_t segment, uint32_t position, uint32_t first, uint32_t key, uint32_t axis) const {
    const PositionsPart& positions = spec_.positions;
    int64_t at = key, from = position;
    if (positions.coordinates != nullptr) {
      const size_t set = segment % positions.coordinate_sets * positions.axes + axis;
      at = positions.coordinates[set * positions.coordinate_positions + key];
      from = positions.coordinates[set * positions.coordinate_positions + position];
    } else if (positions.row_coordinates) {
      const auto whole = [&](uint32_t row) {
        const double x = call_.row_coordinates[size_t{row} * positions.axes + axis];
        return std::isnan(x) ? 0 : std::llrint(std::max(-16777216.0, std::min(x, 16777216.0)));
      };
      at = whole(first + key);
      from = whole(first + position);
    }
    const int64_t apart = positions.apart, stride = std::max(positions.query_stride, 1u);
    if (stride > 1 && from > apart) from = apart + (from - apart) * stride;
    return at - from;
  }

  const uint8_t* PairRow(uint32_t row, uint32_t segment, uint32_t head) const {
    const PairBias& pairs = call_.pair_bias;
    const bool by_row = pairs.segment_stride == PairBias::kByRow;
    const size_t of_segment =
        by_row ? row * pairs.row_stride : segment * pairs.segment_stride + place_ * pairs.row_stride;
    return static_cast<const uint8_t*>(pairs.data) + of_segment + head * pairs.head_stride;
  }

  // A row to the type of the products: bf16, or int8 with the largest magnitude as 127.
  void Round(std::vector<double>* row) const {
    float most = 0.0f;
    for (const double x : *row) most = std::max(most, std::abs(static_cast<float>(x)));
    for (double& x : *row) {
      const auto value = static_cast<float>(x);
      if (spec_.score.products == Products::kI8) {
        x = most > 1e-36f ? double{std::nearbyint(value * (127.0f / most))} * (most / 127.0f) : 0.0;
      } else {
        x = ToBf16(x);
      }
    }
  }

  static double Entry(const void* table, DType type, size_t i) {
    if (type == DType::kF32) return static_cast<const float*>(table)[i];
    uint16_t bits;
    memcpy(&bits, static_cast<const uint8_t*>(table) + 2 * i, 2);
    return HalfToDouble(bits, false);
  }

  double Weigh(double score) const {
    switch (spec_.weighting.kind) {
      case Activation::kRelu:
        return std::max(score, 0.0);
      case Activation::kGelu:
        return score * 0.5 * std::erfc(-score / std::sqrt(2.0));
      case Activation::kSigmoid:
        return 1.0 / (1.0 + std::exp(-score));
      case Activation::kSilu:
        return score / (1.0 + std::exp(-score));
      default:
        return score * 0.5 * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (score + 0.044715 * score * score * score)));
    }
  }

  const AttentionCall& call_;
  const AttentionSpec& spec_;
  const uint32_t query_rows_, stride_;
  uint32_t place_ = 0;  // position of the query in its segment
  ReferenceAttention result_;
};

inline ReferenceAttention RunReferenceAttention(const AttentionCall& call, uint32_t query_rows, uint32_t stride) {
  return ReferenceRun(call, query_rows, stride).Run();
}

}  // namespace fovea

#endif  // FOVEA_TESTS_SUPPORT_REFERENCE_ATTENTION_H_
