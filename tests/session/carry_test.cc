// State that sessions carry from run to run or take from each other: carried values and linked inputs.
#include <algorithm>

#include "tests/session/runners.h"
#include "tests/support/heap_trap.h"
#include "tests/support/tiny_decoder.h"

namespace fovea::test {
namespace {

using Batch = std::vector<std::vector<int32_t>>;
const Batch kTexts = {{1, 5, 2, 8, 8}, {3}, {}, {0, 7, 4, 4, 1, 2, 6}};
const std::vector<std::vector<int32_t>> kWords = {{1, 2, 3, 4}, {0, 0, 8, 7}, {5, 5, 5, 5}, {2, 8, 1, 0}};

const TinyDecoder& Decoder() {
  static const TinyDecoder decoder;
  return decoder;
}
const TestModel& Model() {
  static const TestModel model(Decoder().b.Blob());
  return model;
}

// Logits of every step.
std::vector<std::vector<float>> RunSteps(TinyPair& pair, size_t from = 0) {
  std::vector<std::vector<float>> all;
  for (size_t i = from; i < kWords.size(); ++i) all.push_back(pair.Step(Decoder(), kWords[i]));
  return all;
}
std::vector<std::vector<float>> Expected() {
  TinyPair pair(Model(), Decoder(), 4, 20);
  pair.Encode(Decoder(), kTexts);
  pair.Link(Decoder());
  return RunSteps(pair);
}

TEST(Carry, StepsAreThoseOfTheFormulas) {
  const TinyDecoder& d = Decoder();
  const std::vector<std::vector<float>> steps = Expected();
  TinyPair pair(Model(), d, 4, 20);
  pair.Encode(d, kTexts);
  const std::vector<float> summary = pair.encode.Output(d.summary);
  for (size_t text = 0; text < kTexts.size(); ++text) {
    std::vector<double> state(summary.begin() + static_cast<long>(text) * d.kWidth,
                              summary.begin() + static_cast<long>(text + 1) * d.kWidth);
    for (size_t i = 0; i < kWords.size(); ++i) {
      const TinyDecoder::Step step = d.Reference(kTexts[text], kWords[i][text], state);
      state = step.state;
      for (uint32_t w = 0; w < d.kWords; ++w) {
        EXPECT_NEAR(steps[i][text * d.kWords + w], step.logits[w], 2e-5) << "text " << text << " step " << i;
      }
    }
  }
}

TEST(Carry, SameBitsForAnyWorkersAndTilesAndByHand) {
  const TinyDecoder& d = Decoder();
  const std::vector<std::vector<float>> expected = Expected();
  for (const uint32_t workers : {1u, 2u, 3u}) {
    for (const uint32_t tile_rows : {0u, 1u, 3u}) {
      TinyPair pair(Model(), d, 4, 20, workers, tile_rows, tile_rows == 1 ? ThreadRunner : ReverseRunner);
      pair.Encode(d, kTexts);
      pair.Link(d);
      EXPECT_EQ(RunSteps(pair), expected) << workers << " workers, tiles of " << tile_rows;
    }
  }
  // The host copies everything itself, including the state before every step.
  TinyPair pair(Model(), d, 4, 20);
  pair.Encode(d, kTexts);
  fovea_session_options options = Options(pair.limits);
  options.program = 1;
  TestSession session(Model(), options);
  session.SetSegments(d.tokens, {5, 1, 0, 7});
  session.SetInput(d.in_rows, pair.encode.Output(d.rows));
  session.SetInput(d.in_keys, pair.encode.Output(d.keys));
  std::vector<float> state = pair.encode.Output(d.summary);
  for (size_t i = 0; i < kWords.size(); ++i) {
    session.SetInput(d.state, state);
    session.SetInput(d.token, kWords[i]);
    session.Run();
    EXPECT_EQ(session.Output(d.logits), expected[i]) << i;
    state = session.Output(d.next_state);
  }
}

TEST(Carry, AnotherBatchIsLinkedAnew) {
  const TinyDecoder& d = Decoder();
  const std::vector<std::vector<float>> expected = Expected();
  TinyPair pair(Model(), d, 4, 20);
  pair.Encode(d, {{1, 2}, {3}});
  pair.Link(d);
  pair.Step(d, {1, 1});
  pair.Encode(d, kTexts);
  fovea_error error = {};
  EXPECT_EQ(fovea_session_run(pair.decode.session, &error), FOVEA_E_SEGMENTS);
  EXPECT_EQ(error.tensor, d.in_rows);
  pair.Link(d);
  EXPECT_EQ(RunSteps(pair), expected);
  // The same segments: new rows are used without another call.
  Batch others = kTexts;
  std::reverse(others[3].begin(), others[3].end());
  pair.Encode(d, others);
  ASSERT_EQ(fovea_session_link(pair.decode.session, d.state, pair.encode.session, d.summary, &error), FOVEA_OK);
  const std::vector<float> step = pair.Step(d, kWords[0]);
  TinyPair fresh(Model(), d, 4, 20);
  fresh.Encode(d, others);
  fresh.Link(d);
  EXPECT_EQ(step, fresh.Step(d, kWords[0]));
}

TEST(Carry, BeginsAsZerosAndIsReset) {
  const TinyDecoder& d = Decoder();
  TinyPair pair(Model(), d, 4, 20);
  pair.Encode(d, kTexts);
  pair.Link(d);
  const std::vector<float> zeros(4 * d.kWidth, 0.0f);
  pair.decode.SetInput(d.state, zeros);
  const std::vector<float> expected = pair.Step(d, kWords[0]);
  EXPECT_NE(pair.Step(d, kWords[0]), expected);
  fovea_error error = {};
  ASSERT_EQ(fovea_session_reset(pair.decode.session, &error), FOVEA_OK);
  fovea_view view = {};
  EXPECT_EQ(fovea_session_output(pair.decode.session, d.next_state, &view, &error), FOVEA_E_ORDER);
  EXPECT_EQ(pair.Step(d, kWords[0]), expected);
  // The same number of rows keeps the state, another one clears it.
  const std::vector<float> before = pair.decode.Output(d.next_state);
  const auto state = [&] {
    EXPECT_EQ(fovea_session_input(pair.decode.session, d.state, &view, &error), FOVEA_OK);
    const auto* data = static_cast<const float*>(view.data);
    return std::vector<float>(data, data + size_t{view.rows} * view.width);
  };
  EXPECT_EQ(state(), before);
  pair.decode.SetSegments(d.tokens, {1, 1, 1, 2});
  EXPECT_EQ(state(), before);
  pair.decode.SetSegments(d.tokens, {1, 1, 1});
  EXPECT_EQ(state(), std::vector<float>(3 * d.kWidth, 0.0f));
  pair.decode.SetInput(d.state, std::vector<float>(3 * d.kWidth, 1.0f));
  pair.decode.SetSegments(d.tokens, {1, 1, 1, 1});
  EXPECT_EQ(state(), zeros);
}

// A clock that cancels the run at its Nth reading: after the first rows were written, before the last.
fovea_session* cancelled_by_clock = nullptr;
int ticks_left = 0;
uint64_t CancellingClock() {
  if (--ticks_left == 0) fovea_session_cancel(cancelled_by_clock);
  return 0;
}

TEST(Carry, ARunThatDoesNotFinishLeavesTheState) {
  const TinyDecoder& d = Decoder();
  const std::vector<std::vector<float>> expected = Expected();
  TinyPair pair(Model(), d, 4, 20);
  pair.Encode(d, kTexts);
  fovea_session_options options = pair.OptionsOf(1, 1, 1, nullptr);
  options.clock = CancellingClock;
  TestSession timed(Model(), options);
  std::swap(pair.decode, timed);
  pair.Link(d);
  fovea_error error = {};
  for (size_t i = 0; i < kWords.size(); ++i) {
    pair.decode.SetInput(d.token, std::vector<int32_t>{0, 0, 0, 9});
    EXPECT_EQ(fovea_session_run(pair.decode.session, &error), FOVEA_E_ID);
    pair.decode.SetInput(d.token, std::vector<int32_t>{8, 8, 8, 8});
    ASSERT_EQ(fovea_session_begin(pair.decode.session, &error), FOVEA_OK);
    EXPECT_EQ(fovea_session_reset(pair.decode.session, &error), FOVEA_E_ORDER);
    cancelled_by_clock = pair.decode.session;
    ticks_left = 20;  // in the second of four tiles of one row
    uint32_t left = 0;
    EXPECT_EQ(fovea_session_advance(pair.decode.session, 9, &left, &error), FOVEA_E_CANCELLED);
    EXPECT_LE(ticks_left, 0);
    EXPECT_EQ(pair.Step(d, kWords[i]), expected[i]);
  }
}

TEST(Carry, SavedStatesGoOnWithTheSameBits) {
  const TinyDecoder& d = Decoder();
  const std::vector<std::vector<float>> expected = Expected();
  TinyPair first(Model(), d, 4, 20);
  first.Encode(d, kTexts);
  first.Link(d);
  fovea_error error = {};
  for (size_t steps = 0; steps < kWords.size(); ++steps) {
    uint64_t size = 0;
    ASSERT_EQ(fovea_session_saved_size(first.decode.session, &size, &error), FOVEA_OK);
    EXPECT_EQ(size, 32 + 8 + 4 * d.kWidth * sizeof(float));
    std::vector<uint8_t> saved(size + 1, 0xa5);
    for (uint64_t less = 0; less < size; ++less) {
      ASSERT_EQ(fovea_session_save(first.decode.session, saved.data(), less, &error), FOVEA_E_TOO_SMALL);
      ASSERT_EQ(error.expected, size);
    }
    EXPECT_EQ(std::count(saved.begin(), saved.end(), 0xa5), static_cast<long>(size + 1));
    ASSERT_EQ(fovea_session_save(first.decode.session, saved.data(), size, &error), FOVEA_OK);
    EXPECT_EQ(saved[size], 0xa5);
    // Another session with other limits and workers, after one step.
    TinyPair second(Model(), d, 9, 50, 2, 1, ReverseRunner);
    second.Encode(d, kTexts);
    second.Link(d);
    second.Step(d, kWords[2]);
    ASSERT_EQ(fovea_session_restore(second.decode.session, saved.data(), size, &error), FOVEA_OK);
    const std::vector<std::vector<float>> rest = RunSteps(second, steps);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), expected.begin() + static_cast<long>(steps)));
    EXPECT_EQ(first.Step(d, kWords[steps]), expected[steps]);
  }
}

