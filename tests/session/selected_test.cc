// Spaces derived from rows that a run selects: the tokens of chosen sentences, with a separate encoder.
#include <math.h>

#include <algorithm>

#include "runtime/blob/attributes.h"
#include "tests/session/guarded_session.h"
#include "tests/session/runners.h"
#include "tests/support/heap_trap.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

constexpr uint32_t kWidth = 16;

// The sentences of each document that score best by a caller's number, two of them or those above zero; an encoder over
// their tokens; their vectors, and the documents'.
struct CoarseToFine {
  uint32_t documents, sentences, tokens, best, fine, longer, ids, scores, rows, of_rows, seen, pooled, top, back;
  uint32_t seen_step = 0;  // the attention of the first layer
};
CoarseToFine BuildCoarseToFine(ModelBuilder& b, bool threshold = false) {
  CoarseToFine t{};
  t.documents = b.Space("documents");
  t.sentences = b.Space("sentences", t.documents);
  t.tokens = b.Space("tokens", t.sentences);
  t.best = b.SelectedSpace("best", t.sentences, 2);
  t.fine = b.ExpandedSpace("fine", t.tokens, t.best);
  t.longer = b.ExtendedSpace("longer", t.fine, 1);
  t.ids = b.Input("ids", t.tokens, 1, DType::kI32);
  t.scores = b.Input("scores", t.sentences, 1);
  const auto linear = [&](uint32_t x, uint32_t space) {
    return b.Op("linear", {x}, {b.RandomTensor(kWidth, kWidth, DType::kI8)}, space, kWidth);
  };
  t.rows = b.Op("select", {t.scores}, {}, t.best, 1, {{Attribute::kKind, threshold ? 1 : 2}});
  t.of_rows = b.Op("expand", {t.rows}, {}, t.fine, 1);
  const uint32_t ids = b.Op("gather", {t.ids, t.of_rows}, {}, t.fine, 1);
  const uint32_t words = b.Op("embed", {ids}, {b.RandomTensor(50, kWidth)}, t.fine, kWidth);
  const uint32_t placed = b.Op("position", {words}, {b.RandomTensor(64, kWidth)}, t.fine, kWidth);
  uint32_t x = b.Op("prepend", {placed}, {b.RandomTensor(1, kWidth)}, t.longer, kWidth);
  for (uint32_t layer = 0; layer < 2; ++layer) {
    const uint32_t q = linear(x, t.longer), k = linear(x, t.longer), v = linear(x, t.longer);
    if (layer == 0) t.seen_step = static_cast<uint32_t>(b.content().programs.back().operations.size());
    t.seen = b.Op("attention", {q, k, v}, {}, t.longer, kWidth, {{Attribute::kHeads, 4}});
    x = b.Op("add", {x, linear(t.seen, t.longer)}, {}, t.longer, kWidth);
  }
  t.pooled = b.Op("pool", {x}, {}, t.best, kWidth);
  const uint32_t all = b.Op("attention", {t.pooled, t.pooled, t.pooled}, {}, t.best, kWidth);
  t.top = b.Op("pool", {all}, {}, t.documents, kWidth, {{Attribute::kKind, 2}});
  const uint32_t number = b.Op("linear", {t.pooled}, {b.RandomTensor(1, kWidth)}, t.best, 1);
  t.back = b.Op("merge", {t.scores, number, t.rows}, {}, t.sentences, 1);
  for (const uint32_t value : {t.rows, t.of_rows, t.seen, t.pooled, t.top, t.back}) b.SetOutput(value);
  return t;
}

using Bits = std::vector<std::vector<int32_t>>;
Bits OutputsOf(const TestSession& session, const CoarseToFine& t) {
  Bits bits;
  for (const uint32_t value : {t.rows, t.of_rows, t.seen, t.pooled, t.top, t.back}) {
    bits.push_back(session.Indices(value));
  }
  return bits;
}

