// Rows below selected rows: the tokens of chosen sentences, and spaces derived from them.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

enum Kind : uint32_t { kNonzero, kThreshold, kBest };

// Offsets of consecutive segments.
std::vector<uint32_t> Offsets(const Lengths& lengths) {
  std::vector<uint32_t> offsets = {0};
  for (const uint32_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

// The `most` best rows of each segment (all distinct), ascending.
std::vector<uint32_t> BestRows(const std::vector<float>& scores, const Lengths& lengths, uint32_t most) {
  std::vector<uint32_t> all;
  uint32_t begin = 0;
  for (const uint32_t length : lengths) {
    std::vector<uint32_t> rows(length);
    std::iota(rows.begin(), rows.end(), begin);
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
    rows.resize(std::min<size_t>(rows.size(), most));
    std::sort(rows.begin(), rows.end());
    all.insert(all.end(), rows.begin(), rows.end());
    begin += length;
  }
  return all;
}

// Documents of sentences of tokens; the sentences with the best scores, and their tokens.
struct Documents {
  ModelBuilder b;
  uint32_t documents = b.Space("documents"), sentences = b.Space("sentences", documents);
  uint32_t tokens = b.Space("tokens", sentences), best, of_best;
  uint32_t ids, x, scores;
  explicit Documents(uint32_t most, uint32_t width = 3)
      : best(b.SelectedSpace("best", sentences, most)), of_best(b.ExpandedSpace("of_best", tokens, best)) {
    ids = b.Input("ids", tokens, 1, DType::kI32);
    x = b.Input("x", tokens, width);
    scores = b.Input("scores", sentences, 1);
  }
  uint32_t Select(uint32_t kind = kBest) { return b.Op("select", {scores}, {}, best, 1, {{Attribute::kKind, kind}}); }
  uint32_t Expand(uint32_t rows) { return b.Op("expand", {rows}, {}, of_best, 1); }
};

struct Shape {
  Lengths of_documents, of_sentences;
};
const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> all = {{{3, 0, 4, 1}, {2, 5, 0, 1, 20, 3, 0, 4}},
                                         {{1}, {1}},
                                         {{0, 0}, {}},
                                         {{2}, {0, 0}},
                                         {{5, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}};
  return all;
}

TEST(Expand, RowsAndIdsOfChosenSegments) {
  for (const Shape& shape : Shapes()) {
    for (const uint32_t most : {1u, 2u, 9u}) {
      Documents d(most);
      const uint32_t chosen = d.Select(), rows = d.Expand(chosen);
      const uint32_t taken = d.b.Op("gather", {d.x, rows}, {}, d.of_best, 3);
      const uint32_t ids = d.b.Op("gather", {d.ids, rows}, {}, d.of_best, 1);
      const std::vector<float> table = d.b.RandomFloats(7 * 3);
      const uint32_t words = d.b.Op("embed", {ids}, {d.b.Tensor(7, 3, table)}, d.of_best, 3);
      const uint32_t sum = d.b.Op("add", {taken, words}, {}, d.of_best, 3);
      const uint32_t pooled = d.b.Op("pool", {sum}, {}, d.best, 3, {{Attribute::kKind, 2}});
      const uint32_t top = d.b.Op("pool", {pooled}, {}, d.documents, 3, {{Attribute::kKind, 3}});
      const uint32_t back = d.b.Op("merge", {d.x, sum, rows}, {}, d.tokens, 3);
      d.b.SetOutput(rows);
      d.b.SetOutput(ids);

      const uint32_t tokens = Total(shape.of_sentences);
      const std::vector<float> xs = d.b.RandomFloats(tokens * 3), scores = d.b.RandomFloats(shape.of_sentences.size());
      const std::vector<int32_t> all_ids = RandomIds(tokens, 7, most);
      const Feed feed = {{{d.sentences, shape.of_documents}, {d.tokens, shape.of_sentences}},
                         {{d.x, xs}, {d.scores, scores}},
                         {{d.ids, all_ids}}};

      const std::vector<uint32_t> offsets = Offsets(shape.of_sentences), of_document = Offsets(shape.of_documents);
      std::vector<double> expected_sum, expected_pooled, expected_top(shape.of_documents.size() * 3, 0.0);
      std::vector<double> expected_back(xs.begin(), xs.end());
      std::vector<int32_t> expected_rows, expected_ids;
      Lengths expected_lengths;
      std::vector<bool> seen(shape.of_documents.size());
      for (const uint32_t sentence : BestRows(scores, shape.of_documents, most)) {
        expected_lengths.push_back(shape.of_sentences[sentence]);
        std::vector<double> mean(3, 0.0);
        for (uint32_t row = offsets[sentence]; row < offsets[sentence + 1]; ++row) {
          expected_rows.push_back(static_cast<int32_t>(row));
          expected_ids.push_back(all_ids[row]);
          for (uint32_t c = 0; c < 3; ++c) {
            const double value = double{xs[row * 3 + c]} + table[static_cast<size_t>(all_ids[row]) * 3 + c];
            expected_sum.push_back(value);
            expected_back[row * 3 + c] = value;
            mean[c] += value / shape.of_sentences[sentence];
          }
        }
        expected_pooled.insert(expected_pooled.end(), mean.begin(), mean.end());
        size_t document = 0;
        while (of_document[document + 1] <= sentence) ++document;
        for (uint32_t c = 0; c < 3; ++c) {
          double& y = expected_top[document * 3 + c];
          y = seen[document] ? std::max(y, mean[c]) : mean[c];
        }
        seen[document] = true;
      }
      ExpectClose(RunTiled(d.b, feed, sum), expected_sum, 1e-6, 0);
      ExpectClose(RunTiled(d.b, feed, pooled), expected_pooled, 1e-6, 1e-7);
      ExpectClose(RunTiled(d.b, feed, top), expected_top, 1e-6, 1e-7);
      ExpectClose(RunTiled(d.b, feed, back), expected_back, 1e-6, 0);

      const TestModel model(d.b.Blob());
      const std::vector<fovea_limit> limits = LimitsOf(d.b, feed);
      TestSession session(model, Options(limits, 2, 3));
      for (const auto& [space, lengths] : feed.segments) session.SetSegments(space, lengths);
      for (const auto& [input, values] : feed.floats) session.SetInput(input, values);
      for (const auto& [input, values] : feed.ids) session.SetInput(input, values);
      session.Run();
      EXPECT_EQ(session.Indices(rows), expected_rows);
      EXPECT_EQ(session.Indices(ids), expected_ids);
      EXPECT_EQ(session.Segments(d.of_best), expected_lengths);
    }
  }
}

// Rows put in front of each chosen sentence, strides of its tokens, and any number of rows below it.
TEST(Expand, SpacesThatFollow) {
  for (const Shape& shape : Shapes()) {
    Documents d(2);
    const uint32_t longer = d.b.ExtendedSpace("longer", d.of_best, 1), half = d.b.StridedSpace("half", d.of_best, 2);
    const uint32_t slots = d.b.FixedSpace("slots", d.best, 2);
    const uint32_t rows = d.Expand(d.Select());
    const uint32_t taken = d.b.Op("gather", {d.x, rows}, {}, d.of_best, 3);
    const uint32_t front = d.b.Op("prepend", {taken}, {d.b.Tensor(1, 3, {1, 2, 3})}, longer, 3);
    const uint32_t seen = d.b.Op("attention", {front, front, front}, {}, longer, 3);
    const uint32_t first = d.b.Op("pool", {seen}, {}, d.best, 3);
    const uint32_t halved = d.b.Op("pool", {taken}, {}, half, 3, {{Attribute::kKind, 3}});
    const uint32_t most = d.b.Op("pool", {halved}, {}, d.best, 3, {{Attribute::kKind, 3}});
    const uint32_t filled = d.b.Op("fill", {}, {d.b.Tensor(1, 3, {1, 0, -1})}, slots, 3);
    const uint32_t asked = d.b.Op("attention", {filled, taken, taken}, {}, slots, 3);
    const uint32_t answer = d.b.Op("pool", {asked}, {}, d.best, 3, {{Attribute::kKind, 1}});
    const std::vector<float> xs = d.b.RandomFloats(Total(shape.of_sentences) * 3);
    const std::vector<float> scores = d.b.RandomFloats(shape.of_sentences.size());
    const Feed feed = {{{d.sentences, shape.of_documents}, {d.tokens, shape.of_sentences}},
                       {{d.x, xs}, {d.scores, scores}},
                       {{d.ids, RandomIds(Total(shape.of_sentences), 9, 1)}}};
    // softmax(q k^T / sqrt(3)) k
    const auto attend = [](const std::vector<double>& q, const std::vector<std::vector<double>>& keys) {
      double sum = 0;
      std::vector<double> y(3, 0.0);
      for (const std::vector<double>& k : keys) {
        const double weight = std::exp((q[0] * k[0] + q[1] * k[1] + q[2] * k[2]) / std::sqrt(3.0));
        sum += weight;
        for (size_t c = 0; c < 3; ++c) y[c] += weight * k[c];
      }
      for (double& v : y) v = keys.empty() ? 0 : v / sum;
      return y;
    };
    std::vector<double> expected_first, expected_most, expected_answer;
    for (const uint32_t sentence : BestRows(scores, shape.of_documents, 2)) {
      std::vector<std::vector<double>> keys;
      std::vector<double> best(3, -INFINITY);
      for (uint32_t row = Offsets(shape.of_sentences)[sentence]; keys.size() < shape.of_sentences[sentence]; ++row) {
        keys.push_back({xs[row * 3], xs[row * 3 + 1], xs[row * 3 + 2]});
        for (size_t c = 0; c < 3; ++c) best[c] = std::max(best[c], keys.back()[c]);
      }
      if (keys.empty()) best.assign(3, 0.0);
      expected_most.insert(expected_most.end(), best.begin(), best.end());
      const std::vector<double> answered = attend({1, 0, -1}, keys);
      expected_answer.insert(expected_answer.end(), answered.begin(), answered.end());
      keys.insert(keys.begin(), {1, 2, 3});
      const std::vector<double> attended = attend({1, 2, 3}, keys);
      expected_first.insert(expected_first.end(), attended.begin(), attended.end());
    }
    ExpectClose(RunTiled(d.b, feed, first), expected_first, 2e-6, 1e-7);
    ExpectClose(RunTiled(d.b, feed, most), expected_most, 0, 0);
    ExpectClose(RunTiled(d.b, feed, answer), expected_answer, 2e-6, 1e-7);
  }
}

// Documents chosen from a shelf, their sentences, the best of these, and the tokens of those.
TEST(Expand, AgainAndAgain) {
  ModelBuilder b;
  const uint32_t shelf = b.Space("shelf"), documents = b.Space("documents", shelf);
  const uint32_t sentences = b.Space("sentences", documents), tokens = b.Space("tokens", sentences);
  const uint32_t some = b.SelectedSpace("some", documents, 2), of_some = b.ExpandedSpace("of_some", sentences, some);
  const uint32_t words_of_some = b.ExpandedSpace("words_of_some", tokens, of_some);
  const uint32_t best = b.SelectedSpace("best", of_some, 1);
  const uint32_t of_best = b.ExpandedSpace("of_best", words_of_some, best);
  const uint32_t by_document = b.Input("by_document", documents, 1), by_sentence = b.Input("by_sentence", sentences, 1);
  const uint32_t x = b.Input("x", tokens, 2);
  const Attributes kind = {{Attribute::kKind, kBest}};
  const uint32_t a = b.Op("select", {by_document}, {}, some, 1, kind);
  const uint32_t of_a = b.Op("expand", {a}, {}, of_some, 1);
  const uint32_t words = b.Op("expand", {of_a}, {}, words_of_some, 1);
  const uint32_t scores = b.Op("gather", {by_sentence, of_a}, {}, of_some, 1);
  const uint32_t c = b.Op("select", {scores}, {}, best, 1, kind);
  const uint32_t of_c = b.Op("expand", {c}, {}, of_best, 1);
  const uint32_t near = b.Op("gather", {x, words}, {}, words_of_some, 2);
  const uint32_t taken = b.Op("gather", {near, of_c}, {}, of_best, 2);
  const uint32_t pooled = b.Op("pool", {taken}, {}, best, 2, {{Attribute::kKind, 2}});
  const uint32_t of_documents = b.Op("pool", {pooled}, {}, some, 2);
  // Documents 1 and 3 of the first shelf row are best; of their sentences 3 and 5 (4 has no tokens).
  const std::vector<float> xs = b.RandomFloats(12 * 2);
  const Feed feed = {{{documents, {4}}, {sentences, {2, 2, 0, 2}}, {tokens, {1, 2, 3, 1, 0, 5}}},
                     {{by_document, {0, 5, 1, 7}}, {by_sentence, {9, 9, 1, 2, 3, 4}}, {x, xs}},
                     {}};
  std::vector<double> expected;
  for (const uint32_t column : {0u, 1u}) expected.push_back(xs[6 * 2 + column]);
  for (const uint32_t column : {0u, 1u}) {
    double sum = 0;
    for (uint32_t row = 7; row < 12; ++row) sum += xs[row * 2 + column];
    expected.push_back(sum / 5);
  }
  b.SetOutput(of_c);
  ExpectClose(RunTiled(b, feed, pooled), expected, 1e-6, 0);
  ExpectClose(RunTiled(b, feed, of_documents), expected, 1e-6, 0);
  ExpectClose(RunTiled(b, feed, taken), {xs.begin() + 12, xs.end()}, 0, 0);
}

// Relations between spaces and operations are checked before anything runs.
TEST(Expand, UsesAreChecked) {
  struct Program : Documents {
    Program() : Documents(4, 8) {}
    uint32_t others = b.Space("others", documents), words = b.Space("words", others);
    uint32_t more = b.SelectedSpace("more", sentences), few = b.SelectedSpace("few", tokens, 2);
    uint32_t of_more = b.ExpandedSpace("of_more", tokens, more), of_few = b.ExpandedSpace("of_few", few, best);
    uint32_t again = b.SelectedSpace("again", best, 1), half = b.StridedSpace("half", of_best, 2);
    uint32_t mark = b.Input("mark", sentences, 1, DType::kI32);
  };
  const auto refused = [](const char* what, fovea_status status, const std::function<void(Program&)>& add) {
    Program p;
    add(p);
    ExpectStatus(p.b, status, what);
  };
  const fovea_status record = FOVEA_E_RECORD, shape = FOVEA_E_SHAPE;
  refused("fine", FOVEA_OK, [](Program& p) {
    const uint32_t rows = p.Select(), of_rows = p.Expand(rows);
    p.b.Op("gather", {p.x, of_rows}, {}, p.of_best, 8);
    const uint32_t marks = p.b.Op("gather", {p.mark, rows}, {}, p.best, 1);
    p.b.Op("select", {marks}, {}, p.again, 1);
  });
  refused("nothing selected", record, [](Program& p) { p.b.Op("expand", {p.mark}, {}, p.of_best, 1); });
  refused("by the caller's ids", shape, [](Program& p) {
    p.Select();
    p.b.Op("expand", {p.mark}, {}, p.of_best, 1);
  });
  refused("by gathered ids", shape, [](Program& p) {
    const uint32_t marks = p.b.Op("gather", {p.mark, p.Select()}, {}, p.best, 1);
    p.b.Op("expand", {marks}, {}, p.of_best, 1);
  });
  refused("by numbers", shape, [](Program& p) {
    p.Select();
    p.b.Op("expand", {p.scores}, {}, p.of_best, 1);
  });
  refused("into another selection's child", record,
          [](Program& p) { p.b.Op("expand", {p.Select()}, {}, p.of_more, 1); });
  refused("into another selection's child that there is", shape, [](Program& p) {
    p.b.Op("select", {p.scores}, {}, p.more, 1);
    p.b.Op("expand", {p.Select()}, {}, p.of_more, 1);
  });
  refused("into no child", shape, [](Program& p) { p.b.Op("expand", {p.Select()}, {}, p.more, 1); });
  refused("into rows that follow", record, [](Program& p) { p.b.Op("expand", {p.Select()}, {}, p.half, 1); });
  refused("wide", shape, [](Program& p) { p.b.Op("expand", {p.Select()}, {}, p.of_best, 2); });
  refused("twice", record, [](Program& p) {
    const uint32_t rows = p.Select();
    p.Expand(rows), p.Expand(rows);
  });
  refused("of what is chosen later", record, [](Program& p) { p.b.Op("expand", {p.Select()}, {}, p.of_few, 1); });
  refused("select below a selection", record,
          [](Program& p) { p.b.Op("select", {p.b.Input("late", p.tokens, 1)}, {}, p.of_best, 1); });
  refused("select into an expanded space", shape, [](Program& p) {
    const uint32_t score = p.b.Op("fill", {}, {p.b.RandomTensor(1, 1)}, p.tokens, 1);
    p.Select();
    p.b.Op("select", {score}, {}, p.of_best, 1);
  });
  refused("rows that follow from none", record,
          [](Program& p) { p.b.Op("fill", {}, {p.b.RandomTensor(1, 8)}, p.half, 8); });
  refused("children of none", record, [](Program& p) { p.b.Op("broadcast", {p.x}, {}, p.of_few, 8); });
  refused("gather by parents", shape, [](Program& p) {
    const uint32_t rows = p.Select();
    p.Expand(rows);
    p.b.Op("gather", {p.x, rows}, {}, p.of_best, 8);
  });
  refused("indices of rows as ids", shape,
          [](Program& p) { p.b.Op("embed", {p.Expand(p.Select())}, {p.b.RandomTensor(9, 8)}, p.of_best, 8); });
  refused("indices gathered", shape, [](Program& p) {
    const uint32_t rows = p.Select();
    const uint32_t scores = p.b.Op("gather", {p.scores, rows}, {}, p.best, 1);
    const uint32_t again = p.b.Op("select", {scores}, {}, p.again, 1, {{Attribute::kKind, 2}});
    p.b.Op("gather", {rows, again}, {}, p.again, 1);
  });
  refused("listed rows in other segments", shape, [](Program& p) {
    p.b.Op("attention", {p.x, p.x, p.x, p.Expand(p.Select())}, {}, p.tokens, 8, {{Attribute::kGlobalKeys, 1}});
  });
  // Positions: at least one for each row of the source, because all of them may be chosen.
  for (const uint32_t rows : {4u, 5u}) {
    for (const bool children : {false, true}) {
      ModelBuilder b;
      const uint32_t root = b.Space("root"), pictures = b.Space("pictures", root),
                     patches = b.FixedSpace("patches", pictures, 5);
      const uint32_t some = b.SelectedSpace("some", children ? pictures : patches);
      const uint32_t space = children ? b.ExpandedSpace("of some", patches, some) : some;
      const uint32_t score = b.Input("score", children ? pictures : patches, 1), x = b.Input("x", patches, 8);
      uint32_t chosen = b.Op("select", {score}, {}, some, 1);
      if (children) chosen = b.Op("expand", {chosen}, {}, space, 1);
      const uint32_t taken = b.Op("gather", {x, chosen}, {}, space, 8);
      b.Op("position", {taken}, {b.RandomTensor(rows, 8)}, space, 8);
      if (rows == 5) ExpectAccepted(b, "positions");
      if (rows == 4) ExpectRefused(b, shape, "positions that run out");
    }
  }
  // Tables of spaces that contradict each other.
  const auto status_of = [](const std::function<void(Program&)>& change) {
    Program p;
    change(p);
    p.Expand(p.Select());
    return ErrorOf(p.b).status;
  };
  EXPECT_EQ(status_of([](Program&) {}), FOVEA_OK);
  const auto space = [](Program& p) -> tools::BlobSpace& { return p.b.content().spaces[p.of_best]; };
  EXPECT_EQ(status_of([&](Program& p) { space(p).extra = 1; }), record);
  EXPECT_EQ(status_of([&](Program& p) { space(p).source = p.sentences; }), record);
  EXPECT_EQ(status_of([&](Program& p) { space(p).source = p.documents; }), record);
  EXPECT_EQ(status_of([&](Program& p) { space(p).source = p.best; }), record);
  EXPECT_EQ(status_of([&](Program& p) { space(p).kind = SpaceKind::kStrided, space(p).extra = 2; }), record);
  EXPECT_EQ(status_of([&](Program& p) { space(p).kind = SpaceKind::kInput, space(p).source = kBlobNone; }), record);
  EXPECT_EQ(status_of([&](Program& p) { space(p).parent = p.sentences; }), record);
  EXPECT_EQ(status_of([&](Program& p) { p.b.content().spaces[p.of_more].source = p.words; }), record);
  EXPECT_EQ(status_of([&](Program& p) { p.b.Space("below a selection", p.best); }), record);
}

}  // namespace
}  // namespace fovea::test
