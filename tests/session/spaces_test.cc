// Spaces derived from other spaces: fixed, strided and selected segments in sessions.
#include <algorithm>

#include "runtime/blob/attributes.h"
#include "tests/session/guarded_session.h"
#include "tests/session/runners.h"
#include "tests/support/heap_trap.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

// Tokens, the two best of each text attending to all of them, every third one pooled, and pictures of four patches.
struct TinySelector {
  uint32_t texts, tokens, best, third, patches, x, pixels, rows, merged, pooled, arranged, select;
};
TinySelector BuildTinySelector(ModelBuilder& b) {
  TinySelector t{};
  t.texts = b.Space("texts");
  t.tokens = b.Space("tokens", t.texts);
  t.best = b.SelectedSpace("best", t.tokens, 2);
  t.third = b.StridedSpace("third", t.tokens, 3);
  t.patches = b.FixedSpace("patches", t.texts, 4);
  t.x = b.Input("x", t.tokens, 16);
  t.pixels = b.Input("pixels", t.patches, 8);
  const auto linear = [&](uint32_t x, uint32_t to, uint32_t space) {
    return b.Op("linear", {x}, {b.RandomTensor(to, 16, DType::kI8)}, space, to);
  };
  const uint32_t score = linear(t.x, 1, t.tokens);
  t.select = 1;
  t.rows = b.Op("select", {score}, {}, t.best, 1, {{Attribute::kKind, 2}});
  const uint32_t taken = b.Op("gather", {t.x, t.rows}, {}, t.best, 16);
  const uint32_t seen =
      b.Op("attention", {linear(taken, 16, t.best), t.x, t.x}, {}, t.best, 16, {{Attribute::kHeads, 2}});
  t.merged = b.Op("merge", {t.x, seen, t.rows}, {}, t.tokens, 16);
  t.pooled = b.Op("pool", {linear(t.merged, 16, t.tokens)}, {}, t.third, 16, {{Attribute::kKind, 2}});
  t.arranged = b.Op("arrange", {t.pixels}, {b.Tensor(4, 2, {0, 1, 2, 3, -1, 0, 3, 1}, DType::kI32)}, t.patches, 16);
  for (const uint32_t value : {t.rows, t.merged, t.pooled, t.arranged}) b.SetOutput(value);
  return t;
}

using Bits = std::vector<std::vector<int32_t>>;
Bits OutputsOf(const TestSession& session, const TinySelector& t) {
  Bits bits;
  for (const uint32_t value : {t.rows, t.merged, t.pooled, t.arranged}) bits.push_back(session.Indices(value));
  return bits;
}

TEST(Spaces, SpacesThatFollowGiveTheSameBits) {
  ModelBuilder b;
  const TinySelector t = BuildTinySelector(b);
  const TestModel model(b.Blob());
  const Lengths lengths = {7, 0, 1, 30, 2};
  const std::vector<float> x = b.RandomFloats(40 * 16), pixels = b.RandomFloats(20 * 8);
  const std::vector<fovea_limit> limits = {{t.texts, 5, 0}, {t.tokens, 40, 0}};
  const auto run = [&](const fovea_session_options& options) {
    TestSession session(model, options);
    session.SetSegments(t.tokens, lengths);
    session.SetInput(t.x, x);
    session.SetInput(t.pixels, pixels);
    session.Run();
    EXPECT_EQ(session.Segments(t.best), (Lengths{2, 0, 1, 2, 2}));
    EXPECT_EQ(session.Segments(t.third), (Lengths{3, 0, 1, 10, 1}));
    EXPECT_EQ(session.Segments(t.patches), (Lengths{4, 4, 4, 4, 4}));
    return OutputsOf(session, t);
  };
  ExpectOneResult(limits, b.content().programs[0].values.size(), run);
}

