// Attention problems with buffers of exact size, and the check of the engine against the reference on every SIMD
// target.
#ifndef FOVEA_TESTS_ATTENTION_ATTENTION_PROBLEM_H_
#define FOVEA_TESTS_ATTENTION_ATTENTION_PROBLEM_H_

#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "hwy/targets.h"
#include "runtime/attention/attention.h"
#include "runtime/attention/tap.h"
#include "runtime/kernels/kernels.h"
#include "tests/support/distance.h"
#include "tests/support/fewer_cases.h"
#include "tests/support/reference_attention.h"
#include "tools/base/half.h"

namespace fovea {

using test::FewerCases;

inline constexpr float kCanary = 123456.0f;
// Values are of magnitude 1 to 4; f32 sums of a few hundred products and an exponential of 2e-7.
inline constexpr double kTolerance = 4e-6;
// Weights times values in f16: weights and values are off by 2^-11 of themselves, and sums of up to 32 products of
// values of magnitude 1 by about 2^-10.
inline constexpr double kHalfWeight = 0x1p-11, kHalfOut = 0x1p-9;

// Buffers of exactly the stated size, so that the address sanitizer sees every step outside.
template <typename T>
struct Buffer {
  explicit Buffer(size_t n) : size(n), data(new T[n]) {}
  size_t size;
  std::unique_ptr<T[]> data;
};

inline AttentionSpec SpecOf(uint32_t heads, uint32_t kv_heads, uint32_t d_k, uint32_t d_v, float scale) {
  AttentionSpec spec{};
  spec.heads = heads;
  spec.kv_heads = kv_heads;
  spec.d_k = d_k;
  spec.d_v = d_v;
  spec.score.scale = scale;
  return spec;
}

struct Case {
  AttentionSpec spec = SpecOf(2, 2, 8, 8, 0.3f);
  std::vector<uint32_t> queries = {5};  // lengths of the segments
  std::vector<uint32_t> keys;           // likewise; empty: as `queries`
  float magnitude = 1.0f;               // scale of queries and keys
  float value_magnitude = 1.0f;
  double tolerance = kTolerance;
  double out_tolerance = 0.0;  // for outputs; 0: `tolerance`
  DType key_type = DType::kF32;
  bool key_bias = false, key_bias_by_head = false;
  uint32_t buckets = 0;                          // number of relative score buckets, by spec.score.max_distance
  bool half_keys = false, half_queries = false;  // relative tables are f16
  bool ordered_buckets = false;                  // in the order of distances, as models have them; else at random
  bool distance_bias = true;                     // with a reach
  double listed = 0.0;                           // share of rows, with pattern.global_keys
  std::vector<float> special_centers = {};       // the first centers of spec.pattern.centers; the rest are near
  // An element of this key's row, or of its value's, in all heads; UINT32_MAX: none.
  uint32_t spoilt_key = UINT32_MAX;
  bool spoilt_value = false;
  float spoilt_with = 0.0f;
  bool slopes = false, sinks = false;
  uint32_t summary_group = 0, summary_reach = 0;  // of their bias; 0: none
  bool sorted = true;                             // with pattern.rounds; false: keys in their given order, one round
};

class Problem {
 public:
  explicit Problem(const Case& c) : case_(c) {
    if (case_.keys.empty()) case_.keys = case_.queries;
    query_offsets_ = Offsets(case_.queries);
    key_offsets_ = Offsets(case_.keys);
    AttentionSpec& spec = case_.spec;
    rows_ = spec.pairing == Pairing::kParent ? static_cast<uint32_t>(case_.keys.size()) : query_offsets_.back();
    for (uint32_t n : case_.keys) stride_ = std::max(stride_, n);
    std::mt19937 random(rows_ * 131 + spec.d_k);
    const size_t key_rows = key_offsets_.back();
    q_ = Random(size_t{rows_} * spec.heads * spec.d_k, case_.magnitude, &random);
    std::vector<float> k = Random(key_rows * spec.kv_heads * spec.d_k, case_.magnitude, &random);
    std::vector<float> v = Random(key_rows * spec.kv_heads * spec.d_v, case_.value_magnitude, &random);
    for (size_t head = 0; head < spec.kv_heads && case_.spoilt_key != UINT32_MAX; ++head) {
      const size_t row = size_t{case_.spoilt_key} * spec.kv_heads + head;
      (case_.spoilt_value ? v[row * spec.d_v] : k[row * spec.d_k]) = case_.spoilt_with;
    }
    k_ = Stored(k, spec.d_k, &k_scales_);
    v_ = Stored(v, spec.d_v, &v_scales_);
    if (spec.score.max_distance > 0 && case_.distance_bias) {
      bias_ = Random(spec.positions.axes * spec.heads * (2 * size_t{spec.score.max_distance} + 1), 2.0f, &random);
      spec.score.distance_bias = bias_.data();
    }
    if (spec.score.kind == Score::kAdditive) {
      additive_ = Random(size_t{spec.heads} * spec.d_k, 1.0f, &random);
      spec.score.additive = additive_.data();
    }
    if (case_.buckets > 0) {
      relative_ = Random(size_t{spec.positions.axes} * spec.heads * case_.buckets * spec.d_k * 2, 0.5f, &random);
      for (uint32_t i = 0; i < 2 * spec.score.max_distance + 1; ++i) {
        const uint64_t in_order = uint64_t{i} * case_.buckets / (2 * spec.score.max_distance + 1);
        table_.push_back(static_cast<int32_t>(case_.ordered_buckets ? in_order : random() % case_.buckets));
      }
      for (const float value : relative_) halves_.push_back(tools::ToHalf(value));
      const auto place = [&](size_t first, bool half, const void** rows, DType* type) {
        *rows = half ? static_cast<const void*>(halves_.data() + first) : relative_.data() + first;
        *type = half ? DType::kF16 : DType::kF32;
      };
      spec.score.relative.buckets = table_.data();
      spec.score.relative.bucket_count = case_.buckets;
      place(0, case_.half_keys, &spec.score.relative.keys, &spec.score.relative.keys_type);
      place(relative_.size() / 2, case_.half_queries, &spec.score.relative.queries, &spec.score.relative.queries_type);
    }
    if (spec.positions.row_coordinates) {
      row_coordinates_ =
          Random(size_t{rows_} * spec.positions.axes, 2.5f * static_cast<float>(spec.score.max_distance), &random);
      const float special[] = {NAN, INFINITY, -INFINITY, 3e9f, 2.5f, -0.5f};
      // A slope times 2^24 leaves no digits of a score in f32.
      for (size_t i = 0; i < row_coordinates_.size() && !case_.slopes; i += 11)
        row_coordinates_[i] = special[i / 11 % 6];
    }
    if (case_.key_bias) key_bias_ = Random(key_rows * (case_.key_bias_by_head ? spec.heads : 1), 2.0f, &random);
    for (uint32_t row = 0; row < rows_ && spec.pattern.centers != Centers::kNone; ++row) {
      const float place = Random(1, 0.6f, &random)[0] + 0.5f;
      const bool fraction = spec.pattern.centers == Centers::kFractions;
      centers_.push_back(fraction ? place : place * static_cast<float>(case_.keys[SegmentOf(row)]));
      if (row < case_.special_centers.size()) centers_[row] = case_.special_centers[row];
      centers_.push_back(kCanary);  // a stride
    }
    if (spec.pattern.global_keys) {
      listed_offsets_ = {0};
      for (size_t s = 0; s < case_.keys.size(); ++s) {
        for (uint32_t row = key_offsets_[s]; row < key_offsets_[s + 1]; ++row) {
          if (random() % 1000 < 1000 * case_.listed) listed_.push_back(row);
        }
        listed_offsets_.push_back(static_cast<uint32_t>(listed_.size()));
      }
    }
    if (spec.pattern.rounds > 0 && case_.sorted) SortClusters(&random);
    if (case_.slopes) slopes_ = Random(spec.heads, 0.3f, &random), spec.score.slopes = slopes_.data();
    if (case_.sinks) sinks_ = Random(spec.heads, 3.0f, &random), spec.weighting.sinks = sinks_.data();
    if (case_.summary_group != 0) Summarize(&random);
  }

