// Sessions: exact memory, no heap, the same bits for any number of workers and any tiling, order and limits.
#include <algorithm>

#include "tests/session/runners.h"
#include "tests/support/heap_trap.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

const DType kTypes[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI4};
const uint32_t kBackends[] = {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY};

struct Outputs {
  std::vector<float> hidden, classes;
  bool operator==(const Outputs& other) const {
    return hidden.size() == other.hidden.size() && classes.size() == other.classes.size() &&
           memcmp(hidden.data(), other.hidden.data(), hidden.size() * sizeof(float)) == 0 &&
           memcmp(classes.data(), other.classes.data(), classes.size() * sizeof(float)) == 0;
  }
};

Outputs RunOnce(const TestModel& model, const TinyEncoder& e, fovea_session_options options,
                const std::vector<uint32_t>& lengths, const std::vector<int32_t>& ids) {
  TestSession session(model, options);
  session.SetSegments(e.tokens, lengths);
  session.SetInput(e.ids, ids);
  session.Run();
  return {session.Output(e.hidden), session.Output(e.classes)};
}

TEST(Session, SameBitsForAnyWorkersTilesAndBatch) {
  const std::vector<uint32_t> lengths = {5, 1, 30, 0, 17, 44};
  for (const DType type : kTypes) {
    for (const uint32_t backend : kBackends) {
      ModelBuilder b;
      const TinyEncoder e = BuildTinyEncoder(b, type);
      const TestModel model(b.Blob(), backend);
      const std::vector<int32_t> ids = RandomIds(97, 50, 3);
      const std::vector<fovea_limit> limits = {{e.texts, 6, 0}, {e.tokens, 97, 0}};
      const Outputs expected = RunOnce(model, e, Options(limits), lengths, ids);
      for (const uint32_t workers : {1u, 2u, 3u, 4u}) {
        for (const uint32_t tile_rows : {0u, 1u, 5u, 16u, 64u, 100u}) {
          fovea_session_options options = Options(limits, workers, tile_rows);
          options.runner = tile_rows % 2 == 0 ? ThreadRunner : ReverseRunner;
          EXPECT_TRUE(RunOnce(model, e, options, lengths, ids) == expected)
              << "type " << static_cast<int>(type) << " backend " << backend << " workers " << workers << " tile "
              << tile_rows;
        }
      }
      // Each text alone gives the rows it gives in the batch.
      uint32_t first = 0;
      for (size_t i = 0; i < lengths.size(); first += lengths[i++]) {
        const std::vector<int32_t> own(ids.begin() + first, ids.begin() + first + lengths[i]);
        const Outputs alone = RunOnce(model, e, Options(limits), {lengths[i]}, own);
        EXPECT_TRUE(std::equal(alone.hidden.begin(), alone.hidden.end(), expected.hidden.begin() + first * 32));
        EXPECT_TRUE(std::equal(alone.classes.begin(), alone.classes.end(), expected.classes.begin() + i * 7));
      }
    }
  }
}

TEST(Session, NoHeapAfterInit) {
  for (const DType type : kTypes) {
    for (const uint32_t backend : kBackends) {
      ModelBuilder b;
      const TinyEncoder e = BuildTinyEncoder(b, type);
      const TestModel model(b.Blob(), backend);
      for (const uint32_t workers : {1u, 2u, 4u}) {
        const std::vector<fovea_limit> limits = {{e.texts, 4, 0}, {e.tokens, 64, 0}};
        fovea_session_options options = Options(limits, workers);
        options.runner = ReverseRunner;
        std::vector<fovea_tap> taps = {TapOf(e.attention_steps[0]), TapOf(e.attention_steps[1])};
        taps[1].form = FOVEA_TAP_SPARSE;
        taps[1].reduce = FOVEA_REDUCE_MEAN;
        options.taps = taps.data();
        options.tap_count = 2;
        TestSession session(model, options);
        const std::vector<int32_t> ids = RandomIds(60, 50, 4);
        const uint32_t lengths[] = {10, 20, 30};
        uint64_t calls = 0;
        {
          fovea::testing::HeapTrap trap;
          for (int round = 0; round < 3; ++round) {
            fovea_view view;
            fovea_error error;
            fovea_session_set_segments(session.session, e.tokens, lengths, 3, &error);
            fovea_session_input(session.session, e.ids, &view, &error);
            memcpy(view.data, ids.data(), ids.size() * sizeof(int32_t));
            fovea_session_run(session.session, &error);
            fovea_session_output(session.session, e.classes, &view, &error);
          }
          calls = trap.calls();
        }
        EXPECT_EQ(calls, 0u);
      }
    }
  }
}

