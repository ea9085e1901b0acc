// Few rows, several workers: all work on the same rows, by columns and heads, with the bits of one worker.
#include <algorithm>
#include <atomic>

#include "runtime/blob/attributes.h"
#include "tests/session/guarded_session.h"
#include "tests/session/runners.h"
#include "tests/support/fewer_cases.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

using Results = std::vector<std::vector<float>>;

bool SameBits(const Results& a, const Results& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size() || memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(float)) != 0) return false;
  }
  return true;
}

// An encoder wide enough to be shared, whose heads, columns and layers do not divide evenly by most numbers of workers.
struct Wide {
  explicit Wide(DType type = DType::kI8, uint32_t backend = FOVEA_BACKEND_DEFAULT, const Attributes& pattern = {})
      : encoder(BuildTinyEncoder(builder, type, 2, 192, 6, 448, 50, 64, pattern)), model(builder.Blob(), backend) {}
  ModelBuilder builder{7};
  TinyEncoder encoder;
  TestModel model;
};

struct Bound {
  Bound(const Wide& wide, fovea_session_options options, const std::vector<uint32_t>& lengths) : encoder(wide.encoder) {
    const std::vector<fovea_limit> limits = {{encoder.texts, 8, 0}, {encoder.tokens, 64, 0}};
    options.struct_size = sizeof(options);
    options.limits = limits.data();
    options.limit_count = 2;
    session = std::make_unique<TestSession>(wide.model, options);
    uint32_t rows = 0;
    for (const uint32_t length : lengths) rows += length;
    session->SetSegments(encoder.tokens, lengths);
    session->SetInput(encoder.ids, RandomIds(rows, 50, rows));
  }
  Results Run() {
    session->Run();
    return Read();
  }
  Results Read() const { return {session->Output(encoder.hidden), session->Output(encoder.classes)}; }
  const TinyEncoder& encoder;
  std::unique_ptr<TestSession> session;
};

fovea_session_options Workers(uint32_t workers) {
  fovea_session_options options = {};
  options.workers = workers;
  return options;
}

const std::vector<std::vector<uint32_t>> kTexts = {{2}, {5, 0, 12}, {63}};

// How many workers, besides one. Threads that spin on an emulated processor are most of what these tests cost: where
// there are fewer cases two, an odd number, and more than the encoder has heads.
std::vector<uint32_t> WorkerCounts() {
  if (FewerCases()) return {2, 3, 8};
  return {2, 3, 4, 5, 6, 7, 8};
}

TEST(FewRows, SameBitsForAnyWorkersWithAndWithoutBarrier) {
  uint32_t number = 0;  // index of the combination of type, backend and texts
  for (const DType type : {DType::kF32, DType::kF16, DType::kI8, DType::kI4}) {
    ++number;  // each type starts at the other parity
    for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
      const Wide wide(type, backend);
      for (const std::vector<uint32_t>& lengths : kTexts) {
        if (FewerCases() && ++number % 2 != 0) continue;  // still every two of them together
        const Results expected = Bound(wide, Workers(1), lengths).Run();
        for (const uint32_t workers : WorkerCounts()) {
          fovea_session_options options = Workers(workers);
          ShufflingRunner shuffling;
          shuffling.Join(&options);
          EXPECT_TRUE(SameBits(Bound(wide, options, lengths).Run(), expected)) << workers << " shuffled";
          MeetingRunner meeting(workers);
          meeting.Join(&options);
          Bound bound(wide, options, lengths);
          for (int round = 0; round < 2; ++round) {
            EXPECT_TRUE(SameBits(bound.Run(), expected)) << "type " << static_cast<int>(type) << " backend " << backend
                                                         << " workers " << workers << " rows " << lengths[0];
          }
        }
      }
    }
  }
}