  uint32_t rows() const { return rows_; }
  uint32_t stride() const { return stride_; }
  const Case& problem() const { return case_; }
  uint32_t SegmentOf(uint32_t row) const {
    if (case_.spec.pairing == Pairing::kParent) return row;
    return static_cast<uint32_t>(std::upper_bound(query_offsets_.begin(), query_offsets_.end(), row) -
                                 query_offsets_.begin() - 1);
  }
  uint32_t PositionOf(uint32_t row) const { return row - query_offsets_[SegmentOf(row)]; }
  uint32_t FirstKey(uint32_t segment) const { return key_offsets_[segment]; }
  uint32_t MostListed() const {
    uint32_t most = 0;
    for (size_t s = 1; s < listed_offsets_.size(); ++s)
      most = std::max(most, listed_offsets_[s] - listed_offsets_[s - 1]);
    return most;
  }

  AttentionCall Call() const {
    const AttentionSpec& spec = case_.spec;
    AttentionCall call = {};
    call.spec = &spec;
    call.query_segments = {query_offsets_.data(), static_cast<uint32_t>(case_.queries.size())};
    call.key_segments = {key_offsets_.data(), static_cast<uint32_t>(case_.keys.size())};
    call.q = DenseHeads<const void>(q_.data(), spec.heads, spec.d_k);
    call.key_type = case_.key_type;
    call.k = {k_.data(), spec.kv_heads * spec.d_k * ElementBytes(), spec.d_k * ElementBytes(), 0};
    call.v = {v_.data(), spec.kv_heads * spec.d_v * ElementBytes(), spec.d_v * ElementBytes(), 0};
    call.k_scales = DenseHeads<const void>(k_scales_.data(), spec.kv_heads, 1);
    call.v_scales = DenseHeads<const void>(v_scales_.data(), spec.kv_heads, 1);
    if (case_.key_bias) {
      const size_t width = (case_.key_bias_by_head ? spec.heads : 1) * sizeof(float);
      call.key_bias = {key_bias_.data(), width, case_.key_bias_by_head ? sizeof(float) : 0, 0};
    }
    call.centers.values = centers_.data();
    call.row_coordinates = row_coordinates_.data();
    call.centers.stride = 2 * sizeof(float);
    call.global_keys.rows = listed_.data();
    call.global_keys.segments = {listed_offsets_.data(), static_cast<uint32_t>(case_.keys.size())};
    if (case_.summary_group != 0) {
      call.summaries.k = {summary_k_.data(), call.k.row_stride, call.k.head_stride, 0};
      call.summaries.v = {summary_v_.data(), call.v.row_stride, call.v.head_stride, 0};
      call.summaries.segments = {summary_offsets_.data(), static_cast<uint32_t>(case_.keys.size())};
    }
    if (case_.sorted) call.clusters = {order_.data(), rank_.data(), size_t{spec.heads} * spec.pattern.rounds};
    return call;
  }

