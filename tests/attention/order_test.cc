// One summation order: a query has the same bits alone, with a few other queries and in a large tile, whether keys and
// values are read in place or packed.
#include "tests/attention/attention_problem.h"

namespace fovea {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBf16, DType::kI8};

Kernels Packing(const Kernels& kernels) {
  Kernels packing = kernels;
  packing.attention.in_place_rows = 0;
  return packing;
}

// The first `rows` queries of a call with one segment of queries, as if it had no more.
std::vector<float> RunFirst(AttentionCall call, const Kernels& kernels, uint32_t rows) {
  const AttentionSpec& spec = *call.spec;
  const uint32_t offsets[] = {0, rows};
  call.query_segments = {offsets, 1};
  call.row_end = rows;
  std::vector<float> out(size_t{rows} * spec.heads * spec.d_v);
  call.out = DenseHeads<void>(out.data(), spec.heads, spec.d_v);
  const size_t bytes = AttentionScratchBytes(spec, rows);
  const Buffer<char> memory(bytes + 64);
  memset(memory.data.get(), 0xff, bytes + 64);  // NaNs
  call.scratch = memory.data.get() + (64 - reinterpret_cast<uintptr_t>(memory.data.get()) % 64) % 64;
  RunAttention(kernels, call);
  return out;
}

TEST(Order, IsOneForFewRowsAndForTiles) {
  for (const Products products : {Products::kF32, Products::kBf16, Products::kI8, Products::kI16}) {
    for (const DType type : kTypes) {
      for (const uint32_t group : {1u, 3u, 8u}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(products) << " " << static_cast<int>(type) << " " << group);
        Case c;
        c.key_type = type;
        c.spec.score.products = products;
        c.spec.kv_heads = 2;
        c.spec.heads = 2 * group;
        c.spec.d_k = 37;
        c.spec.d_v = 21;
        c.queries = {40};
        c.keys = {FewerCases() ? 70u : 300u};
        const Problem problem(c);
        ForEachTarget([&](const Kernels& kernels) {
          const std::vector<float> all = problem.Run(kernels, {problem.rows()});
          for (uint32_t rows = 1; rows <= 8; ++rows) {
            const std::vector<float> few = RunFirst(problem.Call(), kernels, rows);
            EXPECT_TRUE(SameBits(few, {all.begin(), all.begin() + static_cast<ptrdiff_t>(few.size())})) << rows;
          }
        });
      }
    }
  }
}

// Keys and values read in place and packed ones: the same outputs, weights and scores, in tiles of every size up to the
// largest that reads in place.
void CheckInPlace(const Case& c) {
  const Problem problem(c);
  ForEachTarget([&](const Kernels& kernels) {
    const uint32_t most = kernels.attention.in_place_rows;
    ASSERT_GE(most, 1u);
    for (uint32_t step = 1; step <= most; ++step) {
      if (FewerCases() && step > 1 && step < most) continue;
      SCOPED_TRACE(testing::Message() << "tiles of " << step);
      std::vector<uint32_t> tiles;
      for (uint32_t row = 0; row < problem.rows(); row += step) tiles.push_back(std::min(step, problem.rows() - row));
      EXPECT_TRUE(SameBits(problem.Run(kernels, tiles), problem.Run(Packing(kernels), tiles)));
      for (const bool scores : {false, true}) {
        const Kept in_place(problem, false), packed(problem, false);
        const auto run = [&](const Kept& kept, const Kernels& with) {
          WeightSink sink = *kept.sink();
          sink.scores = scores;
          return problem.Run(with, tiles, &sink);
        };
        EXPECT_TRUE(SameBits(run(in_place, kernels), run(packed, Packing(kernels))));
        EXPECT_TRUE(SameBits(in_place.Dense(), packed.Dense())) << (scores ? "scores" : "weights");
      }
    }
  });
}

Case FewRows(DType type, uint32_t d_k, uint32_t d_v, const std::vector<uint32_t>& keys) {
  Case c;
  c.key_type = type;
  c.spec.heads = c.spec.kv_heads = 2;
  c.spec.d_k = d_k;
  c.spec.d_v = d_v;
  c.queries.assign(keys.size(), 4);
  c.keys = keys;
  return c;
}

TEST(Order, InPlaceOfAnyShape) {
  const std::vector<uint32_t> keys = {1, 2, 4, 5, 15, 16, 17, 33, 70, 0, FewerCases() ? 100u : 600u};
  const uint32_t sizes[][2] = {{1, 1}, {3, 5}, {4, 16}, {7, 15}, {8, 17}, {15, 40}, {37, 64}, {64, 100}, {80, 130}};
  for (const DType type : kTypes) {
    for (const auto& size : sizes) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(type) << " " << size[0] << " " << size[1]);
      CheckInPlace(FewRows(type, size[0], size[1], keys));
    }
  }
}