// Without a barrier, about four stages a layer are as many calls of the runner; with one, a run is one call. Stages
// that cost less than waking a worker run on the caller, as do operations at the end that only the caller needs.
TEST(FewRows, TheRunnerIsCalledWhereThereIsWorkForOthers) {
  const Wide wide;
  const auto calls = [&](uint32_t rows, bool barrier) {
    fovea_session_options options = Workers(2);
    ShufflingRunner shuffling;
    MeetingRunner meeting(2);
    if (barrier) {
      meeting.Join(&options);
    } else {
      shuffling.Join(&options);
    }
    Bound(wide, options, {rows}).Run();
    return barrier ? meeting.calls : shuffling.calls;
  };
  EXPECT_EQ(calls(40, true), 1u);
  EXPECT_EQ(calls(16, true), 1u);
  EXPECT_EQ(calls(1, false), 0u);
  // Stages of one layer: queries | attention | projection, sum | norm, wide middle | its end, sum | norm, keys and
  // values. The last layer has one less, because its norm runs on the caller.
  EXPECT_EQ(calls(12, false), 6u + 5u);

  ModelBuilder b;
  const TinyEncoder narrow = BuildTinyEncoder(b, DType::kF32);
  const TestModel model(b.Blob());
  fovea_session_options options = Options({}, 4);
  const std::vector<fovea_limit> limits = {{narrow.texts, 1, 0}, {narrow.tokens, 16, 0}};
  options.limits = limits.data();
  options.limit_count = 2;
  MeetingRunner meeting(4);
  meeting.Join(&options);
  TestSession session(model, options);
  session.SetSegments(narrow.tokens, {16});
  session.SetInput(narrow.ids, RandomIds(16, 50, 1));
  session.Run();
  EXPECT_EQ(meeting.calls, 0u);
}

TEST(FewRows, InPiecesAndKeptAndTapped) {
  Wide wide;
  std::vector<uint32_t> keep(wide.builder.content().programs[0].values.size());
  std::iota(keep.begin(), keep.end(), 0);
  std::vector<fovea_tap> taps = {TapOf(wide.encoder.attention_steps[0]), TapOf(wide.encoder.attention_steps[1])};
  taps[1].reduce = FOVEA_REDUCE_MEAN;
  const auto run = [&](fovea_session_options options) {
    options.keep = keep.data();
    options.keep_count = static_cast<uint32_t>(keep.size());
    options.taps = taps.data();
    options.tap_count = 2;
    Bound bound(wide, options, {23});
    fovea_error error = {};
    EXPECT_EQ(fovea_session_begin(bound.session->session, &error), FOVEA_OK);
    for (uint32_t left = 1; left > 0;) {
      EXPECT_EQ(fovea_session_advance(bound.session->session, 1, &left, &error), FOVEA_OK) << error.text;
    }
    Results results;
    for (const uint32_t value : keep) results.push_back(bound.session->Output(value));
    for (uint32_t tap = 0; tap < 2; ++tap) {
      fovea_attention_map weights = Sized<fovea_attention_map>();
      EXPECT_EQ(fovea_session_get_attention_map(bound.session->session, tap, &weights, &error), FOVEA_OK) << error.text;
      for (uint32_t line = 0; line < weights.rows * weights.heads; ++line) {
        const float* first = weights.data + size_t{line} * weights.stride;
        results.emplace_back(first, first + 23);
      }
    }
    return results;
  };
  const Results expected = run(Workers(1));
  for (const uint32_t workers : {2u, 3u, 8u}) {
    fovea_session_options options = Workers(workers);
    ShufflingRunner shuffling;
    shuffling.Join(&options);
    EXPECT_TRUE(SameBits(run(options), expected)) << workers;
    MeetingRunner meeting(workers);
    meeting.Join(&options);
    EXPECT_TRUE(SameBits(run(options), expected)) << workers;
  }
}

fovea_session* cancelled_session;
std::atomic<uint32_t> ticks_left;
uint64_t CancellingClock() {
  if (ticks_left.fetch_sub(1) == 1) fovea_session_cancel(cancelled_session);
  return 1;
}

// Any worker may notice the cancellation first, in any step: no worker waits for the ones that have stopped.
TEST(FewRows, ACancelledRunEndsAndTheNextOneIsWhole) {
  const Wide wide;
  const Results expected = Bound(wide, Workers(1), {20}).Run();
  for (const uint32_t workers : {2u, 4u}) {
    fovea_session_options options = Workers(workers);
    MeetingRunner meeting(workers);
    meeting.Join(&options);
    options.clock = CancellingClock;
    Bound bound(wide, options, {20});
    cancelled_session = bound.session->session;
    for (uint32_t ticks = 1; ticks < 60; ticks += FewerCases() ? 7 : 3) {
      ticks_left = ticks;
      fovea_error error = {};
      EXPECT_EQ(fovea_session_run(bound.session->session, &error), FOVEA_E_CANCELLED) << ticks;
      ticks_left = UINT32_MAX;
      EXPECT_TRUE(SameBits(bound.Run(), expected)) << ticks;
    }
  }
}