TEST(Session, NeededBytesSucceedAndLessFailsWithTheFigure) {
  ModelBuilder b;
  const TinyEncoder e = BuildTinyEncoder(b, DType::kI8);
  const AlignedBytes blob = b.Blob();
  fovea_error error = {};
  uint64_t needed = 0;
  ASSERT_EQ(fovea_model_size(blob.data(), blob.size(), nullptr, &needed, &error), FOVEA_OK);
  // Canaries on both sides.
  AlignedBytes memory(needed + 128);
  fovea_model* model = nullptr;
  for (uint64_t size = 0; size < needed; size += size + 64 < needed ? 61 : 1) {
    memset(memory.data(), 0xa5, memory.size());
    ASSERT_EQ(fovea_model_init(blob.data(), blob.size(), nullptr, memory.data() + 64, size, &model, &error),
              FOVEA_E_TOO_SMALL);
    ASSERT_EQ(error.expected, needed);
    ASSERT_EQ(error.found, size);
    ASSERT_EQ(model, nullptr);
    for (uint64_t i = 0; i < memory.size(); ++i) ASSERT_EQ(memory.data()[i], 0xa5) << "size " << size << " byte " << i;
  }
  memset(memory.data(), 0xa5, memory.size());
  ASSERT_EQ(fovea_model_init(blob.data(), blob.size(), nullptr, memory.data() + 64, needed, &model, &error), FOVEA_OK);
  for (uint64_t i = 0; i < 64; ++i) {
    ASSERT_EQ(memory.data()[i], 0xa5);
    ASSERT_EQ(memory.data()[64 + needed + i], 0xa5);
  }

  const std::vector<fovea_limit> limits = {{e.texts, 2, 0}, {e.tokens, 20, 0}};
  const fovea_session_options options = Options(limits, 2);
  fovea_session_memory sizes = {};
  sizes.struct_size = sizeof(sizes);
  ASSERT_EQ(fovea_session_size(model, &options, &sizes, &error), FOVEA_OK);
  AlignedBytes fixed(sizes.fixed_size + 128), scratch(sizes.scratch_size + 128);
  fovea_session* session = nullptr;
  for (const uint32_t block : {0u, 2u}) {
    const uint64_t need = block == 0 ? sizes.fixed_size : sizes.scratch_size;
    for (uint64_t size = 0; size < need; size += size + 64 < need ? 61 : 1) {
      fovea_session_memory given = sizes;
      given.fixed = fixed.data() + 64;
      given.scratch = scratch.data() + 64;
      (block == 0 ? given.fixed_size : given.scratch_size) = size;
      ASSERT_EQ(fovea_session_init(model, &options, &given, &session, &error), FOVEA_E_TOO_SMALL);
      ASSERT_EQ(error.expected, need);
      ASSERT_EQ(error.section, block);
      ASSERT_EQ(session, nullptr);
    }
  }
  memset(fixed.data(), 0xa5, fixed.size());
  memset(scratch.data(), 0xa5, scratch.size());
  fovea_session_memory given = sizes;
  given.fixed = fixed.data() + 64;
  given.scratch = scratch.data() + 64;
  ASSERT_EQ(fovea_session_init(model, &options, &given, &session, &error), FOVEA_OK);
  const uint32_t lengths[] = {13, 7};
  ASSERT_EQ(fovea_session_set_segments(session, e.tokens, lengths, 2, &error), FOVEA_OK);
  fovea_view view;
  ASSERT_EQ(fovea_session_input(session, e.ids, &view, &error), FOVEA_OK);
  memset(view.data, 0, 20 * sizeof(int32_t));
  ASSERT_EQ(fovea_session_run(session, &error), FOVEA_OK);
  for (const AlignedBytes* bytes : {&fixed, &scratch}) {
    for (uint64_t i = 0; i < 64; ++i) {
      ASSERT_EQ(bytes->data()[i], 0xa5);
      ASSERT_EQ(bytes->data()[bytes->size() - 1 - i], 0xa5);
    }
  }
  given.fixed = fixed.data() + 60;
  EXPECT_EQ(fovea_session_init(model, &options, &given, &session, &error), FOVEA_E_MISALIGNED);
}

