// The attention engine on every SIMD target against the dense-mask reference, and the same bits in every tiling.
#include "runtime/attention/attention.h"

#include <gtest/gtest.h>
#include <string.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "hwy/targets.h"
#include "tests/support/reference_attention.h"

namespace fovea {
namespace {

constexpr float kCanary = 123456.0f;
// Values are of magnitude 1 to 4; f32 sums of a few hundred products and an exponential of 2e-7.
constexpr double kTolerance = 4e-6;

// Buffers of exactly the stated size, so that the address sanitizer sees every step outside.
template <typename T>
struct Buffer {
  explicit Buffer(size_t n) : size(n), data(new T[n]) {}
  size_t size;
  std::unique_ptr<T[]> data;
};

struct Case {
  AttentionSpec spec = {2, 2, 8, 8, 0.3f, Pairing::kPaired, {}, nullptr, 0};
  std::vector<uint32_t> queries = {5};  // lengths of the segments
  std::vector<uint32_t> keys;           // likewise; empty: as `queries`
  float magnitude = 1.0f;               // of queries and keys
  double tolerance = kTolerance;
};

class Problem {
 public:
  explicit Problem(const Case& c) : case_(c) {
    if (case_.keys.empty()) case_.keys = case_.queries;
    query_offsets_ = Offsets(case_.queries);
    key_offsets_ = Offsets(case_.keys);
    rows_ = case_.spec.pairing == Pairing::kParent ? static_cast<uint32_t>(case_.keys.size()) : query_offsets_.back();
    for (uint32_t n : case_.keys) stride_ = std::max(stride_, n);
    std::mt19937 random(rows_ * 131 + case_.spec.d_k);
    q_ = Random(size_t{rows_} * case_.spec.heads * case_.spec.d_k, case_.magnitude, &random);
    k_ = Random(size_t{key_offsets_.back()} * case_.spec.kv_heads * case_.spec.d_k, case_.magnitude, &random);
    v_ = Random(size_t{key_offsets_.back()} * case_.spec.kv_heads * case_.spec.d_v, 1.0f, &random);
    if (case_.spec.distance_reach > 0) {
      bias_ = Random(case_.spec.heads * (2 * size_t{case_.spec.distance_reach} + 1), 2.0f, &random);
      case_.spec.distance_bias = bias_.data();
    }
  }

  uint32_t rows() const { return rows_; }
  uint32_t stride() const { return stride_; }
  const Case& problem() const { return case_; }

  AttentionCall Call() const {
    AttentionCall call = {};
    call.spec = &case_.spec;
    call.query_segments = {query_offsets_.data(), static_cast<uint32_t>(case_.queries.size())};
    call.key_segments = {key_offsets_.data(), static_cast<uint32_t>(case_.keys.size())};
    call.q = q_.data();
    call.k = k_.data();
    call.v = v_.data();
    call.weights_stride = stride_;
    return call;
  }