TEST(FewRows, NothingIsWrittenBeyondExactMemory) {
  const Wide wide;
  const std::vector<fovea_limit> limits = {{wide.encoder.texts, 1, 0}, {wide.encoder.tokens, 63, 0}};
  for (const uint32_t tile_rows : {0u, 16u, 63u}) {
    for (const uint32_t workers : {1u, 2u, 3u, 5u}) {
      fovea_session_options options = Options(limits, workers, tile_rows);
      MeetingRunner meeting(workers);
      meeting.Join(&options);
      const GuardedSession session(wide.model, options);
      fovea_error error = {};
      for (const uint32_t rows : {1u, 16u, 63u}) {
        ASSERT_EQ(fovea_session_set_segments(session.get(), wide.encoder.tokens, &rows, 1, &error), FOVEA_OK);
        fovea_view view = {};
        ASSERT_EQ(fovea_session_get_input(session.get(), wide.encoder.ids, &view, &error), FOVEA_OK);
        memset(view.data, 0, rows * sizeof(int32_t));
        ASSERT_EQ(fovea_session_run(session.get(), &error), FOVEA_OK);
        session.ExpectCanaries();
      }
    }
  }
}

TEST(FewRows, ABarrierNeedsARunner) {
  const Wide wide;
  const std::vector<fovea_limit> limits = {{wide.encoder.texts, 1, 0}, {wide.encoder.tokens, 63, 0}};
  fovea_session_options options = Options(limits, 2);
  options.barrier = MeetingRunner::Barrier;
  fovea_session_memory sizes = {};
  sizes.struct_size = sizeof(sizes);
  fovea_error error = {};
  EXPECT_EQ(fovea_session_size(wide.model.model, &options, &sizes, &error), FOVEA_E_OPTION);
}

// Programs without sense of operations that workers share in every way, with values that are read at once and much
// later, so that memory changes its values wherever the plan lets it; with every other seed some rows that the run
// selects, and a layer of them.
class RandomRows {
 public:
  explicit RandomRows(uint32_t seed) : b(seed), random_(seed) {
    texts_ = b.Space("texts");
    tokens = b.Space("tokens", texts_);
    best_ = b.SelectedSpace("best", tokens, 33);
    for (int i = 0; i < 2; ++i) values_.push_back(b.Input("x" + std::to_string(i), tokens, kWidth));
    for (uint32_t i = 0; i < 30; ++i) {
      if (i == 12 && seed % 2 == 0) LayerOfSome();
      Add();
    }
    for (size_t i = 2; i < values_.size(); ++i) {
      if (i + 1 == values_.size() || Below(8) == 0) b.SetOutput(values_[i]), outputs.push_back(values_[i]);
    }
  }
  ModelBuilder b;
  uint32_t tokens;
  std::vector<uint32_t> outputs;
  static constexpr uint32_t kWidth = 160;

 private:
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  // Prefers a late value.
  uint32_t Pick() {
    const auto count = static_cast<uint32_t>(values_.size());
    return values_[Below(3) == 0 ? Below(count) : count - 1 - std::min(Below(3), count - 1)];
  }
  uint32_t Linear(uint32_t x, uint32_t space, uint32_t width = kWidth) {
    return b.Op("linear", {x}, {b.RandomTensor(width, kWidth, DType::kF32, 0.08f)}, space, width);
  }
  // A layer over the rows that score best; their mean is added to all rows.
  void LayerOfSome() {
    const uint32_t x = Pick(), scores = Linear(x, tokens, 1);
    const uint32_t rows = b.Op("select", {scores}, {}, best_, 1, {{Attribute::kKind, 2}});
    const uint32_t taken = b.Op("gather", {x, rows}, {}, best_, kWidth);
    const uint32_t q = Linear(taken, best_), k = Linear(taken, best_), v = Linear(taken, best_);
    const uint32_t seen = b.Op("attention", {q, k, v}, {}, best_, kWidth, {{Attribute::kHeads, 5}});
    const uint32_t sum = b.Op("add", {taken, Linear(seen, best_)}, {}, best_, kWidth);
    const uint32_t mean = b.Op("pool", {sum}, {}, texts_, kWidth, {{Attribute::kKind, 2}});
    values_.push_back(b.Op("broadcast", {mean}, {}, tokens, kWidth));
    outputs.push_back(sum);
    b.SetOutput(sum);
  }
  uint32_t Attention() {
    const Attributes patterns[] = {{},
                                   {{Attribute::kPattern, 1}, {Attribute::kLeft, 3}, {Attribute::kRight, 2}},
                                   {{Attribute::kPattern, 2}, {Attribute::kGlobalFirst, 1}},
                                   {{Attribute::kTopK, 5}, {Attribute::kCausal, 1}},
                                   {{Attribute::kChunk, 4}, {Attribute::kChunksBefore, 1}}};
    Attributes attributes = patterns[Below(5)];
    const uint32_t q = Pick();
    uint32_t k = Pick(), v = Pick();
    attributes.emplace_back(Attribute::kHeads, 10);
    if (Below(2) == 0) {
      k = Linear(k, tokens, kWidth / 2), v = Linear(v, tokens, kWidth / 2);
      attributes.emplace_back(Attribute::kKvHeads, 5);
    }
    return b.Op("attention", {q, k, v}, {}, tokens, kWidth, attributes);
  }
  uint32_t Next() {
    const uint32_t x = Pick(), y = Pick();
    switch (Below(9)) {
      case 0:
        return b.Op("norm", {x}, {}, tokens, kWidth);
      case 1:
        return b.Op("activate", {x}, {}, tokens, kWidth, {{Attribute::kActivation, 5}});
      case 2:
        return b.Op("gate", {x, y}, {}, tokens, kWidth);
      case 3:
      case 4:
        return b.Op("add", {x, y}, {}, tokens, kWidth);
      case 5:
        return Attention();
      default:
        return Linear(x, tokens);
    }
  }
  void Add() { values_.push_back(Next()); }