TEST(Spaces, SelectedRowsAreThoseOfOneRun) {
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts),
                 chosen = b.SelectedSpace("chosen", tokens, 2);
  const uint32_t mask = b.Input("mask", tokens, 1, DType::kI32);
  const uint32_t rows = b.Op("select", {mask}, {}, chosen, 1);
  b.SetOutput(rows);
  const TestModel model(b.Blob());
  fovea_space_info space = Sized<fovea_space_info>();
  ASSERT_EQ(fovea_model_get_space(model.model, chosen, &space), FOVEA_OK);
  EXPECT_EQ(space.is_input, 0u);
  EXPECT_EQ(space.max_segment_rows, 2u);
  const std::vector<fovea_limit> limits = {{texts, 3, 0}, {tokens, 9, 0}};
  TestSession session(model, Options(limits));
  const uint32_t* offsets = nullptr;
  uint32_t count = 0, left = 0;
  fovea_error error = {};
  fovea_view view = {};
  const auto segments = [&] { return fovea_session_get_segments(session.session, chosen, &offsets, &count, &error); };
  EXPECT_EQ(segments(), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_set_segments(session.session, chosen, &count, 1, &error), FOVEA_E_INDEX);
  session.SetSegments(tokens, {4, 0, 5});
  EXPECT_EQ(segments(), FOVEA_E_ORDER);
  session.SetInput(mask, std::vector<int32_t>{0, 1, 1, 0, 0, 0, 0, 0, 9});
  session.Run();
  EXPECT_EQ(session.Segments(chosen), (Lengths{2, 0, 1}));
  EXPECT_EQ(session.Indices(rows), (std::vector<int32_t>{1, 2, 8}));
  // The next run selects other rows; until it has run, no selection is available.
  session.SetInput(mask, std::vector<int32_t>{0, 0, 0, 0, 1, 0, 0, 1, 0});
  ASSERT_EQ(fovea_session_begin(session.session, &error), FOVEA_OK);
  EXPECT_EQ(segments(), FOVEA_E_ORDER);
  ASSERT_EQ(fovea_session_advance(session.session, UINT32_MAX, &left, &error), FOVEA_OK);
  EXPECT_EQ(session.Segments(chosen), (Lengths{0, 0, 2}));
  EXPECT_EQ(session.Indices(rows), (std::vector<int32_t>{4, 7}));
  // Too many rows: an error with the step, and the session can still be used.
  session.SetInput(mask, std::vector<int32_t>{0, 0, 0, 0, 1, 0, 1, 1, 0});
  EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_E_ROWS);
  EXPECT_EQ(error.step, 0u);
  EXPECT_EQ(segments(), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_get_output(session.session, rows, &view, &error), FOVEA_E_ORDER);
  session.SetInput(mask, std::vector<int32_t>(9, 0));
  session.Run();
  EXPECT_EQ(session.Segments(chosen), (Lengths{0, 0, 0}));
  EXPECT_TRUE(session.Indices(rows).empty());
  // No rows at all, and no texts.
  session.SetSegments(tokens, {0, 0});
  EXPECT_EQ(segments(), FOVEA_E_ORDER);
  session.Run();
  EXPECT_EQ(session.Segments(chosen), (Lengths{0, 0}));
  session.SetSegments(tokens, {});
  session.Run();
  EXPECT_TRUE(session.Segments(chosen).empty());
}

// Fixed segments follow from their number: that of a root, which the caller sets, or of another child.
TEST(Spaces, FixedSegmentsFollowFromTheirCount) {
  ModelBuilder b;
  const uint32_t images = b.Space("images"), patches = b.FixedSpace("patches", images, 3);
  const uint32_t pixels = b.FixedSpace("pixels", patches, 4), half = b.StridedSpace("half", pixels, 3);
  const uint32_t x = b.Input("x", pixels, 2), y = b.Input("y", half, 2);
  b.SetOutput(b.Op("pool", {x}, {}, patches, 2, {{Attribute::kKind, 2}}));
  b.SetOutput(b.Op("pool", {y}, {}, patches, 2, {{Attribute::kKind, 2}}));
  const TestModel model(b.Blob());
  fovea_space_info space = Sized<fovea_space_info>();
  ASSERT_EQ(fovea_model_get_space(model.model, pixels, &space), FOVEA_OK);
  EXPECT_EQ(space.is_input, 0u);
  EXPECT_EQ(space.max_segment_rows, 4u);
  const std::vector<fovea_limit> limits = {{images, 5, 0}};
  TestSession session(model, Options(limits));
  fovea_error error = {};
  fovea_view view = {};
  const uint32_t wrong[] = {4, 4, 4};
  EXPECT_EQ(fovea_session_get_input(session.session, x, &view, &error), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_set_segments(session.session, pixels, wrong, 3, &error), FOVEA_E_INDEX);
  for (const uint32_t count : {2u, 5u, 0u, 1u}) {
    session.SetSegments(images, {count});
    EXPECT_EQ(session.Segments(patches), (Lengths(count, 3)));
    EXPECT_EQ(session.Segments(pixels), (Lengths(count * 3, 4)));
    EXPECT_EQ(session.Segments(half), (Lengths(count * 3, 2)));
    ASSERT_EQ(fovea_session_get_input(session.session, x, &view, &error), FOVEA_OK);
    EXPECT_EQ(view.rows, count * 12);
    session.Run();
  }
  const uint32_t six = 6;
  EXPECT_NE(fovea_session_set_segments(session.session, images, &six, 1, &error), FOVEA_OK);
  EXPECT_EQ(session.Segments(images), (Lengths{1}));
}

