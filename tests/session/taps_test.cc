// Taps of sessions: every pattern, form, choice of rows and heads against the reference, their exact memory, and
// requests that are wrong.
#include "runtime/blob/attributes.h"
#include "tests/session/taps_fixture.h"
#include "tests/support/heap_trap.h"

namespace fovea::test {
namespace {

const Lengths kKeys = {0, 33, 1, 0, 20, 7, 0}, kQueries = {3, 0, 2, 0, 41, 8, 1};

std::vector<fovea_tap> AllTaps(uint32_t step) {
  std::vector<fovea_tap> taps;
  for (const uint32_t form : {FOVEA_TAP_DENSE, FOVEA_TAP_SPARSE}) {
    for (const uint32_t rows : {FOVEA_TAP_ROWS_ALL, FOVEA_TAP_ROWS_LAST, FOVEA_TAP_ROWS_STRIDE}) {
      for (const uint32_t reduce : {FOVEA_REDUCE_NONE, FOVEA_REDUCE_MEAN, FOVEA_REDUCE_MAX}) {
        fovea_tap tap = TapOf(step, form);
        tap.rows = rows;
        tap.reduce = reduce;
        if (rows == FOVEA_TAP_ROWS_STRIDE) tap.stride = 3, tap.offset = reduce * 2;
        if (rows != FOVEA_TAP_ROWS_ALL) tap.heads = reduce == FOVEA_REDUCE_NONE ? 0b1010 : 0b1101;
        taps.push_back(tap);
      }
    }
  }
  return taps;
}

void CheckAll(TapProgram program) {
  const uint32_t step = program.step;
  const TapCase c(std::move(program), kKeys, kQueries);
  const std::vector<double> weights = c.Reference();
  for (const fovea_tap& tap : AllTaps(step)) c.Check(tap, weights);
}

const Attributes kWindow = {{Attribute::kPattern, 1}, {Attribute::kLeft, 3}, {Attribute::kRight, 2}};
Attributes With(Attributes attributes, const Attributes& more) {
  attributes.insert(attributes.end(), more.begin(), more.end());
  return attributes;
}

TEST(Taps, Full) {
  for (const Queries queries : {Queries::kKeys, Queries::kOthers, Queries::kTexts}) CheckAll({queries, {}});
}

TEST(Taps, Windows) {
  for (const Queries queries : {Queries::kKeys, Queries::kOthers, Queries::kTexts}) CheckAll({queries, kWindow});
  CheckAll({Queries::kKeys, With(kWindow, {{Attribute::kDilation, 3}})});
  CheckAll({Queries::kKeys, With(kWindow, {{Attribute::kFullUpTo, 10}, {Attribute::kCausal, 1}})});
  CheckAll({Queries::kKeys, {{Attribute::kPattern, 1}}, false, 0, {{2, {1, 1, 1, -1, 0, 2, 0, 9, 1, 4, 4, 4}}}});
}

TEST(Taps, EdgesAndListedRows) {
  for (const Queries queries : {Queries::kKeys, Queries::kOthers, Queries::kTexts}) {
    CheckAll({queries, With(kWindow, {{Attribute::kGlobalFirst, 1}, {Attribute::kGlobalLast, 2}})});
  }
  CheckAll({Queries::kKeys, kWindow, true});
  CheckAll({Queries::kKeys, With(kWindow, {{Attribute::kGlobalFirst, 2}}), true});
}

TEST(Taps, NamedBlocks) {
  const Attributes blocks = {
      {Attribute::kPattern, 1}, {Attribute::kLeft, 4}, {Attribute::kRight, 4}, {Attribute::kBlock, 4}};
  const std::vector<float> table = {0, 0, 3, 1, 2, 9, 5, 5, 5, 7, 1, -1, 2, 2, 2, 0, 1, 0};
  CheckAll({Queries::kKeys, blocks, false, 0, {{3, table}}});
  CheckAll({Queries::kKeys,
            With(blocks, {{Attribute::kGlobalFirst, 4}, {Attribute::kGlobalLast, 4}}),
            false,
            0,
            {{3, table}}});
}

TEST(Taps, TopKAndClusters) {
  CheckAll({Queries::kKeys, {{Attribute::kTopK, 3}}});
  for (const uint32_t chunk : {3u, 16u}) {
    CheckAll({Queries::kKeys, {{Attribute::kChunk, chunk}, {Attribute::kChunksBefore, 1}}, false, 2});
  }
}

// Weights that are a function of their score may be 0 or negative.
TEST(Taps, OtherWeightings) {
  for (const Activation weighting : {Activation::kRelu, Activation::kGelu}) {
    CheckAll({Queries::kKeys, With(kWindow, {{Attribute::kActivation, static_cast<uint32_t>(weighting)}})});
  }
}

// Softmax weights sum to 1 wherever there is a key.
TEST(Taps, RowsSumToOne) {
  const TapCase c({Queries::kKeys, kWindow}, kKeys, {});
  fovea_tap tap = TapOf(c.program().step, FOVEA_TAP_SPARSE);
  for (const uint32_t reduce : {FOVEA_REDUCE_NONE, FOVEA_REDUCE_MEAN}) {
    tap.reduce = reduce;
    fovea_session_options options = WithTap(Options(c.limits()), &tap);
    TestSession session(c.model(), options);
    c.Run(&session);
    const TapLines lines = ReadTap(session, 0, false);
    EXPECT_EQ(lines.query_rows.size(), 61u);
    for (const std::vector<float>& line : lines.lines) {
      EXPECT_NEAR(std::accumulate(line.begin(), line.end(), 0.0), 1.0, 1e-5);
    }
  }
}

// The most rows of a choice, against every way to cut the rows into segments.
uint64_t MostByTrying(uint32_t rows, uint32_t segments, uint32_t longest, uint32_t stride, uint32_t offset) {
  if (segments == 0) return 0;
  uint64_t most = 0;
  for (uint32_t length = 0; length <= std::min(rows, longest); ++length) {
    const uint32_t here = length > offset ? (length - offset + stride - 1) / stride : 0;
    most = std::max(most, here + MostByTrying(rows - length, segments - 1, longest, stride, offset));
  }
  return most;
}

TEST(Taps, StridedRowsAreBoundExactly) {
  for (uint32_t rows = 1; rows <= 9; ++rows) {
    for (uint32_t segments = 1; segments <= 4; ++segments) {
      for (uint32_t longest = 1; longest <= rows; ++longest) {
        for (const uint32_t stride : {1u, 2u, 3u, 7u}) {
          for (const uint32_t offset : {0u, 1u, 2u, 4u, 9u}) {
            SpaceState space;
            space.max_rows = rows;
            space.max_segments = segments;
            space.max_segment_rows = longest;
            EXPECT_EQ(MostStridedRows(space, stride, offset), MostByTrying(rows, segments, longest, stride, offset))
                << rows << " rows, " << segments << " segments of up to " << longest << ", by " << stride << " from "
                << offset;
          }
        }
      }
    }
  }
  SpaceState huge;
  huge.max_rows = huge.max_segment_rows = huge.max_segments = INT32_MAX;
  EXPECT_EQ(MostStridedRows(huge, UINT32_MAX, UINT32_MAX), 0u);
  EXPECT_EQ(MostStridedRows(huge, UINT32_MAX, 0), uint64_t{INT32_MAX});
  EXPECT_EQ(MostStridedRows(huge, 1, 0), uint64_t{INT32_MAX});
}

uint64_t TapBytes(const Attributes& attributes, const fovea_tap& asked, uint32_t rows) {
  TapProgram program(Queries::kKeys, attributes);
  fovea_tap tap = asked;
  tap.step = program.step;
  const TestModel model(program.b.Blob());
  const std::vector<fovea_limit> limits = {{program.texts, 1, 0}, {program.tokens, rows, 0}};
  fovea_session_options options = WithTap(Options(limits), &tap);
  const TestSession session(model, options);
  fovea_session_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(fovea_session_get_info(session.session, &info), FOVEA_OK);
  return info.tap_bytes;
}

TEST(Taps, MemoryFollowsThePattern) {
  const fovea_tap sparse = TapOf(0, FOVEA_TAP_SPARSE), dense = TapOf(0);
  // A row: its number and where its entries begin; for each head a count and 3 + 1 + 2 + 1 entries, rounded up.
  EXPECT_EQ(TapBytes(kWindow, sparse, 1024), 1024 * (4 + 8 + kHeads * (4 + 7 * 8)) + 64u);
  EXPECT_EQ(TapBytes(kWindow, sparse, 4096), 4096 * (4 + 8 + kHeads * (4 + 7 * 8)) + 64u);
  EXPECT_EQ(TapBytes(kWindow, dense, 1024), 1024 * (4 + kHeads * 1024 * 4u));
  // Only the rows on the edges have room for all keys.
  const Attributes edges = With(kWindow, {{Attribute::kGlobalFirst, 1}});
  EXPECT_EQ(TapBytes(edges, sparse, 4096), 4096 * (4 + 8 + kHeads * (4 + 8 * 8)) + 64u + kHeads * 8 * (4096 - 8));
  fovea_tap last = sparse;
  last.rows = FOVEA_TAP_ROWS_LAST;
  last.reduce = FOVEA_REDUCE_MAX;
  EXPECT_EQ(TapBytes({}, last, 4096), 64 + 64 + 64 + 4096 * 8u);  // full attention: one row and head of all keys
}

// Neighbours on both sides of every block stay as they are, and one byte less is refused.
TEST(Taps, ExactMemory) {
  for (const fovea_tap& asked : AllTaps(0)) {
    TapProgram program(Queries::kKeys, With(kWindow, {{Attribute::kGlobalLast, 1}}));
    const uint32_t texts = program.texts, tokens = program.tokens;
    fovea_tap tap = asked;
    tap.step = program.step;
    const TapCase c(std::move(program), kKeys, {});
    std::vector<fovea_limit> limits = {{texts, 7, 0}, {tokens, 61, 33}};
    fovea_session_options options = WithTap(Options(limits, 2, 5), &tap);
    TestSession session(c.model(), options);
    fovea_session_memory memory = session.memory;
    fovea_session* refused = nullptr;
    fovea_error error = {};
    for (const bool fixed : {true, false}) {
      fovea_session_memory less = memory;
      --(fixed ? less.fixed_size : less.scratch_size);
      EXPECT_EQ(fovea_session_init(c.model().model, &options, &less, &refused, &error), FOVEA_E_TOO_SMALL);
      EXPECT_EQ(error.expected, fixed ? memory.fixed_size : memory.scratch_size);
    }
    session.fixed = AlignedBytes(memory.fixed_size + 128);
    session.scratch = AlignedBytes(memory.scratch_size + 128);
    for (const AlignedBytes* bytes : {&session.fixed, &session.scratch}) memset(bytes->data(), 0xa5, bytes->size());
    memory.fixed = session.fixed.data() + 64;
    memory.scratch = session.scratch.data() + 64;
    ASSERT_EQ(fovea_session_init(c.model().model, &options, &memory, &session.session, &error), FOVEA_OK);
    c.Run(&session);
    for (const AlignedBytes* bytes : {&session.fixed, &session.scratch}) {
      for (uint64_t i = 0; i < 64; ++i) {
        ASSERT_EQ(bytes->data()[i], 0xa5);
        ASSERT_EQ(bytes->data()[bytes->size() - 1 - i], 0xa5);
      }
    }
  }
}

// The weights of a row are the softmax of its scores.
TEST(Taps, Scores) {
  std::vector<std::vector<float>> kept;
  uint32_t stride = 0;
  for (const uint32_t what : {FOVEA_KEEP_ATTENTION, FOVEA_KEEP_SCORES}) {
    TapProgram program(Queries::kKeys, kWindow);
    fovea_tap tap = TapOf(program.step, FOVEA_TAP_DENSE);
    tap.what = what;
    const uint32_t tokens = program.tokens;
    const TapCase c(std::move(program), kKeys, {});
    fovea_session_options options = WithTap(Options(c.limits(), 2, 5), &tap);
    TestSession session(c.model(), options);
    c.Run(&session);
    fovea_attention_map w = Sized<fovea_attention_map>();
    ASSERT_EQ(fovea_session_get_attention_map(session.session, 0, &w, nullptr), FOVEA_OK);
    stride = w.stride;
    const Lengths lengths = session.Segments(tokens);
    size_t line = 0;
    for (const uint32_t length : lengths) {
      for (uint32_t i = 0; i < length * kHeads; ++i, ++line) {
        kept.emplace_back(w.data + line * stride, w.data + line * stride + length);
      }
    }
  }
  const size_t lines = kept.size() / 2;
  for (size_t line = 0; line < lines; ++line) {
    const std::vector<float>&weights = kept[line], &scores = kept[lines + line];
    double sum = 0.0;
    for (const float score : scores) sum += std::exp(double{score});
    for (size_t key = 0; key < scores.size(); ++key) {
      EXPECT_EQ(weights[key] == 0.0f, std::isinf(scores[key])) << line << " " << key;
      EXPECT_NEAR(std::exp(double{scores[key]}) / sum, weights[key], 1e-5) << line << " " << key;
    }
  }
  TapProgram program(Queries::kKeys, kWindow);
  fovea_tap tap = TapOf(program.step, FOVEA_TAP_DENSE);
  const TapCase c(std::move(program), kKeys, {});
  fovea_session_options options = WithTap(Options(c.limits(), 2, 5), &tap);
  fovea_session_memory sizes = {};
  sizes.struct_size = sizeof(sizes);
  tap.what = FOVEA_KEEP_SCORES;
  tap.reduce = FOVEA_REDUCE_MEAN;
  EXPECT_EQ(fovea_session_size(c.model().model, &options, &sizes, nullptr), FOVEA_E_OPTION);
  tap.reduce = FOVEA_REDUCE_NONE;
  tap.what = 2;
  EXPECT_EQ(fovea_session_size(c.model().model, &options, &sizes, nullptr), FOVEA_E_OPTION);
}

TEST(Taps, NoHeap) {
  TapProgram program(Queries::kKeys, kWindow);
  fovea_tap tap = TapOf(program.step, FOVEA_TAP_SPARSE);
  tap.reduce = FOVEA_REDUCE_MEAN;
  const TapCase c(std::move(program), kKeys, {});
  fovea_session_options options = WithTap(Options(c.limits(), 2, 5), &tap);
  TestSession session(c.model(), options);
  c.Run(&session);
  std::vector<uint64_t> offsets(1000);
  std::vector<uint32_t> lines(10000), keys(10000);
  std::vector<float> values(10000);
  uint64_t calls = 0;
  {
    fovea::testing::HeapTrap trap;
    fovea_error error;
    fovea_attention_map w = Sized<fovea_attention_map>();
    fovea_session_run(session.session, &error);
    fovea_session_get_attention_map(session.session, 0, &w, &error);
    for (uint32_t layout = 0; layout < 3; ++layout) {
      fovea_sparse_map arrays = {sizeof(arrays), 1000,        10000,         offsets.data(),
                                 lines.data(),   keys.data(), values.data(), layout};
      fovea_session_get_sparse_map(session.session, 0, &arrays, &error);
    }
    calls = trap.calls();
  }
  EXPECT_EQ(calls, 0u);
}

TEST(Taps, WrongRequests) {
  TapProgram program(Queries::kKeys, kWindow);
  const fovea_tap good = TapOf(program.step, FOVEA_TAP_SPARSE);
  const TapCase c(std::move(program), kKeys, {});
  const auto status = [&](const std::vector<fovea_tap>& taps) {
    fovea_session_options options = Options(c.limits());
    options.taps = taps.data();
    options.tap_count = static_cast<uint32_t>(taps.size());
    fovea_session_memory sizes = {};
    sizes.struct_size = sizeof(sizes);
    fovea_error error = {};
    const fovea_status found = fovea_session_size(c.model().model, &options, &sizes, &error);
    if (found != FOVEA_OK) {
      EXPECT_EQ(error.step, taps.back().step);
    }
    return found;
  };
  const auto changed = [&](uint32_t fovea_tap::*field, uint32_t value) {
    fovea_tap tap = good;
    tap.*field = value;
    return status({tap});
  };
  EXPECT_EQ(status({good}), FOVEA_OK);
  EXPECT_EQ(status({good, good}), FOVEA_E_OPTION);
  for (const uint32_t bad : {1u, 1000u, 0xffffffffu}) EXPECT_EQ(changed(&fovea_tap::step, bad), FOVEA_E_INDEX);
  for (const uint32_t bad : {3u, 0xffffffffu}) {
    EXPECT_EQ(changed(&fovea_tap::form, bad), FOVEA_E_OPTION);
    EXPECT_EQ(changed(&fovea_tap::rows, bad), FOVEA_E_OPTION);
    EXPECT_EQ(changed(&fovea_tap::reduce, bad), FOVEA_E_OPTION);
    EXPECT_EQ(changed(&fovea_tap::stride, bad), FOVEA_E_OPTION);
    EXPECT_EQ(changed(&fovea_tap::offset, bad), FOVEA_E_OPTION);
  }
  EXPECT_EQ(changed(&fovea_tap::rows, FOVEA_TAP_ROWS_STRIDE), FOVEA_E_OPTION);  // stride 0
  fovea_tap tap = good;
  tap.rows = FOVEA_TAP_ROWS_STRIDE;
  tap.stride = tap.offset = 0xffffffff;  // no row at all
  EXPECT_EQ(status({tap}), FOVEA_OK);
  tap = good;
  for (const uint64_t heads : {uint64_t{0b1111}, uint64_t{0b1000}, uint64_t{1}}) {
    tap.heads = heads;
    EXPECT_EQ(status({tap}), FOVEA_OK);
  }
  for (const uint64_t heads : {uint64_t{0b10000}, uint64_t{1} << 63, ~uint64_t{0}}) {
    tap.heads = heads;
    EXPECT_EQ(status({tap}), FOVEA_E_OPTION);
  }
}

TEST(Taps, HeadsBeyondTheMask) {
  for (const uint32_t heads : {64u, 65u}) {
    ModelBuilder b;
    const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts), x = b.Input("x", tokens, heads);
    const uint32_t y = b.Op("attention", {x, x, x}, {}, tokens, heads, {{Attribute::kHeads, heads}});
    b.SetOutput(y);
    const TestModel model(b.Blob());
    const std::vector<fovea_limit> limits = {{texts, 1, 0}, {tokens, 9, 0}};
    fovea_tap tap = TapOf(0);
    fovea_session_options options = WithTap(Options(limits), &tap);
    tap.heads = uint64_t{1} << 63;
    fovea_session_memory sizes = {};
    sizes.struct_size = sizeof(sizes);
    fovea_error error = {};
    EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), heads == 64 ? FOVEA_OK : FOVEA_E_OPTION);
    tap.heads = heads == 64 ? tap.heads : 0;
    TestSession session(model, options);
    session.SetSegments(tokens, {9});
    session.SetInput(x, b.RandomFloats(9 * heads));
    session.Run();
    const TapLines lines = ReadTap(session, 0, false);
    EXPECT_EQ(lines.lines.size(), 9u * (heads == 64 ? 1 : 65));
    for (const std::vector<float>& line : lines.lines) {
      EXPECT_NEAR(std::accumulate(line.begin(), line.end(), 0.0), 1.0, 1e-5);
    }
  }
}