  std::mt19937 random_;
  uint32_t texts_, best_;
  std::vector<uint32_t> values_;
};

TEST(FewRows, RandomPrograms) {
  const uint32_t seeds = FewerCases() ? 8 : 40;
  uint32_t shared = 0;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    RandomRows program(seed);
    const TestModel model(program.b.Blob(), seed % 2 == 0 ? FOVEA_BACKEND_DEFAULT : FOVEA_BACKEND_HIGHWAY);
    const std::vector<fovea_limit> limits = {{program.tokens, 40, 0}};
    const auto run = [&](const fovea_session_options& options) {
      TestSession session(model, options);
      session.SetSegments(program.tokens, {40});
      ModelBuilder floats(3);
      for (uint32_t i = 0; i < 2; ++i) session.SetInput(i, floats.RandomFloats(40 * RandomRows::kWidth));
      Results results;
      for (int round = 0; round < 2; ++round) session.Run();
      for (const uint32_t v : program.outputs) results.push_back(session.Output(v));
      return results;
    };
    const Results expected = run(Options(limits));
    for (const uint32_t workers : {2u, 3u, 5u}) {
      fovea_session_options options = Options(limits, workers);
      ShufflingRunner shuffling;
      shuffling.Join(&options);
      EXPECT_TRUE(SameBits(run(options), expected)) << "seed " << seed << " workers " << workers << " shuffled";
      MeetingRunner meeting(workers);
      meeting.Join(&options);
      EXPECT_TRUE(SameBits(run(options), expected)) << "seed " << seed << " workers " << workers;
      shared += meeting.calls;
    }
  }
  EXPECT_GT(shared, seeds * 5 / 2);
}

// More workers join a phase that the first worker began alone: they keep nothing of an earlier run.
TEST(FewRows, APhaseThatTheFirstWorkerBegins) {
  constexpr uint32_t kWidth = 192, kRows = 16;
  ModelBuilder b(11);
  const uint32_t tokens = b.Space("tokens", b.Space("texts"));
  const uint32_t x = b.Input("x", tokens, 3 * kWidth), state = b.Input("h", tokens, kWidth);
  const uint32_t h = b.Op("cell", {x, state}, {b.RandomTensor(3 * kWidth, kWidth, DType::kI8)}, tokens, kWidth);
  const uint32_t y = b.Op("linear", {h}, {b.RandomTensor(1024, kWidth, DType::kI8)}, tokens, 1024);
  b.SetOutput(y);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{tokens, kRows, 0}};
  const auto run = [&](const fovea_session_options& options) {
    TestSession session(model, options);
    session.SetSegments(tokens, {kRows});
    ModelBuilder floats(5);
    Results results;
    for (int round = 0; round < 3; ++round) {
      session.SetInput(x, floats.RandomFloats(kRows * 3 * kWidth));
      session.SetInput(state, floats.RandomFloats(kRows * kWidth));
      session.Run();
      results.push_back(session.Output(y));
    }
    return results;
  };
  const Results expected = run(Options(limits));
  fovea_session_options options = Options(limits, 2);
  ShufflingRunner shuffling;
  shuffling.Join(&options);
  EXPECT_TRUE(SameBits(run(options), expected));
  EXPECT_EQ(shuffling.calls, 3u);
  MeetingRunner meeting(2);
  meeting.Join(&options);
  EXPECT_TRUE(SameBits(run(options), expected));
}