  // Runs tile by tile; each tile has its own exact buffers.
  std::vector<float> Run(const AttentionKernels& kernels, const std::vector<uint32_t>& tiles,
                         std::vector<float>* weights = nullptr) const {
    const size_t q_width = size_t{case_.spec.heads} * case_.spec.d_k;
    const size_t out_width = size_t{case_.spec.heads} * case_.spec.d_v;
    std::vector<float> result(rows_ * out_width);
    if (weights != nullptr) weights->assign(size_t{rows_} * case_.spec.heads * stride_, kCanary);
    AttentionCall call = Call();
    const Buffer<float> k(k_.size()), v(v_.size());
    std::copy(k_.begin(), k_.end(), k.data.get());
    std::copy(v_.begin(), v_.end(), v.data.get());
    call.k = k.data.get();
    call.v = v.data.get();
    uint32_t row = 0;
    for (uint32_t count : tiles) {
      const Buffer<float> q(count * q_width), out(count * out_width);
      std::copy_n(q_.begin() + row * q_width, q.size, q.data.get());
      std::fill_n(out.data.get(), out.size, kCanary);
      const size_t bytes = AttentionScratchBytes(case_.spec, count);
      const Buffer<char> memory(bytes + 64);
      memset(memory.data.get(), 0xff, bytes + 64);  // NaNs
      call.scratch = memory.data.get() + (64 - reinterpret_cast<uintptr_t>(memory.data.get()) % 64) % 64;
      call.row_begin = row;
      call.row_end = row + count;
      call.q = q.data.get();
      call.out = out.data.get();
      call.weights = weights != nullptr ? weights->data() : nullptr;
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

  Case case_;
  std::vector<uint32_t> query_offsets_, key_offsets_;
  uint32_t rows_ = 0, stride_ = 0;
  std::vector<float> q_, k_, v_, bias_;
};

template <typename Body>
void ForEachTarget(const Body& body) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body(GetAttentionKernels());
  }
  hwy::SetSupportedTargetsForTest(0);
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Output and weights against the reference; asking for weights changes no bit; other tilings change no bit.
void Check(const Case& c) {
  const Problem problem(c);
  const AttentionSpec& spec = problem.problem().spec;
  const ReferenceAttention expected = RunReferenceAttention(problem.Call(), problem.rows(), problem.stride());
  ForEachTarget([&](const AttentionKernels& kernels) {
    std::vector<float> weights;
    const std::vector<float> out = problem.Run(kernels, {problem.rows()}, &weights);
    double worst = 0.0;
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_TRUE(std::isfinite(out[i])) << i;
      worst = std::max(worst, std::abs(out[i] - expected.out[i]));
    }
    EXPECT_LE(worst, c.tolerance);

    EXPECT_TRUE(SameBits(out, problem.Run(kernels, {problem.rows()}))) << "weights changed the output";
    worst = 0.0;
    for (uint32_t row = 0; row < problem.rows(); ++row) {
      uint32_t segment = row;
      if (spec.pairing == Pairing::kPaired) {
        segment = 0;
        for (uint32_t end = problem.problem().queries[0]; end <= row; end += problem.problem().queries[++segment]) {
        }
      }
      const uint32_t keys = problem.problem().keys[segment];
      for (uint32_t head = 0; head < spec.heads; ++head) {
        const size_t at = (size_t{row} * spec.heads + head) * problem.stride();
        double sum = 0.0, expected_sum = 0.0;
        for (uint32_t key = 0; key < keys; ++key) {
          worst = std::max(worst, std::abs(weights[at + key] - expected.weights[at + key]));
          if (expected.weights[at + key] == 0.0) {
            EXPECT_EQ(weights[at + key], 0.0f);
          }
          sum += weights[at + key];
          expected_sum += expected.weights[at + key];
        }
        EXPECT_NEAR(sum, expected_sum, 2e-6);
        for (uint32_t key = keys; key < problem.stride(); ++key) ASSERT_EQ(weights[at + key], kCanary);
      }
    }
    EXPECT_LE(worst, c.tolerance);

    for (uint32_t step : {1u, 7u, 50u}) {
      if (problem.rows() / step > 300) continue;
      std::vector<uint32_t> tiles;
      for (uint32_t row = 0; row < problem.rows(); row += step) tiles.push_back(std::min(step, problem.rows() - row));
      EXPECT_TRUE(SameBits(out, problem.Run(kernels, tiles))) << "tiles of " << step;
    }
  });
}

// With this d_v the engine's key blocks are of the shortest length, 64 keys; with a small one they are of 256.
constexpr uint32_t kWideValue = 201;

Pattern Window(uint32_t left, uint32_t right) { return {PatternKind::kWindow, left, right}; }

TEST(Attention, FullAtManyLengths) {
  for (uint32_t n : {1u, 2u, 3u, 5u, 8u, 15u, 16u, 17u, 31u, 33u, 63u, 64u, 65u, 127u, 128u, 129u, 200u, 257u, 300u}) {
    SCOPED_TRACE(n);
    Case c;
    c.queries = {n};
    Check(c);
  }
}

TEST(Attention, HeadSizes) {
  const auto check = [](uint32_t d_k, uint32_t d_v) {
    SCOPED_TRACE(testing::Message() << d_k << " " << d_v);
    Case c;
    c.spec.d_k = d_k;
    c.spec.d_v = d_v;
    c.spec.scale = 1.0f / std::sqrt(static_cast<float>(d_k));
    c.queries = {5, 38};
    Check(c);
  };
  for (uint32_t d_k : {1u, 2u, 3u, 5u, 7u, 16u, 24u, 31u, 32u, 64u, 80u, 128u, 257u}) check(d_k, 28);
  for (uint32_t d_v : {1u, 3u, 8u, 15u, 17u, 31u, 32u, 48u, 64u, 100u, 128u, 259u}) check(24, d_v);
}

TEST(Attention, Windows) {
  for (const Pattern& pattern :
       {Window(kUnbounded, 0), Window(0, 0), Window(0, kUnbounded), Window(1, 0), Window(0, 1), Window(3, 2),
        Window(16, 16), Window(63, 64), Window(128, 128), Window(1000, 5), Window(5, 1000), Window(1000, 1000),
        Window(kUnbounded - 1, kUnbounded - 1), Window(kUnbounded, kUnbounded)}) {
    for (uint32_t n : {1u, 17u, 64u, 150u}) {
      SCOPED_TRACE(testing::Message() << pattern.left << " " << pattern.right << " n " << n);
      Case c;
      c.spec.pattern = pattern;
      c.spec.heads = c.spec.kv_heads = 1;
      c.spec.d_v = kWideValue;
      c.queries = {n};
      Check(c);
    }
  }
}

TEST(Attention, RaggedSegments) {
  for (const Pattern& pattern : {Pattern{}, Window(kUnbounded, 0), Window(4, 2)}) {
    Case c;
    c.spec.pattern = pattern;
    c.spec.d_v = kWideValue;
    c.queries = {0, 3, 0, 0, 140, 1, 17, 0, 66, 2, 0};
    Check(c);
  }
}

TEST(Attention, CrossLengths) {
  for (const Pattern& pattern : {Pattern{}, Window(kUnbounded, 0), Window(4, 2), Window(2, 90)}) {
    Case c;
    c.spec.pattern = pattern;
    c.spec.d_v = kWideValue;
    c.queries = {4, 1, 30, 5, 0, 200};
    c.keys = {9, 70, 0, 129, 3, 2};  // empty keys: zeros; few keys and a window: rows that see none
    Check(c);
  }
}

TEST(Attention, ParentAttendsToItsSegment) {
  Case c;
  c.spec.pairing = Pairing::kParent;
  c.queries = {0};
  c.keys = {1, 0, 5, 64, 131, 0, 16, 7};
  Check(c);
  c.spec.heads = 4;
  c.spec.kv_heads = 1;
  Check(c);
}

TEST(Attention, GroupedHeads) {
  for (uint32_t kv_heads : {1u, 3u, 6u}) {
    for (const Pattern& pattern : {Pattern{}, Window(20, 3)}) {
      Case c;
      c.spec.heads = 6;
      c.spec.kv_heads = kv_heads;
      c.spec.d_v = kWideValue;
      c.spec.pattern = pattern;
      c.queries = {3, 70};
      Check(c);
    }
  }
  Case many;  // more heads than a chunk has rows
  many.spec.heads = 300;
  many.spec.kv_heads = 2;
  many.spec.pattern = Window(9, 9);
  many.queries = {40};
  Check(many);
}

TEST(Attention, DistanceBias) {
  for (uint32_t reach : {1u, 40u, 500u}) {
    for (const Pattern& pattern : {Pattern{}, Window(kUnbounded, 0), Window(30, 10)}) {
      SCOPED_TRACE(reach);
      Case c;
      c.spec.distance_reach = reach;
      c.spec.d_v = kWideValue;
      c.spec.pattern = pattern;
      c.queries = {100, 20};
      Check(c);
    }
  }
}

// Scores up to about 1e4: their own rounding error (2^-24 of them) is what the weights then show.
TEST(Attention, LargeScores) {
  for (const Pattern& pattern : {Pattern{}, Window(kUnbounded, 0), Window(30, 10)}) {
    Case c;
    c.spec.d_k = 32;
    c.spec.d_v = kWideValue;
    c.spec.scale = 1.0f;
    c.spec.pattern = pattern;
    c.queries = {200};
    c.magnitude = 30.0f;
    c.tolerance = 4e-3;
    Check(c);
  }
}

TEST(Attention, TileBoundariesAtEveryOffset) {
  for (const Pattern& pattern : {Pattern{}, Window(kUnbounded, 0), Window(5, 3)}) {
    Case c;
    c.spec.pattern = pattern;
    c.spec.heads = c.spec.kv_heads = 1;
    c.spec.d_k = 9;
    c.queries = {11, 0, 23, 1};
    const Problem problem(c);
    ForEachTarget([&](const AttentionKernels& kernels) {
      const std::vector<float> whole = problem.Run(kernels, {problem.rows()});
      for (uint32_t first = 1; first < problem.rows(); ++first) {
        for (uint32_t second = 1; first + second < problem.rows(); ++second) {
          EXPECT_TRUE(SameBits(whole, problem.Run(kernels, {first, second, problem.rows() - first - second})));
        }
      }
    });
  }
}

TEST(Attention, LongSequence) {
  Case c;
  c.queries = {700};
  c.spec.heads = c.spec.kv_heads = 1;
  c.spec.d_k = c.spec.d_v = 32;
  for (const Pattern& pattern : {Pattern{}, Window(128, 128), Window(kUnbounded, 0)}) {
    c.spec.pattern = pattern;
    Check(c);
  }
}

TEST(Attention, ScratchDoesNotDependOnLengthAndIsBounded) {
  const AttentionSpec spec = {12, 12, 64, 64, 0.125f, Pairing::kPaired, {}, nullptr, 0};
  EXPECT_EQ(AttentionScratchBytes(spec), AttentionScratchBytes(spec, 4096));
  EXPECT_LT(AttentionScratchBytes(spec, 1), AttentionScratchBytes(spec, 32));
  EXPECT_LT(AttentionScratchBytes(spec), 192u << 10);
}

}  // namespace
}  // namespace fovea