TEST(Order, InPlaceOfAnyPattern) {
  std::vector<Pattern> patterns = SomePatterns();
  static constexpr int32_t kNames[] = {0, 3, -1, 5, 4, 1};
  Pattern named = WindowOf(3, 3), listed = WindowOf(5, 0), centered = WindowOf(9, 9), causal;
  named.block = 16;
  named.layout = kNames;
  named.layout_heads = 1;
  named.layout_rows = 3;
  named.layout_columns = 2;
  listed.global_keys = true;
  centered.centers = Centers::kPositions;
  causal.causal = true;
  patterns.insert(patterns.end(), {named, listed, centered, causal});
  for (const Pattern& pattern : patterns) {
    for (const DType type : {DType::kF32, DType::kF16}) {
      SCOPED_TRACE(testing::Message() << &pattern - patterns.data() << " " << static_cast<int>(type));
      Case c = FewRows(type, 20, 24, {});
      c.spec.heads = 4;
      c.spec.pattern = pattern;
      c.queries = c.keys = {3, 90};
      c.listed = 0.2;
      CheckInPlace(c);
      c.spec.weighting.gaussian = pattern.centers != Centers::kNone;
      if (c.spec.weighting.gaussian) CheckInPlace(c);
    }
  }
}

TEST(Order, InPlaceWithAllThatIsAddedToScores) {
  const auto check = [](auto change) {
    Case c = FewRows(DType::kF32, 20, 24, {});
    c.spec.heads = 4;
    c.queries = c.keys = {90};
    change(&c);
    CheckInPlace(c);
    c.key_type = DType::kBf16;
    CheckInPlace(c);
  };
  check([](Case* c) { c->spec.score.cap = 2.0f; });
  check([](Case* c) { c->spec.score.max_distance = 8; });
  check([](Case* c) { c->key_bias = c->key_bias_by_head = true; });
  check([](Case* c) { c->spec.score.has_self_score = true, c->spec.score.self_score = 0.5f; });
  check([](Case* c) { c->spec.weighting.kind = Activation::kSigmoid; });
  check([](Case* c) { c->buckets = 20, c->spec.score.max_distance = 16; });
  check([](Case* c) { c->spec.score.max_distance = 8, c->spec.positions.apart = 2; });
}

// The same keys head by head, rows and segments with gaps between them.
HeadRows Scattered(const HeadRows& dense, const Segments& segments, uint32_t heads, size_t bytes,
                   std::vector<uint8_t>* to) {
  constexpr size_t kGap = 12, kLongest = 100;
  const size_t row_stride = bytes + kGap, head_stride = kLongest * row_stride + kGap;
  const size_t segment_stride = heads * head_stride + kGap;
  to->assign(segments.count * segment_stride, 0xff);
  for (uint32_t segment = 0; segment < segments.count; ++segment) {
    for (uint32_t i = 0; i < segments.length(segment); ++i) {
      for (uint32_t head = 0; head < heads; ++head) {
        const size_t from = (segments.offsets[segment] + i) * dense.row_stride + head * dense.head_stride;
        memcpy(to->data() + segment * segment_stride + i * row_stride + head * head_stride,
               static_cast<const uint8_t*>(dense.data) + from, bytes);
      }
    }
  }
  return {to->data(), row_stride, head_stride, segment_stride};
}

TEST(Order, InPlaceAtAnyStrideWithPairs) {
  for (const DType type : kTypes) {
    SCOPED_TRACE(static_cast<int>(type));
    Case c = FewRows(type, 20, 24, {100});
    c.spec.heads = 4;
    c.queries = {4};
    const Problem problem(c);
    AttentionCall call = problem.Call();
    std::vector<uint8_t> k, v;
    call.k = Scattered(call.k, call.key_segments, 2, RowBytes(type, 20), &k);
    call.v = Scattered(call.v, call.key_segments, 2, RowBytes(type, 24), &v);
    std::mt19937 random(7);
    std::vector<uint8_t> mask(4 * 4 * 100);
    std::vector<float> bias(mask.size());
    for (uint8_t& seen : mask) seen = random() % 3 != 0;
    for (float& x : bias) x = static_cast<float>(random() % 1000) * 0.001f;
    const PairBias pairs[] = {{nullptr, false, 100, 0, 0, 0},
                              {mask.data(), true, 100, 400, 100, PairBias::kByRow},
                              {bias.data(), false, 100, 1600, 400, PairBias::kByRow}};
    for (const PairBias& of_pairs : pairs) {
      call.pair_bias = of_pairs;
      ForEachTarget([&](const Kernels& kernels) {
        const std::vector<float> all = RunFirst(call, Packing(kernels), 4);
        for (uint32_t rows = 1; rows <= 4; ++rows) {
          const std::vector<float> few = RunFirst(call, kernels, rows);
          EXPECT_TRUE(SameBits(few, {all.begin(), all.begin() + static_cast<ptrdiff_t>(few.size())})) << rows;
        }
      });
    }
  }
}

}  // namespace
}  // namespace fovea