TEST(Selected, ChildrenOfSelectedRowsGiveTheSameBits) {
  ModelBuilder b;
  const CoarseToFine t = BuildCoarseToFine(b);
  const TestModel model(b.Blob());
  const Lengths of_documents = {5, 0, 1, 4}, of_sentences = {7, 0, 1, 30, 2, 9, 5, 0, 11, 64};
  const std::vector<float> scores = {1, 5, 0, 4, 2, 0, -1, 3, 2, 1};
  const std::vector<int32_t> ids = RandomIds(129, 50, 1);
  const std::vector<fovea_limit> limits = {{t.documents, 4, 0}, {t.sentences, 10, 0}, {t.tokens, 129, 0}};
  std::vector<std::vector<float>> weights;
  const auto run = [&](fovea_session_options options) {
    fovea_tap tap = TapOf(t.seen_step);  // attention over the chosen sentences' tokens
    options.taps = &tap;
    options.tap_count = 1;
    TestSession session(model, options);
    session.SetSegments(t.sentences, of_documents);
    session.SetSegments(t.tokens, of_sentences);
    session.SetInput(t.ids, ids);
    session.SetInput(t.scores, scores);
    session.Run();
    EXPECT_EQ(session.Indices(t.rows), (std::vector<int32_t>{1, 3, 5, 7, 8}));
    EXPECT_EQ(session.Segments(t.best), (Lengths{2, 0, 1, 2}));
    EXPECT_EQ(session.Segments(t.fine), (Lengths{0, 30, 9, 0, 11}));
    EXPECT_EQ(session.Segments(t.longer), (Lengths{1, 31, 10, 1, 12}));
    fovea_attention_map view = Sized<fovea_attention_map>();
    fovea_error error = {};
    EXPECT_EQ(fovea_session_get_attention_map(session.session, 0, &view, &error), FOVEA_OK) << error.text;
    EXPECT_EQ(view.rows, 55u);
    weights.emplace_back(view.data, view.data + uint64_t{view.rows} * view.heads * view.stride);
    return OutputsOf(session, t);
  };
  ExpectOneResult(limits, b.content().programs[0].values.size(), run);
}

// The fine encoder gives the results for a document of the chosen sentences only.
TEST(Selected, SentencesThatAreNotChosenChangeNothing) {
  ModelBuilder b;
  const CoarseToFine t = BuildCoarseToFine(b);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{t.documents, 1, 0}, {t.sentences, 600, 0}, {t.tokens, 6000, 0}};
  const auto run = [&](const Lengths& lengths, const std::vector<float>& scores, const std::vector<int32_t>& ids) {
    TestSession session(model, Options(limits));
    session.SetSegments(t.sentences, {static_cast<uint32_t>(lengths.size())});
    session.SetSegments(t.tokens, lengths);
    session.SetInput(t.ids, ids);
    session.SetInput(t.scores, scores);
    session.Run();
    return std::make_pair(session.Output(t.pooled), session.Output(t.top));
  };
  const std::vector<int32_t> ids = RandomIds(6000, 50, 7);
  Lengths lengths(600, 10);
  std::vector<float> scores(600, 0);
  scores[77] = scores[400] = 1;
  std::vector<int32_t> chosen(ids.begin() + 770, ids.begin() + 780);
  chosen.insert(chosen.end(), ids.begin() + 4000, ids.begin() + 4010);
  EXPECT_EQ(run(lengths, scores, ids), run({10, 10}, {1, 1}, chosen));
}

TEST(Selected, RowsAreThoseOfOneRun) {
  ModelBuilder b;
  const CoarseToFine t = BuildCoarseToFine(b, true);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{t.documents, 3, 0}, {t.sentences, 6, 0}, {t.tokens, 20, 0}};
  TestSession session(model, Options(limits));
  const uint32_t* offsets = nullptr;
  uint32_t count = 0, left = 0;
  fovea_error error = {};
  const auto known = [&] {
    std::vector<fovea_status> statuses;
    for (const uint32_t space : {t.best, t.fine, t.longer}) {
      statuses.push_back(fovea_session_get_segments(session.session, space, &offsets, &count, &error));
    }
    return statuses;
  };
  const std::vector<fovea_status> none(3, FOVEA_E_ORDER), all(3, FOVEA_OK);
  const uint32_t two[] = {1, 1};
  for (const uint32_t space : {t.best, t.fine, t.longer}) {
    EXPECT_EQ(fovea_session_set_segments(session.session, space, two, 2, &error), FOVEA_E_INDEX);
  }
  session.SetSegments(t.sentences, {2, 1});
  session.SetSegments(t.tokens, {4, 5, 1});
  EXPECT_EQ(known(), none);
  session.SetInput(t.ids, RandomIds(10, 50, 1));
  session.SetInput(t.scores, std::vector<float>{-1, 1, 1});
  session.Run();
  EXPECT_EQ(known(), all);
  EXPECT_EQ(session.Segments(t.best), (Lengths{1, 1}));
  EXPECT_EQ(session.Segments(t.longer), (Lengths{6, 2}));
  const std::vector<float> before = session.Output(t.top);
  // Nothing is selected: no rows below, and documents are zeros.
  session.SetInput(t.scores, std::vector<float>{-1, -2, 0});
  ASSERT_EQ(fovea_session_begin(session.session, &error), FOVEA_OK);
  EXPECT_EQ(known(), none);
  ASSERT_EQ(fovea_session_advance(session.session, UINT32_MAX, &left, &error), FOVEA_OK);
  EXPECT_EQ(known(), all);
  EXPECT_EQ(session.Segments(t.best), (Lengths{0, 0}));
  EXPECT_TRUE(session.Segments(t.fine).empty());
  EXPECT_TRUE(session.Output(t.seen).empty());
  EXPECT_EQ(session.Output(t.top), std::vector<float>(2 * kWidth, 0.0f));
  EXPECT_EQ(session.Output(t.back), (std::vector<float>{-1, -2, 0}));
  // New segments invalidate the selection; the same numbers give the same result.
  session.SetSegments(t.tokens, {4, 5, 1});
  EXPECT_EQ(known(), none);
  session.SetInput(t.scores, std::vector<float>{-1, 1, 1});
  session.Run();
  EXPECT_EQ(session.Output(t.top), before);
  // Two are allowed and three qualify: refused at the selection, and the session can still be used.
  session.SetSegments(t.sentences, {3});
  session.SetInput(t.scores, std::vector<float>{1, 1, 1});
  EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_E_ROWS);
  EXPECT_EQ(error.step, 0u);
  EXPECT_EQ(known(), none);
  // Ids of sentences that are not chosen are checked as well.
  session.SetInput(t.scores, std::vector<float>{0, 0, 0});
  session.SetInput(t.ids, std::vector<int32_t>(10, 50));
  EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_E_ID);
  session.SetInput(t.ids, std::vector<int32_t>(10, 49));
  session.SetSegments(t.sentences, {3});
  session.Run();
  // No sentences at all.
  session.SetSegments(t.sentences, {});
  session.SetSegments(t.tokens, {});
  session.Run();
  EXPECT_EQ(known(), all);
}

