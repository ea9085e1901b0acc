// Clustered attention in a session: its tiles are heads, or shares of their rows where there are more workers than
// heads.
#include <atomic>

#include "runtime/blob/attributes.h"
#include "tests/session/taps_fixture.h"

namespace fovea::test {
namespace {

constexpr uint32_t kChunk = 16;

TapProgram Program(uint32_t rounds) {
  return {Queries::kKeys, {{Attribute::kChunk, kChunk}, {Attribute::kChunksBefore, 1}}, false, rounds};
}

struct Inputs {
  Inputs(TapProgram& p, uint32_t rows)
      : q(p.b.RandomFloats(size_t{rows} * kHeads * kDepth)),
        k(p.b.RandomFloats(size_t{rows} * kHeads * kDepth)),
        v(p.b.RandomFloats(size_t{rows} * kHeads * kWidth)) {}
  std::vector<float> q, k, v;
};

std::vector<float> RunWith(const TapProgram& p, const TestModel& model, const Lengths& lengths, const Inputs& inputs,
                           fovea_session_options options, std::vector<int32_t>* sorted = nullptr) {
  options.keep = &p.sorted;
  options.keep_count = 1;
  TestSession session(model, options);
  session.SetSegments(p.tokens, lengths);
  session.SetInput(p.q, inputs.q);
  session.SetInput(p.k, inputs.k);
  session.SetInput(p.v, inputs.v);
  session.Run();
  if (sorted != nullptr) *sorted = session.Indices(p.sorted);
  return session.Output(p.y);
}

TEST(ClusteredSession, WorkersAndTilesDoNotChangeBits) {
  const Lengths lengths = {300, 0, 5, 170, 1};
  const uint32_t rows = std::accumulate(lengths.begin(), lengths.end(), 0u);
  for (const uint32_t rounds : {1u, 3u}) {
    TapProgram p = Program(rounds);
    const TestModel model(p.b.Blob());
    const Inputs inputs(p, rows);
    const std::vector<fovea_limit> limits = {{p.texts, 5, 0}, {p.tokens, rows + 7, 400}};
    std::vector<int32_t> sorted;
    const std::vector<float> found = RunWith(p, model, lengths, inputs, Options(limits), &sorted);
    for (const uint32_t workers : {2u, 3u, 4u, 9u, 64u}) {
      for (const uint32_t tile_rows : {1u, 100u, 0u}) {
        fovea_session_options options = Options(limits, workers, tile_rows);
        options.runner = workers % 2 == 0 ? ThreadRunner : ReverseRunner;
        EXPECT_EQ(RunWith(p, model, lengths, inputs, options), found) << workers << " workers, tiles of " << tile_rows;
        // Heads of one row become one: a tile takes them all.
        fovea_tap tap = Sized<fovea_tap>();
        tap.step = p.step;
        tap.reduce = FOVEA_REDUCE_MEAN;
        options.taps = &tap;
        options.tap_count = 1;
        EXPECT_EQ(RunWith(p, model, lengths, inputs, options), found) << workers << " workers with a tap";
      }
    }

    const Model& lowered = model.model->model;
    const AttentionSpec& spec = AsAttention(lowered.Operation(lowered.blob.programs[0], p.step))->spec;
    std::vector<uint32_t> offsets = {0};
    for (const uint32_t length : lengths) offsets.push_back(offsets.back() + length);
    const size_t columns = size_t{spec.heads} * spec.pattern.rounds;
    AttentionCall call = {};
    call.spec = &spec;
    call.query_segments = call.key_segments = {offsets.data(), static_cast<uint32_t>(lengths.size())};
    call.q = DenseHeads<const void>(inputs.q.data(), spec.heads, spec.d_k);
    call.k = DenseHeads<const void>(inputs.k.data(), spec.kv_heads, spec.d_k);
    call.v = DenseHeads<const void>(inputs.v.data(), spec.kv_heads, spec.d_v);
    call.clusters = {sorted.data(), sorted.data() + columns, 2 * columns};
    const ReferenceAttention expected = RunReferenceAttention(call, rows, 300);
    ASSERT_EQ(found.size(), expected.out.size());
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected.out[i], 4e-6) << i;
  }
}

std::atomic<uint64_t> packed;
AttentionKernels real;

// Each key is packed for the two chunks that see it, and again for every further share of a head's rows.
TEST(ClusteredSession, WorkAndMemoryAreLinear) {
  for (const uint32_t rounds : {1u, 4u}) {
    for (const uint32_t workers : {1u, 2u, 4u, 8u}) {
      uint64_t bytes[3] = {};
      for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t rows = 512 * (i + 1);
        TapProgram p = Program(rounds);
        const TestModel model(p.b.Blob());
        AttentionKernels& kernels = model.model->model.kernels.attention;
        real = kernels;
        kernels.pack = [](const AttentionTile& tile, const KeySource& source, uint32_t begin, uint32_t end) {
          packed += end - begin;
          real.pack(tile, source, begin, end);
        };
        packed = 0;
        const std::vector<fovea_limit> limits = {{p.texts, 1, 0}, {p.tokens, rows, 0}};
        const fovea_session_options options = Options(limits, workers);
        RunWith(p, model, {rows}, Inputs(p, rows), options);
        const uint64_t shares = workers > kHeads ? 2 : 1;
        EXPECT_LE(packed, 2 * shares * rounds * kHeads * rows) << rounds << " rounds, " << workers << " workers";
        fovea_session_memory sizes = {};
        sizes.struct_size = sizeof(sizes);
        fovea_error error = {};
        ASSERT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_OK) << error.text;
        bytes[i] = sizes.scratch_size;
      }
      EXPECT_EQ(bytes[2] - bytes[1], bytes[1] - bytes[0]) << rounds << " rounds, " << workers << " workers";
    }
  }
}

}  // namespace
}  // namespace fovea::test
