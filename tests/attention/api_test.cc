// fovea_attention_run against the reference: every pattern with every score, type and layout, exact scratch, any
// workers, weights; nothing is written beside the outputs and nothing allocated.
#include <thread>

#include "runtime/kernels/kernels.h"
#include "tests/attention/api_problem.h"
#include "tests/session/runners.h"
#include "tests/support/distance.h"
#include "tests/support/fewer_cases.h"
#include "tests/support/heap_trap.h"

namespace fovea {
namespace {

constexpr int32_t kHeadWindows[] = {4, 4, 1, -1, 0, 1, 30, 0, 5, 0, -1, 2};
constexpr int32_t kNamed[] = {0, 3, -1, 5, 5, 1, 8, 2, 2, 0, 99, 4, 7, 7, 7, 1, 6, -5};
constexpr int32_t kNamedOnce[] = {0, 3, -1, 5, 4, 1, 8, 2, 6, 0, 99, 4, -1, 7, -1, 1, 6, -5};

// Every pattern by name, with the arguments that it needs.
std::vector<std::pair<const char*, Pattern>> AllPatterns() {
  Pattern dilated = WindowOf(20, 20), block = WindowOf(0, 0), neighbours = WindowOf(16, 0), by_head, edges, listed,
          global = WindowOf(6, 6), named = WindowOf(8, 8), best, short_full = WindowOf(2, 2), clustered;
  dilated.dilation = 3;
  block.block = 16;
  neighbours.block = 16;
  neighbours.global_first = neighbours.global_last = 16;
  by_head.head_windows = kHeadWindows;
  edges.has_window = false;
  edges.global_first = 2;
  edges.global_last = 3;
  edges.causal = true;
  listed.has_window = false;
  listed.global_keys = true;
  global.global_keys = true;
  global.global_first = 1;
  named.block = 8;
  named.layout = kNamed;
  named.layout_heads = 1;
  named.layout_rows = 6;
  named.layout_columns = 3;
  best.top_k = 6;
  best.causal = true;
  short_full.full_up_to = 65;
  clustered.rounds = 2;
  clustered.chunk = 16;
  clustered.chunks_before = 1;
  return {{"full", Pattern{}},        {"causal", WindowOf(kUnbounded, 0)},
          {"window", WindowOf(7, 2)}, {"dilated", dilated},
          {"block", block},           {"neighbours", neighbours},
          {"by head", by_head},       {"edges", edges},
          {"listed", listed},         {"global", global},
          {"named", named},           {"best", best},
          {"short", short_full},      {"clustered", clustered}};
}

struct Result {
  std::vector<float> out, weights;
};

TEST(AttentionApi, Products) {
  Case c;
  c.spec = SpecOf(4, 2, 24, 8, 0.3f);
  c.queries = {70, 0, 3, 1};
  c.spec.pattern = WindowOf(9, 2);
  for (const DType type : {DType::kF32, DType::kI8}) {
    c.key_type = type;
    const Problem f32(c);
    Case narrow = c;
    narrow.spec.score.products = Products::kI8;
    const Problem problem(narrow);
    const Kernels kernels = GetKernels();
    Arguments a(problem, Layout::kDense), plain(f32, Layout::kDense);
    const std::vector<float> found = a.Output();
    EXPECT_TRUE(SameBits(found, problem.Run(kernels, {problem.rows()})));
    EXPECT_EQ(SameBits(found, plain.Output()), !kernels.attention.has[2]);
  }
}

// Runs with all layouts; returns the results of the dense one.
Result CheckApi(const Case& c) {
  const Problem problem(c);
  const ReferenceAttention expected = RunReferenceAttention(problem.Call(), problem.rows(), problem.stride());
  Result first;
  for (const Layout layout : {Layout::kDense, Layout::kGaps, Layout::kHeadsFirst}) {
    Arguments a(problem, layout);
    const std::vector<float> out = a.Output();
    EXPECT_TRUE(a.out_rows.GapsAreWhole());
    double worst = 0.0;
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_TRUE(std::isfinite(out[i]));
      worst = std::max(worst, test::Distance(out[i], expected.out[i]));
    }
    EXPECT_LE(worst, c.tolerance);
    if (layout != Layout::kDense) {
      EXPECT_TRUE(SameBits(out, first.out)) << "layouts differ";
      continue;
    }
    first.out = out;
    first.weights.assign(size_t{problem.rows()} * a.spec.heads * problem.stride(), 0.0f);
    a.kept.values = first.weights.data();
    a.kept.stride = problem.stride();
    EXPECT_TRUE(SameBits(a.Output(), first.out)) << "weights changed the output";
    worst = 0.0;
    for (size_t i = 0; i < first.weights.size(); ++i) {
      worst = std::max(worst, test::Distance(first.weights[i], expected.weights[i]));
    }
    EXPECT_LE(worst, c.tolerance);
  }
  return first;
}

Case Ragged(const Pattern& pattern) {
  Case c;
  c.spec.pattern = pattern;
  c.spec.heads = c.spec.kv_heads = 4;
  c.queries = FewerCases() ? std::vector<uint32_t>{21, 0, 3, 1, 17} : std::vector<uint32_t>{70, 0, 3, 1, 65};
  c.listed = 0.1;
  return c;
}

TEST(AttentionApi, PatternsTypesAndHeads) {
  for (const auto& [name, pattern] : AllPatterns()) {
    for (const DType type : {DType::kF32, DType::kF16, DType::kBf16, DType::kI8}) {
      for (const uint32_t kv_heads : {4u, 2u, 1u}) {
        SCOPED_TRACE(::testing::Message() << name << " " << static_cast<int>(type) << " " << kv_heads);
        Case c = Ragged(pattern);
        c.key_type = type;
        c.spec.kv_heads = kv_heads;
        c.spec.d_k = 5;
        c.spec.d_v = 19;
        CheckApi(c);
      }
    }
  }
}

TEST(AttentionApi, PatternsAndScores) {
  for (const auto& [name, pattern] : AllPatterns()) {
    for (const Score score : {Score::kDot, Score::kDistance, Score::kAdditive}) {
      for (const Activation weighting : {Activation::kNone, Activation::kRelu, Activation::kSigmoid, Activation::kGelu,
                                         Activation::kGeluTanh, Activation::kSilu}) {
        SCOPED_TRACE(::testing::Message() << name << " " << static_cast<int>(score) << static_cast<int>(weighting));
        Case c = Ragged(pattern);
        c.spec.score.kind = score;
        c.spec.weighting.kind = weighting;
        c.spec.score.cap = score == Score::kDot ? 3.0f : 0.0f;
        c.spec.score.max_distance = 9;
        c.key_bias = true;
        c.key_bias_by_head = weighting == Activation::kNone;
        if (weighting != Activation::kNone && pattern.layout != nullptr) c.spec.pattern.layout = kNamedOnce;
        c.tolerance = 5e-5;  // sums of up to 70 weights of magnitude 2
        CheckApi(c);
      }
    }
  }
}

TEST(AttentionApi, RelativeCoordinatesAndSelf) {
  for (const auto& [name, pattern] : AllPatterns()) {
    SCOPED_TRACE(name);
    Case c = Ragged(pattern);
    c.tolerance = 2e-5;
    c.spec.score.has_self_score = true;
    c.spec.score.self_score = -2.0f;
    std::vector<int32_t> coordinates(3 * 80 * 3);
    for (size_t i = 0; i < coordinates.size(); ++i) coordinates[i] = static_cast<int32_t>(i * 7 % 23);
    c.spec.positions.coordinates = coordinates.data();
    c.spec.positions.axes = 3;
    c.spec.positions.coordinate_sets = 3;
    c.spec.positions.coordinate_positions = 80;
    c.spec.score.max_distance = 12;
    if (pattern.rounds == 0) c.buckets = 6;
    if (pattern.layout != nullptr) c.spec.pattern.layout = kNamedOnce;
    CheckApi(c);
  }
}

TEST(AttentionApi, SlopesAndSinks) {
  for (const auto& [name, pattern] : AllPatterns()) {
    SCOPED_TRACE(name);
    Case c = Ragged(pattern);
    c.tolerance = 2e-5;
    c.slopes = true;
    CheckApi(c);
    c.sinks = pattern.top_k == 0 && pattern.rounds == 0;
    CheckApi(c);
    c.spec.positions.row_coordinates = true;  // any numbers, between which slopes measure
    c.spec.score.max_distance = 12;
    c.tolerance = 3e-5;
    CheckApi(c);
  }
}

TEST(AttentionApi, Summaries) {
  for (const uint32_t reach : {0u, 2u}) {
    for (const uint32_t kv_heads : {4u, 2u}) {
      for (const DType type : {DType::kF32, DType::kF16}) {
        Case c = Ragged(WindowOf(4, 7));
        c.queries.push_back(300);
        c.spec.kv_heads = kv_heads;
        c.key_type = type;
        c.summary_group = 4;
        c.summary_reach = reach;
        c.spec.score.max_distance = reach * 3;  // with and without a bias of the segment's keys
        c.tolerance = 8e-6;
        CheckApi(c);
        c.sinks = true;
        CheckApi(c);
      }
    }
  }
}

TEST(AttentionApi, QueriesOfSeveralKeysAndRowsApart) {
  Case c;
  c.queries = {4, 1, 30, 5, 0, 150};
  c.keys = {9, 2, 61, 10, 3, 299};
  c.spec.positions.query_stride = 2;
  c.spec.positions.apart = 1;
  c.spec.score.max_distance = 300;
  c.buckets = 30;
  c.ordered_buckets = true;
  c.tolerance = 8e-6;
  CheckApi(c);
}

TEST(AttentionApi, CrossAndPoolingAttention) {
  Case cross;
  cross.queries = {4, 1, 30, 5, 0, 200};
  cross.keys = {9, 70, 0, 129, 3, 2};
  cross.spec.pattern = WindowOf(5, 80);
  CheckApi(cross);
  Case pool;
  pool.spec.pairing = Pairing::kParent;
  pool.queries = {0};
  pool.keys = {1, 0, 5, 64, 131, 0, 16, 7};
  CheckApi(pool);
}

TEST(AttentionApi, DefaultsAreOneFullSegment) {
  Case c;
  c.queries = {37};
  c.spec = SpecOf(1, 1, 16, 16, 0.25f);
  const Problem problem(c);
  Arguments a(problem, Layout::kDense);
  const std::vector<float> spelt_out = a.Output();
  a.options = {};
  a.options.struct_size = sizeof(a.options);
  a.options.d_k = 16;
  EXPECT_TRUE(SameBits(a.Output(), spelt_out));
}

// With one bias for all heads the stride between heads is ignored.
TEST(AttentionApi, StrideOfTheOnlyHeadIsNotRead) {
  Case c;
  c.queries = {37};
  c.key_bias = true;
  const Problem problem(c);
  Arguments a(problem, Layout::kDense);
  const std::vector<float> expected = a.Output();
  a.score.key_bias_head_stride = 4096;
  EXPECT_TRUE(SameBits(a.Output(), expected));
}

TEST(AttentionApi, RowsBehindTheSegmentsAreLeftAlone) {
  Case c;
  c.queries = {11};
  const Problem problem(c);
  Arguments a(problem, Layout::kDense);
  const uint32_t offsets[] = {0, 4};
  a.options.query_offsets = offsets;
  a.Output();
  const size_t width = 2 * 8 * sizeof(float);
  for (size_t b = 4 * width; b < 11 * width; ++b) EXPECT_EQ(a.out_rows.data()[b], kGap);
}

// First key of the segment that holds a query row; queries and keys have the same segments.
uint32_t FirstKey(const Arguments& a, size_t row) {
  const uint32_t* offsets = a.options.key_offsets;
  while (offsets[1] <= row) ++offsets;
  return offsets[0];
}

TEST(AttentionApi, SparseWeightsAddUpToTheDenseOnes) {
  for (const auto& [name, pattern] : AllPatterns()) {
    SCOPED_TRACE(name);
    const Case c = Ragged(pattern);
    const Result dense = CheckApi(c);
    const Problem problem(c);
    Arguments a(problem, Layout::kDense);
    const size_t rows = size_t{problem.rows()} * a.spec.heads;
    // As narrow as is allowed.
    float none = 0;
    uint32_t no_key = 0;
    std::vector<uint32_t> counts(rows, 77);
    a.kept.values = &none;
    a.kept.keys = &no_key;
    a.kept.counts = counts.data();
    fovea_error error = {};
    const auto run = [&] {
      const test::AlignedBytes scratch(a.Needed());
      return a.Run(scratch.data(), scratch.size(), &error);
    };
    ASSERT_EQ(run(), FOVEA_E_CAPACITY);
    while (run() == FOVEA_E_CAPACITY) {
      ASSERT_GT(error.expected, a.kept.stride);
      a.kept.stride = static_cast<uint32_t>(error.expected);
      // Buffers for the run that succeeds in the end.
      static std::vector<float> weights;
      static std::vector<uint32_t> keys;
      weights.assign(rows * a.kept.stride, kCanary);
      keys.assign(weights.size(), 99);
      a.kept.values = weights.data();
      a.kept.keys = keys.data();
    }
    const size_t stride = a.kept.stride;
    for (size_t row = 0; row < rows; ++row) {
      ASSERT_LE(counts[row], stride);
      std::vector<float> sums(problem.stride(), 0.0f);
      for (size_t i = 0; i < counts[row]; ++i) {
        const uint32_t key = a.kept.keys[row * stride + i] - FirstKey(a, row / a.spec.heads);
        ASSERT_LT(key, problem.stride());
        sums[key] += a.kept.values[row * stride + i];
      }
      for (size_t i = counts[row]; i < stride; ++i) ASSERT_EQ(a.kept.values[row * stride + i], kCanary);
      for (size_t key = 0; key < problem.stride(); ++key) {
        ASSERT_NEAR(sums[key], dense.weights[row * problem.stride() + key], 1e-6) << row << " " << key;
      }
    }
  }
}

TEST(AttentionApi, WorkersAndTilesDoNotChangeBits) {
  for (const auto& [name, pattern] : AllPatterns()) {
    SCOPED_TRACE(name);
    Case c = Ragged(pattern);
    c.queries = {170, 0, 3, 1, 265};
    const Problem problem(c);
    Arguments a(problem, Layout::kGaps);
    const std::vector<float> one = a.Output();
    for (const uint32_t workers : {2u, 3u, 64u}) {
      for (const uint32_t tile_rows : {0u, 1u, 7u, 1u << 16}) {
        if (FewerCases() && tile_rows != (workers == 2 ? 1u : workers == 3 ? 7u : 0u)) continue;
        for (const fovea_runner runner : {fovea_runner{nullptr}, fovea_runner{test::ReverseRunner}}) {
          a.options.workers = workers;
          a.options.tile_rows = tile_rows;
          a.options.runner = runner;
          EXPECT_TRUE(SameBits(a.Output(), one)) << workers << " " << tile_rows;
        }
      }
    }
    a.options.workers = 4;
    a.options.tile_rows = 16;
    a.options.runner = test::ThreadRunner;
    EXPECT_TRUE(SameBits(a.Output(), one));
    EXPECT_TRUE(a.out_rows.GapsAreWhole());
  }
}

TEST(AttentionApi, ScratchIsExact) {
  for (const auto& [name, pattern] : AllPatterns()) {
    for (const uint32_t workers : {1u, 5u}) {
      SCOPED_TRACE(name);
      const Case c = Ragged(pattern);
      const Problem problem(c);
      Arguments a(problem, Layout::kDense);
      a.options.workers = workers;
      a.options.tile_rows = 32;
      const uint64_t needed = a.Needed();
      EXPECT_EQ(needed, workers * AttentionScratchBytes(a.spec, 32));
      const test::AlignedBytes scratch(needed);  // the address sanitizer sees the rest
      fovea_error error = {};
      EXPECT_EQ(a.Run(scratch.data(), needed, &error), FOVEA_OK);
      EXPECT_EQ(a.Run(scratch.data(), needed - 1, &error), FOVEA_E_TOO_SMALL);
      EXPECT_EQ(error.expected, needed);
      EXPECT_EQ(error.found, needed - 1);
    }
  }
}

// Copies of exactly a table's size, for tests to damage.
template <typename T>
struct Table {
  Table(const T*& given, size_t count) : size(given == nullptr ? 0 : count), bytes(size * sizeof(T)) {
    if (size == 0) return;
    memcpy(bytes.data(), given, size * sizeof(T));
    given = reinterpret_cast<const T*>(bytes.data());
  }
  // Replaces one number by another.
  void Spoil(std::mt19937* random, uint32_t rows) {
    if (size == 0) return;
    const auto any = static_cast<uint32_t>((*random)() % rows);
    const uint32_t numbers[] = {0, 1, rows - 1, rows, rows + 1, 0xffffffff, 0x7fffffff, 0x80000000, any};
    const uint32_t number = numbers[(*random)() % 9];
    memcpy(bytes.data() + (*random)() % size * sizeof(T), &number, sizeof(T));
  }
  size_t size;
  test::AlignedBytes bytes;
};

// For the address sanitizer: regardless of the tables' contents, nothing outside the arrays is accessed.
TEST(AttentionApi, SpoiltTablesDoNotLeadOutside) {
  std::mt19937 random(11);
  uint32_t passed = 0, refused = 0;
  for (const auto& [name, pattern] : AllPatterns()) {
    SCOPED_TRACE(name);
    Case c = Ragged(pattern);
    c.spec.score.max_distance = 5;
    c.buckets = pattern.rounds == 0 ? 4 : 0;
    std::vector<int32_t> coordinates(80 * 2);
    c.spec.positions.coordinates = coordinates.data();
    c.spec.positions.coordinate_sets = 2;
    c.spec.positions.coordinate_positions = 80;
    const Problem problem(c);
    for (int i = 0; i < 150; ++i) {
      Arguments a(problem, Layout::kDense);
      Table<uint32_t> queries(a.options.query_offsets, 6), keys(a.options.key_offsets, 6);
      Table<uint32_t> listed(a.pattern.global_keys, a.pattern.global_key_count), lists(a.pattern.global_key_offsets, 6);
      Table<int32_t> windows(a.pattern.head_windows, 12), blocks(a.pattern.layout, 18), buckets(a.score.buckets, 11);
      const size_t clusters = size_t{a.key_rows} * a.spec.heads * pattern.rounds;
      Table<int32_t> order(a.pattern.order, clusters), rank(a.pattern.rank, clusters);
      Table<int32_t> places(a.positions.coordinates, coordinates.size());
      for (Table<uint32_t>* table : {&queries, &keys, &listed, &lists}) {
        if (random() % 4 == 0) table->Spoil(&random, a.key_rows);
      }
      for (Table<int32_t>* table : {&windows, &blocks, &buckets, &order, &rank, &places}) {
        if (random() % 4 == 0) table->Spoil(&random, a.key_rows);
      }
      uint64_t needed = 0;
      fovea_attention_scratch_size(&a.options, &needed, nullptr);
      const test::AlignedBytes scratch(needed);
      fovea_error error = {};
      const fovea_status status = a.Run(scratch.data(), scratch.size(), &error);
      if (status == FOVEA_OK) {
        ++passed;
        continue;
      }
      ++refused;
      ASSERT_NE(error.text, nullptr);
      for (size_t b = 0; b < a.key_rows * 32 * sizeof(float); ++b) ASSERT_EQ(a.out_rows.data()[b], kGap) << error.text;
    }
  }
  EXPECT_GT(passed, 100u);
  EXPECT_GT(refused, 100u);
}

TEST(AttentionApi, NeverAllocates) {
  if (!testing::HeapTrap::Works()) GTEST_SKIP() << "the heap cannot be watched in this build";
  for (const auto& [name, pattern] : AllPatterns()) {
    const Case c = Ragged(pattern);
    const Problem problem(c);
    Arguments a(problem, Layout::kDense);
    a.options.workers = 3;
    const test::AlignedBytes scratch(a.Needed());
    fovea_error error = {};
    const testing::HeapTrap trap;
    uint64_t bytes = 0;
    fovea_attention_scratch_size(&a.options, &bytes, &error);
    a.Run(scratch.data(), scratch.size(), &error);
    a.Run(scratch.data(), 1, &error);
    EXPECT_EQ(trap.calls(), 0u) << name;
  }
}

}  // namespace
}  // namespace fovea
