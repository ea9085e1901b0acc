// Clustered attention in pieces (heads, groups of a long chunk, less scratch than rows), and that its work grows with
// the rows.
#include "tests/attention/attention_problem.h"

namespace fovea {
namespace {

Case Clustered(uint32_t rounds, uint32_t chunk, const std::vector<uint32_t>& lengths) {
  Case c;
  c.spec.pattern.rounds = rounds;
  c.spec.pattern.chunk = chunk;
  c.spec.pattern.chunks_before = 1;
  c.queries = lengths;
  return c;
}

// Head after head, with scratch for `tile_rows` rows.
std::vector<float> RunByHead(const Problem& problem, uint32_t tile_rows) {
  AttentionCall call = problem.Call();
  const AttentionSpec& spec = *call.spec;
  std::vector<float> out(size_t{problem.rows()} * spec.heads * spec.d_v, kCanary);
  const Buffer<char> memory(AttentionScratchBytes(spec, tile_rows) + 64);
  memset(memory.data.get(), 0xff, memory.size);
  call.scratch = memory.data.get() + (64 - reinterpret_cast<uintptr_t>(memory.data.get()) % 64) % 64;
  call.row_end = problem.rows();
  call.tile_rows = tile_rows;
  call.out = DenseHeads<void>(out.data(), spec.heads, spec.d_v);
  for (call.head_begin = spec.heads; call.head_begin-- > 0;) {
    call.head_end = call.head_begin + 1;
    RunAttention(GetKernels(), call);
  }
  return out;
}

// The engine works on 256 rows of a chunk at once.
TEST(Clustered, HeadsGroupsAndScratchDoNotChangeBits) {
  for (const uint32_t rounds : {1u, 3u}) {
    for (const uint32_t chunk : {4u, 64u, 300u}) {
      SCOPED_TRACE(testing::Message() << rounds << " rounds, chunks of " << chunk);
      const Problem problem(Clustered(rounds, chunk, {700, 0, 3, 1, 320}));
      const std::vector<float> whole = problem.Run(GetKernels(), {problem.rows()});
      const ReferenceAttention expected = RunReferenceAttention(problem.Call(), problem.rows(), problem.stride());
      double worst = 0.0;
      for (size_t i = 0; i < whole.size(); ++i) worst = std::max(worst, test::Distance(whole[i], expected.out[i]));
      EXPECT_LE(worst, kTolerance);
      for (const uint32_t tile_rows : {1u, 50u, 257u, 700u, 5000u}) {
        EXPECT_TRUE(SameBits(RunByHead(problem, tile_rows), whole)) << tile_rows;
      }
      EXPECT_TRUE(SameBits(problem.Run(GetKernels(), {330, 5, 400, 289}), whole));
    }
  }
}

uint64_t packed;
Kernels real;

Kernels CountingKernels() {
  real = GetKernels();
  Kernels kernels = real;
  kernels.attention.pack = [](const AttentionTile& tile, const KeySource& source, uint32_t begin, uint32_t end) {
    packed += end - begin;
    real.attention.pack(tile, source, begin, end);
  };
  return kernels;
}

// Two chunks see every chunk.
TEST(Clustered, PacksEachKeyAsOftenAsChunksSeeIt) {
  const Kernels kernels = CountingKernels();
  for (const uint32_t rounds : {1u, 4u}) {
    for (const uint32_t rows : {256u, 512u, 1024u, 1003u}) {
      const Problem problem(Clustered(rounds, 16, {rows}));
      packed = 0;
      problem.Run(kernels, {rows});
      EXPECT_EQ(packed, uint64_t{2} * rounds * problem.problem().spec.heads * rows) << rounds << " " << rows;
    }
  }
}

// One round keeps nothing of a row after its chunk; several keep a sum of values, a sum of weights and the row.
TEST(Clustered, ScratchIsConstantOrLinear) {
  AttentionSpec spec = Clustered(1, 64, {}).spec;
  spec.d_v = 40;
  EXPECT_EQ(AttentionScratchBytes(spec, 64), AttentionScratchBytes(spec, 1u << 20));
  spec.pattern.rounds = 4;
  const uint64_t bytes = AttentionScratchBytes(spec, 8192) - AttentionScratchBytes(spec, 4096);
  EXPECT_EQ(AttentionScratchBytes(spec, 16384) - AttentionScratchBytes(spec, 8192), 2 * bytes);
  EXPECT_EQ(bytes, uint64_t{4096} * (4 * 48 + 4 * kAttentionLanes + sizeof(AttentionRow)));
}

}  // namespace
}  // namespace fovea