TEST(Session, TapsChangeNoOutputAndRowsSumToOne) {
  ModelBuilder b;
  const TinyEncoder e = BuildTinyEncoder(b, DType::kF32);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{e.texts, 3, 0}, {e.tokens, 50, 25}};
  const std::vector<uint32_t> lengths = {25, 1, 12};
  const std::vector<int32_t> ids = RandomIds(38, 50, 5);
  const Outputs expected = RunOnce(model, e, Options(limits), lengths, ids);
  fovea_session_options options = Options(limits, 2, 7);
  const std::vector<fovea_tap> taps = {TapOf(e.attention_steps[0]), TapOf(e.attention_steps[1])};
  options.taps = taps.data();
  options.tap_count = 2;
  TestSession session(model, options);
  session.SetSegments(e.tokens, lengths);
  session.SetInput(e.ids, ids);
  session.Run();
  EXPECT_TRUE((Outputs{session.Output(e.hidden), session.Output(e.classes)}) == expected);
  for (uint32_t tap = 0; tap < 2; ++tap) {
    fovea_weights w = Sized<fovea_weights>();
    fovea_error error = {};
    ASSERT_EQ(fovea_session_weights(session.session, tap, &w, &error), FOVEA_OK);
    EXPECT_EQ(w.rows, 38u);
    EXPECT_EQ(w.heads, 4u);
    EXPECT_EQ(w.stride, 25u);
    uint32_t row = 0;
    for (const uint32_t length : lengths) {
      for (uint32_t i = 0; i < length; ++i, ++row) {
        for (uint32_t head = 0; head < w.heads; ++head) {
          double sum = 0;
          for (uint32_t j = 0; j < length; ++j) sum += w.data[(size_t{row} * w.heads + head) * w.stride + j];
          EXPECT_NEAR(sum, 1.0, 1e-5);
        }
      }
    }
  }
}

TEST(Session, KeepsNamedValuesWithoutChangingOutputs) {
  ModelBuilder b;
  const TinyEncoder e = BuildTinyEncoder(b, DType::kF32);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{e.texts, 2, 0}, {e.tokens, 40, 0}};
  const std::vector<int32_t> ids = RandomIds(40, 50, 6);
  const Outputs expected = RunOnce(model, e, Options(limits), {33, 7}, ids);
  fovea_program_info program = Sized<fovea_program_info>();
  ASSERT_EQ(fovea_model_program(model.model, 0, &program), FOVEA_OK);
  std::vector<uint32_t> keep;
  for (uint32_t v = 1; v < program.value_count; ++v) keep.push_back(v);
  fovea_session_options options = Options(limits, 1, 16);
  options.keep = keep.data();
  options.keep_count = static_cast<uint32_t>(keep.size());
  TestSession session(model, options);
  session.SetSegments(e.tokens, {33, 7});
  session.SetInput(e.ids, ids);
  session.Run();
  EXPECT_TRUE((Outputs{session.Output(e.hidden), session.Output(e.classes)}) == expected);
  // One value alone: kept or not, the same rows.
  for (const uint32_t v : keep) {
    fovea_session_options one = Options(limits);
    one.keep = &v;
    one.keep_count = 1;
    TestSession single(model, one);
    single.SetSegments(e.tokens, {33, 7});
    single.SetInput(e.ids, ids);
    single.Run();
    EXPECT_EQ(single.Output(v), session.Output(v)) << "value " << v;
  }
}