// Canaries around blocks of exactly the needed size, with limits filled as far as they go.
TEST(Selected, NeedExactlyTheirMemory) {
  ModelBuilder b;
  const CoarseToFine t = BuildCoarseToFine(b);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{t.documents, 2, 0}, {t.sentences, 6, 0}, {t.tokens, 20, 0}};
  const GuardedSession guarded(model, Options(limits, 2, 4));
  fovea_session* const session = guarded.get();
  ASSERT_NE(session, nullptr);
  fovea_error error = {};
  uint64_t calls = 0;
  struct Shape {
    Lengths of_documents, of_sentences;
  };
  for (const Shape& shape : {Shape{{3, 3}, {1, 1, 1, 15, 1, 1}},
                             {{6, 0}, {3, 3, 3, 3, 4, 4}},
                             {{1, 1}, {10, 10}},
                             {{1}, {20}},
                             {{2, 2}, {5, 5, 5, 5}},
                             {{0, 6}, {20, 0, 0, 0, 0, 0}}}) {
    for (uint32_t turn = 0; turn < 3; ++turn) {
      fovea::testing::HeapTrap trap;
      fovea_session_set_segments(session, t.sentences, shape.of_documents.data(),
                                 static_cast<uint32_t>(shape.of_documents.size()), &error);
      fovea_session_set_segments(session, t.tokens, shape.of_sentences.data(),
                                 static_cast<uint32_t>(shape.of_sentences.size()), &error);
      fovea_view view;
      fovea_session_get_input(session, t.ids, &view, &error);
      for (uint32_t i = 0; i < view.rows; ++i) static_cast<int32_t*>(view.data)[i] = static_cast<int32_t>(i % 50);
      fovea_session_get_input(session, t.scores, &view, &error);
      for (uint32_t i = 0; i < view.rows; ++i) {
        static_cast<float*>(view.data)[i] = static_cast<float>((i * 7919 + turn * 31) % 64);
      }
      if (fovea_session_run(session, &error) != FOVEA_OK) ++calls;
      calls += trap.calls();
    }
  }
  EXPECT_EQ(calls, 0u);
  guarded.ExpectCanaries();
}