TEST(Carry, DamagedStatesAreRefusedAndChangeNothing) {
  const TinyDecoder& d = Decoder();
  TinyPair pair(Model(), d, 4, 20);
  pair.Encode(d, kTexts);
  pair.Link(d);
  const std::vector<float> expected = pair.Step(d, kWords[0]);
  pair.Link(d);
  fovea_error error = {};
  uint64_t size = 0;
  ASSERT_EQ(fovea_session_saved_size(pair.decode.session, &size, &error), FOVEA_OK);
  std::vector<uint8_t> saved(size);
  ASSERT_EQ(fovea_session_save(pair.decode.session, saved.data(), size, &error), FOVEA_OK);
  for (uint64_t less = 0; less < size; ++less) {
    const std::vector<uint8_t> cut(saved.begin(), saved.begin() + static_cast<long>(less));
    ASSERT_EQ(
        fovea_session_restore(pair.decode.session, cut.data() == nullptr ? saved.data() : cut.data(), less, &error),
        FOVEA_E_STATE);
  }
  for (size_t i = 0; i < 40; ++i) {
    std::vector<uint8_t> bad = saved;
    bad[i] ^= 0x81;
    ASSERT_EQ(fovea_session_restore(pair.decode.session, bad.data(), size, &error), FOVEA_E_STATE) << "byte " << i;
  }
  EXPECT_EQ(pair.Step(d, kWords[0]), expected);
  // State with another number of rows, of another program, of another model.
  pair.decode.SetSegments(d.tokens, {1, 1});
  EXPECT_EQ(fovea_session_restore(pair.decode.session, saved.data(), size, &error), FOVEA_E_STATE);
  EXPECT_EQ(fovea_session_restore(pair.encode.session, saved.data(), size, &error), FOVEA_E_STATE);
  const TinyDecoder other(2);
  const TestModel other_model(other.b.Blob());
  TinyPair others(other_model, other, 4, 20);
  others.Encode(other, kTexts);
  others.Link(other);
  EXPECT_EQ(fovea_session_restore(others.decode.session, saved.data(), size, &error), FOVEA_E_STATE);
}