TEST(Session, OrderLimitsAndIds) {
  ModelBuilder b;
  const TinyEncoder e = BuildTinyEncoder(b, DType::kF32);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{e.texts, 2, 0}, {e.tokens, 40, 30}};
  TestSession s(model, Options(limits));
  fovea_error error = {};
  fovea_view view = {};
  uint32_t left = 0;
  EXPECT_EQ(fovea_session_run(s.session, &error), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_advance(s.session, 1, &left, &error), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_input(s.session, e.ids, &view, &error), FOVEA_E_ORDER);
  const uint32_t long_lengths[] = {31, 1}, many[] = {1, 1, 1}, full[] = {30, 11}, good[] = {30, 10};
  EXPECT_EQ(fovea_session_set_segments(s.session, e.tokens, long_lengths, 2, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(error.expected, 30u);
  EXPECT_EQ(error.byte, 0u);
  EXPECT_EQ(fovea_session_set_segments(s.session, e.tokens, many, 3, &error), FOVEA_E_SEGMENTS);
  EXPECT_EQ(fovea_session_set_segments(s.session, e.tokens, full, 2, &error), FOVEA_E_ROWS);
  EXPECT_EQ(fovea_session_set_segments(s.session, 9, good, 2, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_session_set_segments(s.session, e.tokens, nullptr, 2, &error), FOVEA_E_NULL);
  ASSERT_EQ(fovea_session_set_segments(s.session, e.tokens, good, 2, &error), FOVEA_OK);
  EXPECT_EQ(fovea_session_output(s.session, e.classes, &view, &error), FOVEA_E_ORDER);
  std::vector<int32_t> ids = RandomIds(40, 50, 7);
  ids[17] = 50;
  s.SetInput(e.ids, ids);
  EXPECT_EQ(fovea_session_run(s.session, &error), FOVEA_E_ID);
  EXPECT_EQ(error.byte, 17u);
  EXPECT_EQ(error.expected, 50u);
  ids[17] = -1;
  s.SetInput(e.ids, ids);
  EXPECT_EQ(fovea_session_run(s.session, &error), FOVEA_E_ID);
  ids[17] = 49;
  s.SetInput(e.ids, ids);
  EXPECT_EQ(fovea_session_run(s.session, &error), FOVEA_OK);
  EXPECT_EQ(fovea_session_output(s.session, e.ids, &view, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_session_input(s.session, e.classes, &view, &error), FOVEA_E_INDEX);
  // In pieces: the same result.
  const std::vector<float> expected = s.Output(e.classes);
  ASSERT_EQ(fovea_session_begin(s.session, &error), FOVEA_OK);
  uint32_t pieces = 0;
  do {
    ASSERT_EQ(fovea_session_advance(s.session, 1, &left, &error), FOVEA_OK);
    ++pieces;
  } while (left > 0);
  fovea_program_info program = Sized<fovea_program_info>();
  fovea_model_program(model.model, 0, &program);
  EXPECT_EQ(pieces, program.phase_count);
  EXPECT_EQ(s.Output(e.classes), expected);
  // Cancelling between pieces.
  ASSERT_EQ(fovea_session_begin(s.session, &error), FOVEA_OK);
  fovea_session_cancel(s.session);
  EXPECT_EQ(fovea_session_advance(s.session, 1, &left, &error), FOVEA_E_CANCELLED);
  EXPECT_EQ(fovea_session_output(s.session, e.classes, &view, &error), FOVEA_E_ORDER);
  s.Run();
  EXPECT_EQ(s.Output(e.classes), expected);
  // A run without texts is valid.
  ASSERT_EQ(fovea_session_set_segments(s.session, e.tokens, good, 0, &error), FOVEA_OK);
  s.Run();
  EXPECT_TRUE(s.Output(e.classes).empty());
}

TEST(Session, OptionsAreChecked) {
  ModelBuilder b;
  const TinyEncoder e = BuildTinyEncoder(b, DType::kF32);
  const TestModel model(b.Blob());
  fovea_session_memory sizes = {};
  sizes.struct_size = sizeof(sizes);
  fovea_error error = {};
  const auto size = [&](const fovea_session_options& o) { return fovea_session_size(model.model, &o, &sizes, &error); };
  const std::vector<fovea_limit> good = {{e.tokens, 40, 0}};
  EXPECT_EQ(size(Options(good)), FOVEA_OK);
  EXPECT_EQ(size(Options({})), FOVEA_E_OPTION);
  EXPECT_EQ(size(Options({{e.tokens, 0, 0}})), FOVEA_E_OPTION);
  EXPECT_EQ(size(Options({{e.tokens, 100, 65}})), FOVEA_E_OPTION);  // 64 positions
  EXPECT_EQ(error.expected, 64u);
  EXPECT_EQ(size(Options({{e.tokens, 40, 0}, {e.tokens, 40, 0}})), FOVEA_E_OPTION);
  EXPECT_EQ(size(Options({{7, 40, 0}})), FOVEA_E_INDEX);
  EXPECT_EQ(size(Options(good, 65)), FOVEA_E_OPTION);
  EXPECT_EQ(size(Options(good, 1, 1025)), FOVEA_E_OPTION);
  fovea_session_options o = Options(good);
  o.program = 1;
  EXPECT_EQ(size(o), FOVEA_E_INDEX);
  o = Options(good);
  const uint32_t bad_value = 1000, twice[] = {1, 1};
  const fovea_tap not_attention = Sized<fovea_tap>();
  o.keep = &bad_value;
  o.keep_count = 1;
  EXPECT_EQ(size(o), FOVEA_E_INDEX);
  o.keep = twice;
  o.keep_count = 2;
  EXPECT_EQ(size(o), FOVEA_E_OPTION);
  o = Options(good);
  o.taps = &not_attention;
  o.tap_count = 1;
  EXPECT_EQ(size(o), FOVEA_E_OPTION);
  o.taps = nullptr;
  EXPECT_EQ(size(o), FOVEA_E_NULL);
  o = Options(good);
  o.struct_size = 3;
  EXPECT_EQ(size(o), FOVEA_E_STRUCT_SIZE);
  // A newer caller: unknown fields must be zero.
  struct Newer {
    fovea_session_options options;
    uint64_t more;
  } newer = {Options(good), 0};
  newer.options.struct_size = sizeof(newer);
  EXPECT_EQ(size(newer.options), FOVEA_OK);
  newer.more = 1;
  EXPECT_EQ(size(newer.options), FOVEA_E_STRUCT_SIZE);
  // Handles and NULLs.
  EXPECT_EQ(fovea_session_size(nullptr, &newer.options, &sizes, &error), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_session_size(model.model, &newer.options, nullptr, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_run(nullptr, &error), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_session_run(nullptr, nullptr), FOVEA_E_HANDLE);
}

TEST(Session, MemoryGrowsLinearlyWithRows) {
  ModelBuilder b;
  const TinyEncoder e = BuildTinyEncoder(b, DType::kI8, 2, 32, 4, 64, 50, 4096);
  const TestModel model(b.Blob());
  uint64_t at[3];
  const uint32_t rows[] = {1024, 2048, 3072};
  for (int i = 0; i < 3; ++i) {
    fovea_session_memory sizes = {};
    sizes.struct_size = sizeof(sizes);
    fovea_error error = {};
    const std::vector<fovea_limit> limits = {{e.tokens, rows[i], 0}};
    const fovea_session_options options = Options(limits);
    ASSERT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_OK);
    at[i] = sizes.scratch_size;
  }
  EXPECT_EQ(at[2] - at[1], at[1] - at[0]);
  // ids, residual stream, two sets of keys and values: nothing as wide as the feed-forward layer or as the text is
  // long.
  EXPECT_EQ((at[1] - at[0]) / 1024, 4 + 5 * 32 * 4u);
}

}  // namespace
}  // namespace fovea::test