// The most rows below `most` of each of `documents` rows of sentences, against every way to bind the limits.
TEST(Selected, LimitsAreExact) {
  for (const uint32_t most : {0u, 1u, 2u, 5u}) {
    ModelBuilder b;
    const uint32_t documents = b.Space("documents"), sentences = b.Space("sentences", documents);
    const uint32_t tokens = b.Space("tokens", sentences), best = b.SelectedSpace("best", sentences, most);
    const uint32_t fine = b.ExpandedSpace("fine", tokens, best), scores = b.Input("scores", sentences, 1);
    const uint32_t x = b.Input("x", tokens, 1), rows = b.Op("select", {scores}, {}, best, 1);
    b.SetOutput(rows);
    b.SetOutput(b.Op("expand", {rows}, {}, fine, 1));
    (void)x;
    const TestModel model(b.Blob());
    for (const uint32_t of_documents : {1u, 3u}) {
      for (const uint32_t of_sentences : {1u, 4u, 7u}) {
        for (const uint32_t longest : {1u, 16u, 64u}) {
          const uint32_t all = 100;
          const std::vector<fovea_limit> limits = {
              {documents, of_documents, 0}, {sentences, of_sentences, 0}, {tokens, all, longest}};
          const TestSession session(model, Options(limits));
          fovea_session_info info = {};
          info.struct_size = sizeof(info);
          ASSERT_EQ(fovea_session_get_info(session.session, &info), FOVEA_OK);
          const uint64_t chosen = most == 0 ? of_sentences : std::min(of_sentences, most * of_documents);
          const uint64_t below = std::min<uint64_t>(all, chosen * longest);
          const auto bytes = [](uint64_t count) { return (count * 4 + 128 + 63) / 64 * 64; };
          EXPECT_EQ(info.value_bytes, bytes(chosen) + bytes(below)) << most << " of " << of_sentences;
        }
      }
    }
  }
}

// Memory is for the part of each segment that a selection takes, and that fits however rows are divided into segments.
TEST(Selected, AShareBoundsWhatASessionReserves) {
  const uint32_t all = 97;
  std::vector<Lengths> divisions = {{all}, {all - 1, 1}, {0, all, 0}, {33, 31, 33}};
  for (const uint32_t length : {1u, 2u, 3u, 4u, 10u, 11u}) {
    divisions.emplace_back(all / length, length);
    divisions.back().push_back(all % length);
  }
  for (const float share : {0.99f, 0.5f, 0.34f, 0.1f, 1e-6f}) {
    const auto most = [&](uint32_t rows) { return static_cast<uint32_t>(ceilf(share * static_cast<float>(rows))); };
    ModelBuilder b;
    const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts), best = b.SelectedSpace("best", tokens);
    const uint32_t x = b.Input("x", tokens, 1);
    const uint32_t rows = b.Op("select", {x}, {}, best, 1, {{Attribute::kKind, 2}, {Attribute::kShare, share}});
    const uint32_t taken = b.Op("gather", {x, rows}, {}, best, 1);
    for (const uint32_t value : {rows, taken}) b.SetOutput(value);
    const TestModel model(b.Blob());
    for (const Lengths& lengths : divisions) {
      const auto segments = static_cast<uint32_t>(lengths.size());
      const std::vector<fovea_limit> limits = {{texts, segments, 0}, {tokens, all, 0}};
      const GuardedSession guarded(model, Options(limits));
      fovea_session* const session = guarded.get();
      ASSERT_NE(session, nullptr);
      fovea_session_info info = {};
      info.struct_size = sizeof(info);
      ASSERT_EQ(fovea_session_get_info(session, &info), FOVEA_OK);
      const uint32_t room = std::min({all, segments * most(all), most(all) + segments + 1});
      const auto bytes = [](uint64_t count) { return (count * 4 + 128 + 63) / 64 * 64; };
      EXPECT_LE(info.value_bytes, 2 * bytes(room)) << share << " of " << segments;

      fovea_error error = {};
      ASSERT_EQ(fovea_session_set_segments(session, tokens, lengths.data(), segments, &error), FOVEA_OK) << error.text;
      fovea_view numbers, indices, values;
      fovea_session_get_input(session, x, &numbers, &error);
      for (uint32_t i = 0; i < all; ++i) static_cast<float*>(numbers.data)[i] = static_cast<float>(i * 37 % all);
      ASSERT_EQ(fovea_session_run(session, &error), FOVEA_OK) << error.text;
      uint32_t chosen = 0;
      for (const uint32_t length : lengths) chosen += most(length);
      ASSERT_EQ(fovea_session_get_output(session, rows, &indices, &error), FOVEA_OK) << error.text;
      ASSERT_EQ(fovea_session_get_output(session, taken, &values, &error), FOVEA_OK) << error.text;
      EXPECT_EQ(indices.rows, chosen);
      EXPECT_EQ(values.rows, chosen);
      // The two outputs do not overlap.
      for (uint32_t i = 0; i < chosen; ++i) {
        const uint32_t row = static_cast<const uint32_t*>(indices.data)[i];
        ASSERT_LT(row, all);
        ASSERT_EQ(static_cast<const float*>(values.data)[i], static_cast<float>(row * 37 % all));
      }
      guarded.ExpectCanaries();
    }
  }
}

}  // namespace
}  // namespace fovea::test