// Experts whose products are shared by whole parts, by columns, and (an odd width) not within a part.
TEST(FewRows, Experts) {
  constexpr uint32_t kWidth = 128, kRows = 9;
  for (const DType type : {DType::kF32, DType::kI8, DType::kI4}) {
    for (const uint32_t middle : {192u, 96u}) {
      ModelBuilder b(11);
      const uint32_t tokens = b.Space("tokens", b.Space("texts"));
      const uint32_t x = b.Input("x", tokens, kWidth);
      const auto experts = [&](uint32_t of, uint32_t scores, uint32_t kind, uint32_t read, uint32_t made) {
        return b.Op("experts", {of, scores}, {b.RandomTensor(5 * made, read, type), b.RandomTensor(1, 5 * made)},
                    tokens, kind == 0 ? 3 * made : made,
                    {{Attribute::kKind, kind}, {Attribute::kExperts, 5}, {Attribute::kTopK, 3}});
      };
      const uint32_t scores = b.Op("linear", {x}, {b.RandomTensor(5, kWidth)}, tokens, 5);
      const uint32_t gate = experts(x, scores, 0, kWidth, middle), up = experts(x, scores, 0, kWidth, middle);
      const uint32_t both = b.Op("gate", {gate, up}, {}, tokens, 3 * middle, {{Attribute::kActivation, 4}});
      const uint32_t y = b.Op("add", {x, experts(both, scores, 2, middle, kWidth)}, {}, tokens, kWidth);
      b.SetOutput(y);
      const TestModel model(b.Blob());
      const std::vector<fovea_limit> limits = {{tokens, kRows, 0}};
      for (const uint32_t rows : {1u, 2u, kRows}) {
        const auto run = [&](const fovea_session_options& options) {
          TestSession session(model, options);
          session.SetSegments(tokens, {rows});
          session.SetInput(x, ModelBuilder(5).RandomFloats(rows * kWidth));
          for (int round = 0; round < 2; ++round) session.Run();
          return Results{session.Output(y)};
        };
        const Results expected = run(Options(limits));
        for (const uint32_t workers : WorkerCounts()) {
          fovea_session_options options = Options(limits, workers);
          ShufflingRunner shuffling;
          shuffling.Join(&options);
          EXPECT_TRUE(SameBits(run(options), expected)) << rows << " rows, " << workers << " workers shuffled";
          MeetingRunner meeting(workers);
          meeting.Join(&options);
          EXPECT_TRUE(SameBits(run(options), expected)) << rows << " rows, " << workers << " workers";
          EXPECT_EQ(meeting.calls, rows * middle >= 2 * 192 ? 2u : meeting.calls);
        }
      }
    }
  }
}

// One long sequence, or two, in both directions: workers with a barrier share each step's products.
TEST(FewRows, RecurrentLayersTogether) {
  constexpr uint32_t kWidth = 224, kRows = 21;
  struct Cell {
    uint32_t gates;
    Attributes attributes;
  };
  const Cell cells[] = {{4, {{Attribute::kCell, 1}}}, {3, {}}, {3, {{Attribute::kResetAfter, 0}}}};
  for (const Cell& cell : cells) {
    ModelBuilder b(11);
    const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts), gates = cell.gates * kWidth;
    const uint32_t x = b.Input("x", tokens, gates);
    Attributes backward = cell.attributes;
    backward.emplace_back(Attribute::kReverse, 1);
    std::vector<uint32_t> outputs;
    for (const Attributes& attributes : {cell.attributes, backward}) {
      outputs.push_back(
          b.Op("recurrent", {x}, {b.RandomTensor(gates, kWidth, DType::kI8)}, tokens, kWidth, attributes));
      b.SetOutput(outputs.back());
    }
    const TestModel model(b.Blob());
    const std::vector<fovea_limit> limits = {{texts, 2, 0}, {tokens, kRows, 0}};
    for (const std::vector<uint32_t>& lengths : {std::vector<uint32_t>{kRows}, {8, 13}}) {
      const auto run = [&](const fovea_session_options& options) {
        TestSession session(model, options);
        session.SetSegments(tokens, lengths);
        session.SetInput(x, ModelBuilder(5).RandomFloats(kRows * gates));
        for (int round = 0; round < 2; ++round) session.Run();
        return Results{session.Output(outputs[0]), session.Output(outputs[1])};
      };
      const Results expected = run(Options(limits));
      for (const uint32_t workers : {2u, 3u, 5u, 8u}) {
        fovea_session_options options = Options(limits, workers);
        ShufflingRunner shuffling;
        shuffling.Join(&options);
        EXPECT_TRUE(SameBits(run(options), expected)) << workers << " shuffled";
        MeetingRunner meeting(workers);
        meeting.Join(&options);
        EXPECT_TRUE(SameBits(run(options), expected)) << "gates " << cell.gates << " workers " << workers;
      }
    }
  }
}

}  // namespace
}  // namespace fovea::test