TEST(Carry, MemoryIsExact) {
  const TinyDecoder& d = Decoder();
  const std::vector<fovea_limit> limits = {{d.texts, 4, 0}, {d.tokens, 20, 0}};
  const uint32_t linked[] = {d.in_rows, d.in_keys};
  fovea_session_options options = Options(limits);
  options.program = 1;
  fovea_session_memory own = {}, sizes = {};
  own.struct_size = sizes.struct_size = sizeof(sizes);
  fovea_error error = {};
  ASSERT_EQ(fovea_session_size(Model().model, &options, &own, &error), FOVEA_OK);
  options.linked = linked;
  options.linked_count = 2;
  ASSERT_EQ(fovea_session_size(Model().model, &options, &sizes, &error), FOVEA_OK);
  EXPECT_EQ(own.state_size, sizes.state_size);
  EXPECT_GE(own.scratch_size - sizes.scratch_size, uint64_t{2} * 20 * d.kWidth * sizeof(float));
  const uint64_t matrix = 4 * d.kWidth * sizeof(float);
  EXPECT_GE(sizes.state_size, 2 * matrix);
  const AlignedBytes fixed(sizes.fixed_size), state(sizes.state_size + 128), scratch(sizes.scratch_size);
  memset(state.data(), 0xa5, state.size());
  sizes.fixed = fixed.data();
  sizes.state = state.data() + 64;
  sizes.scratch = scratch.data();
  const uint64_t needed = sizes.state_size;
  fovea_session* session = nullptr;
  for (uint64_t size = 0; size < needed; ++size) {
    sizes.state_size = size;
    ASSERT_EQ(fovea_session_init(Model().model, &options, &sizes, &session, &error), FOVEA_E_TOO_SMALL);
    ASSERT_EQ(error.expected, needed);
    ASSERT_EQ(error.section, 1u);
  }
  sizes.state_size = needed;
  sizes.state = nullptr;
  EXPECT_EQ(fovea_session_init(Model().model, &options, &sizes, &session, &error), FOVEA_E_NULL);
  sizes.state = state.data() + 60;
  EXPECT_EQ(fovea_session_init(Model().model, &options, &sizes, &session, &error), FOVEA_E_MISALIGNED);
  sizes.state = state.data() + 64;
  ASSERT_EQ(fovea_session_init(Model().model, &options, &sizes, &session, &error), FOVEA_OK);
  fovea_session_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(fovea_session_get_info(session, &info), FOVEA_OK);
  EXPECT_EQ(info.state_bytes, needed);
  for (uint64_t i = 0; i < 64; ++i) {
    ASSERT_EQ(state.data()[i], 0xa5);
    ASSERT_EQ(state.data()[64 + needed + i], 0xa5);
  }
}