// Canaries around blocks of exactly the needed size, with limits filled as far as they go.
TEST(Spaces, SpacesThatFollowNeedExactlyTheirMemory) {
  ModelBuilder b;
  const TinySelector t = BuildTinySelector(b);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{t.texts, 4, 0}, {t.tokens, 10, 0}};
  const GuardedSession guarded(model, Options(limits, 2, 4));
  fovea_session* const session = guarded.get();
  ASSERT_NE(session, nullptr);
  fovea_error error = {};
  uint64_t calls = 0;
  for (const Lengths& lengths : {Lengths{1, 1, 1, 7}, Lengths{4, 4, 1, 1}, Lengths{10}, Lengths{2, 2, 2, 2}}) {
    fovea::testing::HeapTrap trap;
    fovea_session_set_segments(session, t.tokens, lengths.data(), static_cast<uint32_t>(lengths.size()), &error);
    for (const uint32_t input : {t.x, t.pixels}) {
      fovea_view view;
      fovea_session_get_input(session, input, &view, &error);
      for (uint32_t i = 0; i < view.rows * view.width; ++i) {
        static_cast<float*>(view.data)[i] = static_cast<float>(i * 7919 % 64) - 32;
      }
    }
    if (fovea_session_run(session, &error) != FOVEA_OK) ++calls;
    calls += trap.calls();
  }
  EXPECT_EQ(calls, 0u);
  guarded.ExpectCanaries();
}

struct Ends {
  uint32_t stride, first, last;
};

// The number of rows that n rows become.
uint32_t StridedRows(uint32_t n, const Ends& ends) {
  if (n <= ends.first + 1) return n;
  const uint32_t others = n - ends.first > ends.last ? n - ends.first - ends.last : 1;
  return ends.first + (others + ends.stride - 1) / ends.stride;
}

// The most rows of a strided space, against every way to cut the source's rows into segments.
uint32_t MostStridedRows(uint32_t rows, uint32_t segments, uint32_t longest, const Ends& ends) {
  if (segments == 0) return 0;
  uint32_t most = 0;
  for (uint32_t here = 0; here <= std::min(rows, longest); ++here) {
    most = std::max(most, StridedRows(here, ends) + MostStridedRows(rows - here, segments - 1, longest, ends));
  }
  return most;
}

TEST(Spaces, StridedLimitsAreExact) {
  for (const Ends& ends :
       {Ends{2, 0, 0}, {3, 0, 0}, {7, 0, 0}, {2, 1, 1}, {2, 1, 0}, {3, 0, 2}, {2, 3, 3}, {5, 2, 1}}) {
    ModelBuilder b;
    const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts);
    const uint32_t fewer = b.StridedSpace("fewer", tokens, ends.stride, static_cast<uint16_t>(ends.first),
                                          static_cast<uint16_t>(ends.last));
    const uint32_t x = b.Input("x", tokens, 64);
    b.SetOutput(b.Op("pool", {x}, {}, fewer, 64));
    const TestModel model(b.Blob());
    for (uint32_t segments = 1; segments <= 4; ++segments) {
      for (uint32_t rows = 1; rows <= 13; ++rows) {
        for (uint32_t longest = 1; longest <= rows; longest += 2) {
          const std::vector<fovea_limit> limits = {{texts, segments, 0}, {tokens, rows, longest}};
          const TestSession session(model, Options(limits));
          fovea_session_info info = {};
          info.struct_size = sizeof(info);
          ASSERT_EQ(fovea_session_get_info(session.session, &info), FOVEA_OK);
          // And the bytes that kernels may read after a matrix.
          EXPECT_EQ(info.value_bytes, MostStridedRows(rows, segments, longest, ends) * 64 * 4 + 128u)
              << rows << " rows in " << segments << " segments of up to " << longest << " by " << ends.stride
              << " after " << ends.first << " before " << ends.last;
        }
      }
    }
  }
}