TEST(Taps, ReadingIsChecked) {
  TapProgram program(Queries::kKeys, kWindow);
  fovea_tap tap = TapOf(program.step, FOVEA_TAP_SPARSE);
  const TapCase c(std::move(program), kKeys, {});
  fovea_session_options options = WithTap(Options(c.limits()), &tap);
  fovea_error error = {};
  fovea_attention_map w = Sized<fovea_attention_map>();
  fovea_sparse_map arrays = {};
  arrays.struct_size = sizeof(arrays);
  TestSession session(c.model(), options);
  EXPECT_EQ(fovea_session_get_attention_map(session.session, 0, &w, &error), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_get_sparse_map(session.session, 0, &arrays, &error), FOVEA_E_ORDER);
  c.Run(&session);
  ASSERT_EQ(fovea_session_get_attention_map(session.session, 0, &w, &error), FOVEA_OK);
  EXPECT_EQ(w.data, nullptr);
  EXPECT_EQ(fovea_session_get_attention_map(session.session, 1, &w, &error), FOVEA_E_INDEX);
  const auto read = [&] { return fovea_session_get_sparse_map(session.session, 0, &arrays, &error); };
  EXPECT_EQ(fovea_session_get_sparse_map(session.session, 1, &arrays, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_session_get_sparse_map(session.session, 0, nullptr, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_get_sparse_map(nullptr, 0, &arrays, &error), FOVEA_E_HANDLE);
  arrays.layout = 3;
  EXPECT_EQ(read(), FOVEA_E_OPTION);
  arrays.layout = FOVEA_SPARSE_CSC;
  EXPECT_EQ(read(), FOVEA_E_CAPACITY);
  EXPECT_EQ(error.expected, w.key_rows + 1u);
  arrays.layout = FOVEA_SPARSE_CSR;
  EXPECT_EQ(read(), FOVEA_E_CAPACITY);
  EXPECT_EQ(error.expected, uint64_t{w.rows} * w.heads + 1);
  arrays.offset_capacity = error.expected;
  EXPECT_EQ(read(), FOVEA_E_CAPACITY);
  EXPECT_EQ(error.expected, w.entries);
  arrays.entry_capacity = w.entries;
  EXPECT_EQ(read(), FOVEA_E_NULL);
  std::vector<uint64_t> offsets(arrays.offset_capacity);
  std::vector<float> values(w.entries);
  arrays.offsets = offsets.data();
  arrays.values = values.data();
  EXPECT_EQ(read(), FOVEA_E_NULL);
  arrays.struct_size = 2;
  EXPECT_EQ(read(), FOVEA_E_STRUCT_SIZE);
  tap.form = FOVEA_TAP_DENSE;
  TestSession dense(c.model(), options);
  c.Run(&dense);
  arrays.struct_size = sizeof(arrays);
  EXPECT_EQ(fovea_session_get_sparse_map(dense.session, 0, &arrays, &error), FOVEA_E_OPTION);
}

// An array of a later version's taps, which are longer.
TEST(Taps, OfAnotherVersion) {
  struct Later {
    fovea_tap tap;
    uint64_t more[2];
  };
  ModelBuilder b;
  const TinyEncoder e = BuildTinyEncoder(b, DType::kF32, 2);
  const TestModel model(b.Blob());
  Later taps[2] = {{TapOf(e.attention_steps[0]), {0, 0}}, {TapOf(e.attention_steps[1]), {0, 0}}};
  for (Later& later : taps) later.tap.struct_size = sizeof(Later);
  const std::vector<fovea_limit> limits = {{e.tokens, 20, 0}, {e.texts, 4, 0}};
  fovea_session_options options = Options(limits);
  options.taps = &taps[0].tap;
  options.tap_count = 2;
  fovea_session_memory sizes = Sized<fovea_session_memory>();
  fovea_error error = {};
  EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_OK) << error.text;
  taps[1].more[1] = 1;  // an option that this version does not know
  EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_E_STRUCT_SIZE);
  taps[1].more[1] = 0;
  taps[1].tap.step = taps[0].tap.step;  // read from the second tap's place
  EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_E_OPTION);
  taps[1].tap.struct_size = sizeof(fovea_tap);
  EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(error.index, 1u);
  options.tap_count = 1;
  for (const size_t size : {size_t{0}, sizeof(fovea_tap) - 8, sizeof(fovea_tap) + 4}) {
    taps[0].tap.struct_size = size;
    EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_E_STRUCT_SIZE) << size;
    EXPECT_EQ(error.found, size);
  }
}

}  // namespace
}  // namespace fovea::test
