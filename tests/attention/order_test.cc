// One summation order: a query's bits are the same by itself, beside few others and in a tile of many.
#include "tests/attention/attention_problem.h"

namespace fovea {
namespace {

// The first `rows` queries of the problem's only segment, as if it had no more.
std::vector<float> RunFirst(const Problem& problem, const Kernels& kernels, uint32_t rows) {
  AttentionCall call = problem.Call();
  const AttentionSpec& spec = *call.spec;
  const uint32_t offsets[] = {0, rows};
  call.query_segments = {offsets, 1};
  call.row_end = rows;
  std::vector<float> out(size_t{rows} * spec.heads * spec.d_v);
  call.out = DenseHeads<void>(out.data(), spec.heads, spec.d_v);
  const size_t bytes = AttentionScratchBytes(spec, rows);
  const Buffer<char> memory(bytes + 64);
  call.scratch = memory.data.get() + (64 - reinterpret_cast<uintptr_t>(memory.data.get()) % 64) % 64;
  RunAttention(kernels, call);
  return out;
}

TEST(Order, IsOneForFewRowsAndForTiles) {
  for (const Products products : {Products::kF32, Products::kBf16, Products::kI8}) {
    for (const DType type : {DType::kF32, DType::kF16, DType::kBf16, DType::kI8}) {
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
        c.keys = {Emulated() ? 70u : 300u};
        const Problem problem(c);
        ForEachTarget([&](const Kernels& kernels) {
          const std::vector<float> all = problem.Run(kernels, {problem.rows()});
          for (uint32_t rows = 1; rows <= 8; ++rows) {
            const std::vector<float> few = RunFirst(problem, kernels, rows);
            EXPECT_TRUE(SameBits(few, {all.begin(), all.begin() + static_cast<ptrdiff_t>(few.size())})) << rows;
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace fovea