// Segments fit if the position table is long enough for the strided space, and longer ones do not.
TEST(Spaces, StridedSegmentsBoundTheirSource) {
  for (const Ends& ends : {Ends{2, 0, 0}, {2, 1, 1}, {3, 0, 2}, {2, 3, 3}, {5, 9, 1}}) {
    for (const uint32_t positions : {1u, 2u, 4u, 9u}) {
      ModelBuilder b;
      const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts);
      const uint32_t fewer = b.StridedSpace("fewer", tokens, ends.stride, static_cast<uint16_t>(ends.first),
                                            static_cast<uint16_t>(ends.last));
      const uint32_t x = b.Input("x", tokens, 4), pooled = b.Op("pool", {x}, {}, fewer, 4);
      b.SetOutput(b.Op("position", {pooled}, {b.RandomTensor(positions, 4)}, fewer, 4));
      const TestModel model(b.Blob());
      uint32_t longest = 0;
      while (StridedRows(longest + 1, ends) <= positions) ++longest;
      fovea_space_info info = Sized<fovea_space_info>();
      ASSERT_EQ(fovea_model_get_space(model.model, tokens, &info), FOVEA_OK);
      EXPECT_EQ(info.max_segment_rows, longest);
    }
  }
}

// Indices without a reader still cover all rows, not one tile.
TEST(Spaces, SelectionsThatNobodyReads) {
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts), all = b.SelectedSpace("all", tokens);
  const uint32_t x = b.Input("x", tokens, 1);
  b.Op("select", {x}, {}, all, 1, {{Attribute::kKind, 3}});
  b.SetOutput(b.Op("scale", {x}, {}, tokens, 1));
  const TestModel model(b.Blob());
  fovea_step_info step = Sized<fovea_step_info>();
  ASSERT_EQ(fovea_program_get_step(model.model, 0, 0, &step), FOVEA_OK);
  EXPECT_EQ(step.tile_local, 0u);
  const std::vector<fovea_limit> limits = {{texts, 1, 0}, {tokens, 4000, 0}};
  TestSession session(model, Options(limits, 1, 1));
  session.SetSegments(tokens, {4000});
  session.SetInput(x, b.RandomFloats(4000));
  session.Run();
  EXPECT_EQ(session.Segments(all), (Lengths{4000}));
}

TEST(Spaces, LimitsOfSpacesThatFollow) {
  constexpr bool kWide = sizeof(size_t) > 4;  // else memory ends before the numbers of rows do
  ModelBuilder b;
  const uint32_t root = b.Space("root"), rows = b.Space("rows", root), fixed = b.FixedSpace("fixed", rows, kMaxRecords);
  const uint32_t few = b.SelectedSpace("few", fixed, 3), third = b.StridedSpace("third", fixed, 3);
  const uint32_t x = b.Input("x", fixed, 1);
  b.SetOutput(b.Op("select", {x}, {}, few, 1));
  b.SetOutput(b.Op("pool", {x}, {}, third, 1));
  const TestModel model(b.Blob());
  const auto bytes = [&](uint32_t limit) {
    const std::vector<fovea_limit> limits = {{root, limit, 0}, {rows, limit, 0}};
    const fovea_session_options options = Options(limits);
    fovea_session_memory sizes = {};
    sizes.struct_size = sizeof(sizes);
    fovea_error error = {};
    const fovea_status status = fovea_session_size(model.model, &options, &sizes, &error);
    if (status != FOVEA_OK) {
      EXPECT_EQ(status, FOVEA_E_OPTION);
      EXPECT_TRUE(error.expected == INT32_MAX || (!kWide && error.expected == UINT32_MAX)) << error.expected;
    }
    return status == FOVEA_OK ? sizes.scratch_size : 0;
  };
  // For each row: the input, three indices and the pooled rows, each on a multiple of 64 bytes.
  const uint64_t third_rows = (kMaxRecords + 2) / 3;
  EXPECT_NEAR(static_cast<double>(bytes(9) - bytes(1)), 8.0 * 4 * (kMaxRecords + third_rows + 3), 256);
  EXPECT_EQ(bytes(2047) != 0, kWide);
  EXPECT_EQ(bytes(2048), 0u);
  EXPECT_EQ(bytes(INT32_MAX), 0u);
}

}  // namespace
}  // namespace fovea::test