  // Runs tile by tile; each tile has its own exact buffers.
  std::vector<float> Run(const Kernels& kernels, const std::vector<uint32_t>& tiles,
                         const WeightSink* weights = nullptr) const {
    const AttentionSpec& spec = case_.spec;
    const size_t q_width = size_t{spec.heads} * spec.d_k, out_width = size_t{spec.heads} * spec.d_v;
    std::vector<float> result(rows_ * out_width);
    AttentionCall call = Call();
    const Buffer<uint8_t> k(k_.size()), v(v_.size());
    std::copy(k_.begin(), k_.end(), k.data.get());
    std::copy(v_.begin(), v_.end(), v.data.get());
    call.k.data = k.data.get();
    call.v.data = v.data.get();
    uint32_t row = 0;
    for (uint32_t count : tiles) {
      const Buffer<float> q(count * q_width), out(count * out_width);
      std::copy_n(q_.begin() + row * q_width, q.size, q.data.get());
      std::fill_n(out.data.get(), out.size, kCanary);
      const size_t bytes = AttentionScratchBytes(spec, count);
      const Buffer<char> memory(bytes + 64);
      memset(memory.data.get(), 0xff, bytes + 64);  // NaNs
      call.scratch = memory.data.get() + (64 - reinterpret_cast<uintptr_t>(memory.data.get()) % 64) % 64;
      call.row_begin = row;
      call.row_end = row + count;
      call.q.data = q.data.get();
      call.out = DenseHeads<void>(out.data.get(), spec.heads, spec.d_v);
      call.weights = weights;
      RunAttention(kernels, call);
      std::copy_n(out.data.get(), out.size, result.begin() + row * out_width);
      row += count;
    }
    EXPECT_EQ(row, rows_);
    return result;
  }