TEST(Carry, StepsLinksAndStatesUseNoHeap) {
  const TinyDecoder& d = Decoder();
  TinyPair pair(Model(), d, 4, 20, 2, 0, ReverseRunner);
  pair.Encode(d, kTexts);
  std::vector<uint8_t> saved(4096);
  uint64_t calls = 0, size = 0;
  {
    fovea::testing::HeapTrap trap;
    fovea_error error;
    fovea_view view;
    fovea_session* session = pair.decode.session;
    fovea_session_link(session, d.in_rows, pair.encode.session, d.rows, &error);
    fovea_session_link(session, d.in_keys, pair.encode.session, d.keys, &error);
    fovea_session_link(session, d.state, pair.encode.session, d.summary, &error);
    for (int i = 0; i < 3; ++i) {
      fovea_session_input(session, d.token, &view, &error);
      memset(view.data, 0, 16);
      fovea_session_run(session, &error);
      fovea_session_saved_size(session, &size, &error);
      fovea_session_save(session, saved.data(), size, &error);
      fovea_session_restore(session, saved.data(), size, &error);
    }
    fovea_session_reset(session, &error);
    calls = trap.calls();
  }
  EXPECT_EQ(calls, 0u);
}

TEST(Link, MisuseIsRefused) {
  const TinyDecoder& d = Decoder();
  TinyPair pair(Model(), d, 4, 20);
  fovea_session *decode = pair.decode.session, *encode = pair.encode.session;
  fovea_error error = {};
  const auto link = [&](uint32_t input, const fovea_session* from, uint32_t output) {
    return fovea_session_link(decode, input, from, output, &error);
  };
  EXPECT_EQ(link(d.in_rows, encode, d.rows), FOVEA_E_ORDER);
  pair.Encode(d, kTexts);
  EXPECT_EQ(link(d.in_rows, nullptr, d.rows), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_session_link(nullptr, d.in_rows, encode, d.rows, &error), FOVEA_E_HANDLE);
  EXPECT_EQ(link(d.in_rows, decode, d.context), FOVEA_E_OPTION);
  EXPECT_EQ(link(d.context, encode, d.rows), FOVEA_E_INDEX);
  EXPECT_EQ(link(99, encode, d.rows), FOVEA_E_INDEX);
  EXPECT_EQ(link(d.in_rows, encode, d.ids), FOVEA_E_INDEX);
  EXPECT_EQ(link(d.in_rows, encode, 99), FOVEA_E_INDEX);
  EXPECT_EQ(link(d.token, encode, d.rows), FOVEA_E_OPTION);  // another width and type
  EXPECT_EQ(error.tensor, d.token);
  const TestModel other(d.b.Blob());
  TinyPair others(other, d, 4, 20);
  others.Encode(d, kTexts);
  EXPECT_EQ(link(d.in_rows, others.encode.session, d.rows), FOVEA_E_OPTION);
  // An output that is not named, one that is too small, an input that is not linked.
  fovea_session_options options = Options(pair.limits);
  options.program = 1;
  TestSession unnamed(Model(), options);
  EXPECT_EQ(fovea_session_link(unnamed.session, d.in_rows, encode, d.rows, &error), FOVEA_E_OPTION);
  TinyPair small(Model(), d, 4, 12);
  EXPECT_EQ(fovea_session_link(small.decode.session, d.in_rows, encode, d.rows, &error), FOVEA_E_ROWS);
  pair.decode.SetSegments(d.tokens, {5, 1, 0, 7});
  EXPECT_EQ(fovea_session_run(decode, &error), FOVEA_E_ORDER);
  EXPECT_EQ(link(d.in_rows, encode, d.rows), FOVEA_OK);
  EXPECT_EQ(fovea_session_run(decode, &error), FOVEA_E_ORDER);
  EXPECT_EQ(error.tensor, d.in_keys);
  EXPECT_EQ(link(d.in_keys, encode, d.keys), FOVEA_OK);
  fovea_view view = {};
  EXPECT_EQ(fovea_session_input(decode, d.in_keys, &view, &error), FOVEA_E_INDEX);
  pair.decode.SetInput(d.token, kWords[0]);
  EXPECT_EQ(fovea_session_run(decode, &error), FOVEA_OK);
  // The other session's outputs are no longer valid; this session is in the middle of a run.
  ASSERT_EQ(fovea_session_begin(encode, &error), FOVEA_OK);
  EXPECT_EQ(fovea_session_run(decode, &error), FOVEA_E_ORDER);
  uint32_t left = 0;
  ASSERT_EQ(fovea_session_advance(encode, UINT32_MAX, &left, &error), FOVEA_OK);
  ASSERT_EQ(fovea_session_begin(decode, &error), FOVEA_OK);
  EXPECT_EQ(link(d.state, encode, d.summary), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_saved_size(decode, nullptr, &error), FOVEA_E_NULL);
  uint64_t size = 0;
  EXPECT_EQ(fovea_session_saved_size(decode, &size, &error), FOVEA_E_ORDER);
  // Options.
  const auto sized = [&](std::vector<uint32_t> linked) {
    options.linked = linked.data();
    options.linked_count = static_cast<uint32_t>(linked.size());
    fovea_session_memory sizes = {};
    sizes.struct_size = sizeof(sizes);
    return fovea_session_size(Model().model, &options, &sizes, &error);
  };
  EXPECT_EQ(sized({d.in_rows, d.in_rows}), FOVEA_E_OPTION);
  EXPECT_EQ(sized({d.state}), FOVEA_E_OPTION);
  EXPECT_EQ(sized({d.context}), FOVEA_E_INDEX);
  options.linked = nullptr;
  options.linked_count = 1;
  fovea_session_memory sizes = {};
  sizes.struct_size = sizeof(sizes);
  EXPECT_EQ(fovea_session_size(Model().model, &options, &sizes, &error), FOVEA_E_NULL);
}

TEST(Link, ValueInfoNamesWhatCarries) {
  const TinyDecoder& d = Decoder();
  fovea_value_info info = Sized<fovea_value_info>();
  ASSERT_EQ(fovea_program_value(Model().model, 1, d.state, &info), FOVEA_OK);
  EXPECT_EQ(info.role, static_cast<uint32_t>(FOVEA_ROLE_INPUT));
  EXPECT_EQ(info.carried_by, d.next_state);
  ASSERT_EQ(fovea_program_value(Model().model, 1, d.token, &info), FOVEA_OK);
  EXPECT_EQ(info.carried_by, FOVEA_NONE);
}

}  // namespace
}  // namespace fovea::test