 private:
  static std::vector<uint32_t> Offsets(const std::vector<uint32_t>& lengths) {
    std::vector<uint32_t> offsets(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
    return offsets;
  }
  static std::vector<float> Random(size_t n, float magnitude, std::mt19937* random) {
    std::vector<float> values(n);
    for (float& x : values) x = magnitude * (static_cast<float>((*random)() >> 8) * 0x1p-23f - 1.0f);
    return values;
  }

  size_t ElementBytes() const { return RowBytes(case_.key_type, 1); }

  // Rows of `width` in the type of the keys; int8 with a scale each.
  std::vector<uint8_t> Stored(const std::vector<float>& values, size_t width, std::vector<float>* scales) const {
    std::vector<uint8_t> bytes(values.size() * ElementBytes());
    for (size_t i = 0; i < values.size(); ++i) {
      uint8_t* to = bytes.data() + i * ElementBytes();
      uint32_t bits;
      memcpy(&bits, &values[i], 4);
      if (i % width == 0) scales->push_back(0.01f + 0.001f * static_cast<float>(i % 7));
      const uint16_t f16 = tools::ToHalf(values[i]), bf16 = static_cast<uint16_t>(bits >> 16);
      const float in_i8 = values[i] * 127 / std::max(case_.magnitude, 1.0f);
      const auto i8 = static_cast<int8_t>(std::isfinite(in_i8) ? in_i8 : 0.0f);
      switch (case_.key_type) {
        case DType::kF32:
          memcpy(to, &values[i], 4);
          break;
        case DType::kF16:
          memcpy(to, &f16, 2);
          break;
        case DType::kBf16:
          memcpy(to, &bf16, 2);
          break;
        default:
          memcpy(to, &i8, 1);
          break;
      }
    }
    return bytes;
  }

  // Random summaries; some segments have one more than they have whole groups, some one fewer.
  void Summarize(std::mt19937* random) {
    AttentionSpec& spec = case_.spec;
    summary_offsets_ = {0};
    for (size_t s = 0; s < case_.keys.size(); ++s) {
      const uint32_t groups = case_.keys[s] / case_.summary_group;
      const uint32_t rows = s % 3 == 1 ? groups + 1 : s % 3 == 2 && groups > 0 ? groups - 1 : groups;
      summary_offsets_.push_back(summary_offsets_.back() + rows);
    }
    std::vector<float> unused;
    const size_t rows = size_t{summary_offsets_.back()} * spec.kv_heads;
    summary_k_ = Stored(Random(rows * spec.d_k, case_.magnitude, random), spec.d_k, &unused);
    summary_v_ = Stored(Random(rows * spec.d_v, 1.0f, random), spec.d_v, &unused);
    if (case_.summary_reach > 0)
      summary_bias_ = Random(spec.heads * (2 * size_t{case_.summary_reach} + 1), 2.0f, random);
    spec.summaries = {case_.summary_group, case_.summary_reach > 0 ? summary_bias_.data() : nullptr,
                      case_.summary_reach};
  }

  // Random buckets, sorted by bucket and then by position.
  void SortClusters(std::mt19937* random) {
    const size_t columns = size_t{case_.spec.heads} * case_.spec.pattern.rounds;
    order_.resize(key_offsets_.back() * columns);
    rank_.resize(order_.size());
    for (size_t s = 0; s < case_.keys.size(); ++s) {
      const uint32_t first = key_offsets_[s], n = case_.keys[s];
      for (size_t column = 0; column < columns; ++column) {
        std::vector<uint32_t> bucket(n), rows(n);
        for (uint32_t& b : bucket) b = (*random)() % 4;
        std::iota(rows.begin(), rows.end(), 0);
        std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return bucket[a] < bucket[b]; });
        for (uint32_t place = 0; place < n; ++place) {
          order_[(first + place) * columns + column] = static_cast<int32_t>(first + rows[place]);
          rank_[(first + rows[place]) * columns + column] = static_cast<int32_t>(place);
        }
      }
    }
  }

  Case case_;
  std::vector<uint32_t> query_offsets_, key_offsets_;
  uint32_t rows_ = 0, stride_ = 0;
  std::vector<uint16_t> halves_;  // relative_ as f16
  std::vector<float> q_, bias_, additive_, relative_, key_bias_, centers_, row_coordinates_, k_scales_, v_scales_;
  std::vector<float> slopes_, sinks_, summary_bias_;
  std::vector<uint8_t> k_, v_, summary_k_, summary_v_;
  std::vector<uint32_t> summary_offsets_;
  std::vector<uint32_t> listed_, listed_offsets_;
  std::vector<int32_t> table_, order_, rank_;
};

template <typename Body>
void ForEachTarget(const Body& body) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body(GetKernels());
  }
  hwy::SetSupportedTargetsForTest(0);
}

inline bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// A sink in buffers of exact size, and what it holds afterwards.
class Kept {
 public:
  Kept(const Problem& problem, bool sparse, Reduce reduce = Reduce::kNone, uint64_t mask = 0,
       const std::vector<uint32_t>* rows = nullptr, uint32_t staged_rows = 5)
      : problem_(problem) {
    const AttentionSpec& spec = problem.problem().spec;
    for (uint32_t row = 0; row < problem.rows(); ++row) {
      if (rows == nullptr || std::count(rows->begin(), rows->end(), row) != 0) rows_.push_back(row);
    }
    rows_.reserve(1);  // so that data() is not null
    sink_.rows = rows == nullptr ? nullptr : rows_.data();
    sink_.row_count = static_cast<uint32_t>(rows_.size());
    sink_.head_mask = mask;
    sink_.heads = 0;
    for (uint32_t head = 0; head < spec.heads; ++head) sink_.heads += sink_.Wants(head) ? 1 : 0;
    sink_.reduce = reduce;
    sink_.stride = problem.stride();
    sink_.staged_rows = staged_rows;
    sink_.staged_entries = problem.stride();
    size_t entries = rows_.size() * sink_.slots() * problem.stride();
    if (sparse) {
      sink_.staged_entries = static_cast<uint32_t>(Entries(true));
      const uint64_t heads = reduce == Reduce::kNone ? 1 : sink_.heads;
      for (const uint32_t row : rows_) {
        const uint32_t segment = problem.SegmentOf(row), keys = problem.problem().keys[segment];
        const uint32_t position = spec.pairing == Pairing::kParent ? 0 : problem.PositionOf(row);
        starts_.push_back(total_);
        total_ += std::min<uint64_t>(heads * Entries(spec.pattern.IsGlobal(position, keys)), problem.stride());
      }
      starts_.push_back(total_);
      entries = total_ * sink_.slots();
      keys_ = std::make_unique<Buffer<uint32_t>>(entries);
      counts_ = std::make_unique<Buffer<uint32_t>>(rows_.size() * sink_.slots());
      staged_keys_ = std::make_unique<Buffer<uint32_t>>(size_t{staged_rows} * sink_.staged_entries);
      sink_.keys = keys_->data.get();
      sink_.counts = counts_->data.get();
      sink_.starts = starts_.data();
      sink_.staged_keys = staged_keys_->data.get();
    }
    values_ = std::make_unique<Buffer<float>>(entries);
    staged_values_ = std::make_unique<Buffer<float>>(size_t{staged_rows} * sink_.staged_entries);
    std::fill_n(values_->data.get(), entries, kCanary);
    std::fill_n(staged_values_->data.get(), staged_values_->size, kCanary);
    sink_.values = values_->data.get();
    sink_.staged_values = staged_values_->data.get();
  }

  const WeightSink* sink() const { return &sink_; }
  const std::vector<uint32_t>& rows() const { return rows_; }

  // [rows, slots, stride]; the canary past the keys of a segment.
  std::vector<float> Dense() const {
    if (!sink_.sparse()) return {sink_.values, sink_.values + values_->size};
    const uint32_t slots = sink_.slots(), stride = problem_.stride();
    std::vector<float> dense(rows_.size() * slots * stride, kCanary);
    for (uint32_t t = 0; t < rows_.size(); ++t) {
      const uint32_t segment = problem_.SegmentOf(rows_[t]), first_key = problem_.FirstKey(segment);
      const uint32_t keys = problem_.problem().keys[segment];
      for (uint32_t slot = 0; slot < slots; ++slot) {
        float* line = &dense[(size_t{t} * slots + slot) * stride];
        std::fill_n(line, keys, 0.0f);
        const size_t first = sink_.FirstEntry(t, slot);
        const uint32_t count = sink_.counts[size_t{t} * slots + slot];
        EXPECT_LE(count, starts_[t + 1] - starts_[t]);
        for (uint32_t i = 0; i < count; ++i) {
          const uint32_t key = sink_.keys[first + i];
          EXPECT_TRUE(key >= first_key && key < first_key + keys);
          EXPECT_TRUE(i == 0 || key > sink_.keys[first + i - 1]);
          EXPECT_NE(sink_.values[first + i], 0.0f);
          line[key - first_key] = sink_.values[first + i];
        }
      }
    }
    return dense;
  }

 private:
  uint64_t Entries(bool on_edge) const {
    const AttentionSpec& spec = problem_.problem().spec;
    return MostVisibleKeys(spec.pattern, {spec.heads, problem_.stride(), problem_.MostListed(), on_edge});
  }

  const Problem& problem_;
  WeightSink sink_ = {};
  std::vector<uint32_t> rows_;
  std::vector<uint64_t> starts_;
  uint64_t total_ = 0;
  std::unique_ptr<Buffer<float>> values_, staged_values_;
  std::unique_ptr<Buffer<uint32_t>> keys_, counts_, staged_keys_;
};

// Output and weights, dense and sparse, against the reference; asking for weights changes no bit; other tilings change
// no bit.
inline void Check(const Case& c) {
  const Problem problem(c);
  const AttentionSpec& spec = problem.problem().spec;
  AttentionCall call = problem.Call();
  const ReferenceAttention as_wanted = RunReferenceAttention(call, problem.rows(), problem.stride());
  AttentionSpec f32 = spec;
  f32.score.products = Products::kF32;
  call.spec = &f32;
  const ReferenceAttention in_f32 =
      spec.score.products == Products::kF32 ? as_wanted : RunReferenceAttention(call, problem.rows(), problem.stride());
  ForEachTarget([&](const Kernels& kernels) {
    // Some attentions, and segments of few keys, stay f32 if int16 is asked for: its tolerance allows both.
    const bool rounds =
        kernels.attention.has[static_cast<uint32_t>(spec.score.products)] && spec.score.products != Products::kI16;
    const ReferenceAttention& expected = rounds ? as_wanted : in_f32;
    const std::vector<float> out = problem.Run(kernels, {problem.rows()});
    double worst = 0.0;
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_TRUE(std::isfinite(out[i])) << i;
      worst = std::max(worst, test::Distance(out[i], expected.out[i]));
    }
    const bool halves = spec.score.products == Products::kI8 && kernels.attention.half_values;
    const double tolerance = halves ? std::max(c.tolerance, kHalfWeight) : c.tolerance;
    EXPECT_LE(worst, halves ? kHalfOut : c.out_tolerance > 0.0 ? c.out_tolerance : tolerance);

    for (const bool sparse : {false, true}) {
      const Kept kept(problem, sparse);
      EXPECT_TRUE(SameBits(out, problem.Run(kernels, {problem.rows()}, kept.sink()))) << "weights changed the output";
      const std::vector<float> weights = kept.Dense();
      worst = 0.0;
      for (uint32_t row = 0; row < problem.rows(); ++row) {
        const uint32_t keys = problem.problem().keys[problem.SegmentOf(row)];
        for (uint32_t head = 0; head < spec.heads; ++head) {
          const size_t at = (size_t{row} * spec.heads + head) * problem.stride();
          double sum = 0.0, expected_sum = 0.0;
          for (uint32_t key = 0; key < keys; ++key) {
            worst = std::max(worst, test::Distance(weights[at + key], expected.weights[at + key]));
            if (expected.weights[at + key] == 0.0) {
              EXPECT_EQ(weights[at + key], 0.0f);
            }
            sum += weights[at + key];
            expected_sum += expected.weights[at + key];
          }
          EXPECT_NEAR(sum, expected_sum, std::max(2e-6, tolerance) * std::max(1.0, expected_sum));
          for (uint32_t key = keys; key < problem.stride(); ++key) ASSERT_EQ(weights[at + key], kCanary);
        }
      }
      EXPECT_LE(worst, tolerance) << (sparse ? "sparse" : "dense");
    }

    for (uint32_t step : {7u, 1u, 50u}) {
      if (FewerCases() && step != 7) continue;
      if (problem.rows() / step > 300) continue;
      std::vector<uint32_t> tiles;
      for (uint32_t row = 0; row < problem.rows(); row += step) tiles.push_back(std::min(step, problem.rows() - row));
      EXPECT_TRUE(SameBits(out, problem.Run(kernels, tiles))) << "tiles of " << step;
    }
  });
}

// With this d_v the engine's key blocks are of the shortest length, 64 keys; with a small one they are of 256.
inline constexpr uint32_t kWideValue = 201;

inline Pattern WindowOf(uint32_t left, uint32_t right) {
  Pattern pattern;
  pattern.left = left;
  pattern.right = right;
  return pattern;
}

inline Pattern ChunksOf(uint32_t rounds, uint32_t chunk, uint32_t before, uint32_t after = 0, uint32_t multiple = 1) {
  Pattern pattern;
  pattern.rounds = rounds;
  pattern.chunk = chunk;
  pattern.chunks_before = before;
  pattern.chunks_after = after;
  pattern.chunk_multiple = multiple;
  return pattern;
}

// One of each kind of walk over keys.
inline std::vector<Pattern> SomePatterns() {
  Pattern dilated = WindowOf(20, 20);
  dilated.dilation = 3;
  dilated.global_first = 2;
  Pattern best = WindowOf(kUnbounded, 0);
  best.top_k = 6;
  return {Pattern{}, WindowOf(7, 0), dilated, best, ChunksOf(2, 16, 1)};
}

}  // namespace fovea

#endif  // FOVEA_TESTS_ATTENTION_ATTENTION_PROBLEM_H_
