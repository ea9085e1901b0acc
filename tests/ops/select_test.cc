// Selecting rows during a run, gathering them and merging them back.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

enum Kind : uint32_t { kNonzero, kThreshold, kBest, kFirst };

// Rows of each segment, by sorting; empty where more than `most` qualify.
struct Chosen {
  bool fits = true;
  std::vector<int32_t> rows;
  Lengths lengths;
};
Chosen Choose(uint32_t kind, double threshold, uint32_t most, const std::vector<double>& x, const Lengths& lengths) {
  Chosen chosen;
  uint32_t begin = 0;
  for (const uint32_t length : lengths) {
    std::vector<int32_t> rows;
    for (uint32_t row = begin; row < begin + length; ++row) {
      if (kind == kNonzero && x[row] == 0) continue;
      if (kind == kThreshold && !(x[row] > threshold)) continue;
      if (kind == kBest && std::isnan(x[row])) continue;
      rows.push_back(static_cast<int32_t>(row));
    }
    if (kind == kBest) {
      std::stable_sort(rows.begin(), rows.end(),
                       [&](int32_t a, int32_t b) { return x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)]; });
    }
    if (most != 0 && rows.size() > most) {
      chosen.fits = chosen.fits && (kind == kBest || kind == kFirst);
      rows.resize(most);
    }
    std::sort(rows.begin(), rows.end());
    chosen.rows.insert(chosen.rows.end(), rows.begin(), rows.end());
    chosen.lengths.push_back(static_cast<uint32_t>(rows.size()));
    begin += length;
  }
  return chosen;
}

// Few different values, so that ties are frequent, and all special numbers.
std::vector<float> Scores(uint32_t count, uint32_t seed) {
  const float special[] = {0.0f, -0.0f, NAN, -NAN, INFINITY, -INFINITY, 1e-45f, -1e-45f, 0.5f, 0.5f, -0.5f, 3e38f};
  std::mt19937 random(seed);
  std::vector<float> scores(count);
  for (float& s : scores) s = special[random() % std::size(special)];
  return scores;
}

std::vector<Lengths> ManyLengths() {
  std::vector<Lengths> all = RaggedLengths();
  all.push_back({300, 0, 41});
  return all;
}

TEST(Select, KindsOfFloats) {
  for (const uint32_t most : {0u, 1u, 3u, 40u}) {
    for (uint32_t kind = 0; kind <= kFirst; ++kind) {
      for (const float threshold : {0.0f, 0.4f, -1.0f}) {
        if (kind != kThreshold && threshold != 0) continue;
        for (const Lengths& lengths : ManyLengths()) {
          for (uint32_t seed = 1; seed < 6; ++seed) {
            ModelBuilder b;
            const TextSpaces s(b);
            const uint32_t chosen = b.SelectedSpace("chosen", s.tokens, most);
            const uint32_t x = b.Input("x", s.tokens, 1);
            Attributes attributes = {{Attribute::kKind, kind}};
            if (kind == kThreshold) attributes.emplace_back(Attribute::kThreshold, threshold);
            const uint32_t rows = b.Op("select", {x}, {}, chosen, 1, attributes);
            b.SetOutput(rows);
            const std::vector<float> xs = seed == 1 ? b.RandomFloats(Total(lengths)) : Scores(Total(lengths), seed);
            const Chosen expected = Choose(kind, threshold, most, {xs.begin(), xs.end()}, lengths);
            const TestModel model(b.Blob());
            const std::vector<fovea_limit> limits = {{s.texts, 9, 0}, {s.tokens, 400, 0}};
            TestSession session(model, Options(limits, 2, 16));
            session.SetSegments(s.tokens, lengths);
            session.SetInput(x, xs);
            fovea_error error = {};
            const fovea_status status = fovea_session_run(session.session, &error);
            if (!expected.fits) {
              ASSERT_EQ(status, FOVEA_E_ROWS);
              EXPECT_EQ(error.step, 0u);
              continue;
            }
            ASSERT_EQ(status, FOVEA_OK) << error.text;
            ASSERT_EQ(session.Indices(rows), expected.rows) << "kind " << kind << " most " << most << " seed " << seed;
            ASSERT_EQ(session.Segments(chosen), expected.lengths);
          }
        }
      }
    }
  }
}

TEST(Select, KindsOfIntegers) {
  const int32_t special[] = {0, 1, 1, -1, INT32_MAX, INT32_MAX - 1, INT32_MIN, INT32_MIN + 1, 1 << 24, (1 << 24) + 1};
  for (const uint32_t most : {0u, 2u, 7u}) {
    for (uint32_t kind = 0; kind <= kFirst; ++kind) {
      for (uint32_t seed = 1; seed < 20; ++seed) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t chosen = b.SelectedSpace("chosen", s.tokens, most);
        const uint32_t x = b.Input("x", s.tokens, 1, DType::kI32);
        const uint32_t rows = b.Op("select", {x}, {}, chosen, 1, {{Attribute::kKind, kind}});
        b.SetOutput(rows);
        const Lengths lengths = {9, 0, 14, 1, 2};
        std::mt19937 random(seed);
        std::vector<int32_t> xs(Total(lengths));
        for (int32_t& v : xs) v = special[random() % std::size(special)];
        const Chosen expected = Choose(kind, 0, most, {xs.begin(), xs.end()}, lengths);
        const TestModel model(b.Blob());
        const std::vector<fovea_limit> limits = {{s.texts, 5, 0}, {s.tokens, 30, 0}};
        TestSession session(model, Options(limits));
        session.SetSegments(s.tokens, lengths);
        session.SetInput(x, xs);
        fovea_error error = {};
        const fovea_status status = fovea_session_run(session.session, &error);
        ASSERT_EQ(status, expected.fits ? FOVEA_OK : FOVEA_E_ROWS);
        if (!expected.fits) continue;
        ASSERT_EQ(session.Indices(rows), expected.rows) << "kind " << kind << " most " << most << " seed " << seed;
      }
    }
  }
}

// At most a share of each segment, with the rows at its front regardless of their values.
struct ShareCase {
  float share;
  uint32_t front, most;  // most: rows of a segment, 0: any number
  Lengths lengths;
};

// The rows that a segment of `length` rows from `begin` on keeps: the front, then the rows that sort first.
std::vector<int32_t> KeptOf(const ShareCase& c, const std::vector<float>& xs, uint32_t begin, uint32_t length) {
  auto room = static_cast<uint32_t>(std::ceil(c.share * static_cast<float>(length)));
  if (c.most != 0) room = std::min(room, c.most);
  std::vector<int32_t> order;
  for (uint32_t row = begin; row < begin + length; ++row) {
    if (row < begin + c.front || !std::isnan(xs[row])) order.push_back(static_cast<int32_t>(row));
  }
  const auto first = order.begin() + std::min(c.front, length);
  std::stable_sort(first, order.end(),
                   [&](int32_t i, int32_t j) { return xs[static_cast<size_t>(i)] > xs[static_cast<size_t>(j)]; });
  order.resize(std::min<size_t>(order.size(), room));
  std::sort(order.begin(), order.end());
  return order;
}

TEST(Select, SharesWithRowsAtTheFront) {
  const std::vector<float> shares = {1.0f, 0.5f, 0.34f, 0.1f, 1e-6f};
  const std::vector<uint32_t> fronts = {0, 1, 3}, mosts = {0, 2};
  for (const ShareCase& c : Combinations<ShareCase>(shares, fronts, mosts, ManyLengths())) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t chosen = b.SelectedSpace("chosen", s.tokens, c.most), x = b.Input("x", s.tokens, 1);
    const uint32_t rows = b.Op("select", {x}, {}, chosen, 1,
                               {{Attribute::kKind, kBest}, {Attribute::kShare, c.share}, {Attribute::kFront, c.front}});
    b.SetOutput(rows);
    const std::vector<float> xs = Scores(Total(c.lengths), 7);
    std::vector<int32_t> expected;
    Lengths expected_lengths;
    uint32_t begin = 0;
    for (const uint32_t length : c.lengths) {
      const std::vector<int32_t> kept = KeptOf(c, xs, begin, length);
      expected.insert(expected.end(), kept.begin(), kept.end());
      expected_lengths.push_back(static_cast<uint32_t>(kept.size()));
      begin += length;
    }
    const TestModel model(b.Blob());
    const std::vector<fovea_limit> limits = {{s.texts, 9, 0}, {s.tokens, 400, 0}};
    TestSession session(model, Options(limits, 2, 16));
    session.SetSegments(s.tokens, c.lengths);
    session.SetInput(x, xs);
    session.Run();
    ASSERT_EQ(session.Indices(rows), expected) << "share " << c.share << " front " << c.front << " most " << c.most;
    ASSERT_EQ(session.Segments(chosen), expected_lengths);
  }
}

// Selection in a space without parent, which is one segment, and in derived segments.
TEST(Select, OfOtherSpaces) {
  ModelBuilder b;
  const uint32_t root = b.Space("root"), patches = b.FixedSpace("patches", root, 5);
  const uint32_t half = b.StridedSpace("half", patches, 2);
  const uint32_t of_root = b.SelectedSpace("of_root", root, 2), of_half = b.SelectedSpace("of_half", half, 1);
  const uint32_t x = b.Input("x", root, 1), y = b.Input("y", half, 1);
  const uint32_t roots = b.Op("select", {x}, {}, of_root, 1, {{Attribute::kKind, kBest}});
  const uint32_t halves = b.Op("select", {y}, {}, of_half, 1, {{Attribute::kKind, kBest}});
  b.SetOutput(roots);
  b.SetOutput(halves);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{root, 4, 0}};
  TestSession session(model, Options(limits));
  session.SetSegments(root, {4});
  session.SetInput(x, std::vector<float>{1, 4, 3, 2});
  session.SetInput(y, std::vector<float>{0, 1, 0, 2, 2, 2, -3, -2, -4, 0, 0, 1});
  session.Run();
  EXPECT_EQ(session.Indices(roots), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(session.Indices(halves), (std::vector<int32_t>{1, 3, 7, 11}));
}

// Rows out, through a separate layer, and back: against plain loops, with attention of the chosen rows over all.
TEST(Select, GatherAndMerge) {
  const uint32_t width = 6;
  for (const Lengths& lengths : ManyLengths()) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t chosen = b.SelectedSpace("chosen", s.tokens);
    const uint32_t x = b.Input("x", s.tokens, width), mask = b.Input("mask", s.tokens, 1, DType::kI32);
    const uint32_t twice = b.Op("scale", {x}, {}, s.tokens, width, {{Attribute::kScale, 2}});
    const uint32_t rows = b.Op("select", {mask}, {}, chosen, 1);
    const uint32_t taken = b.Op("gather", {twice, rows}, {}, chosen, width);
    const uint32_t changed = b.Op("scale", {taken}, {}, chosen, width, {{Attribute::kScale, -3}});
    const uint32_t back = b.Op("merge", {twice, changed, rows}, {}, s.tokens, width);
    const uint32_t sum = b.Op("pool", {changed}, {}, s.texts, width, {{Attribute::kKind, 0}});
    b.SetOutput(taken);
    b.SetOutput(sum);
    const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width);
    std::vector<int32_t> marks(Total(lengths));
    std::mt19937 random(3);
    for (int32_t& mark : marks) mark = random() % 3 == 0 ? 5 : 0;
    std::vector<double> expected, expected_taken, expected_first;
    uint32_t row = 0;
    for (const uint32_t length : lengths) {
      bool first = true;
      for (uint32_t i = 0; i < length; ++i, ++row) {
        for (uint32_t c = 0; c < width; ++c) {
          const double value = 2.0 * xs[row * width + c];
          expected.push_back(marks[row] != 0 ? -3 * value : value);
          if (marks[row] == 0) continue;
          expected_taken.push_back(value);
          if (first) expected_first.push_back(-3 * value);
        }
        first = first && marks[row] == 0;
      }
      if (first) expected_first.insert(expected_first.end(), width, 0.0);
    }
    const Feed feed = {{{s.tokens, lengths}}, {{x, xs}}, {{mask, marks}}};
    ExpectClose(RunTiled(b, feed, back), expected, 1e-6, 0);
    ExpectClose(RunTiled(b, feed, taken), expected_taken, 1e-6, 0);
    ExpectClose(RunTiled(b, feed, sum), expected_first, 1e-6, 0);
  }
}

TEST(Select, ShapeRules) {
  const auto refused = [](const char* what, fovea_status status, uint32_t width, DType type, uint32_t space,
                          uint32_t to, const Attributes& attributes) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t others = b.Space("others", s.texts);
    const uint32_t spaces[] = {s.texts, s.tokens, others, b.SelectedSpace("a", s.tokens),
                               b.SelectedSpace("b", s.texts)};
    const uint32_t x = b.Input("x", spaces[space], width, type);
    b.Op("select", {x}, {}, spaces[to], 1, attributes);
    ExpectStatus(b, status, what);
  };
  refused("fine", FOVEA_OK, 1, DType::kF32, 1, 3, {{Attribute::kKind, 3}});
  refused("fine", FOVEA_OK, 1, DType::kI32, 1, 3, {{Attribute::kKind, 1}, {Attribute::kThreshold, 7}});
  refused("fine", FOVEA_OK, 1, DType::kF32, 0, 4, {});
  refused("width", FOVEA_E_SHAPE, 2, DType::kF32, 1, 3, {});
  refused("of another space", FOVEA_E_SHAPE, 1, DType::kF32, 2, 3, {});
  refused("of another space", FOVEA_E_SHAPE, 1, DType::kF32, 1, 4, {});
  refused("into no selected space", FOVEA_E_SHAPE, 1, DType::kF32, 1, 1, {});
  refused("kind", FOVEA_E_OP, 1, DType::kF32, 1, 3, {{Attribute::kKind, 4}});
  refused("threshold", FOVEA_E_RECORD, 1, DType::kF32, 1, 3, {{Attribute::kThreshold, 1}});
  refused("threshold", FOVEA_E_RECORD, 1, DType::kF32, 1, 3,
          {{Attribute::kKind, 1}, {Attribute::kThreshold, INFINITY}});
  refused("attribute", FOVEA_E_OP, 1, DType::kF32, 1, 3, {{Attribute::kHeads, 1}});
  refused("share", FOVEA_OK, 1, DType::kF32, 1, 3, {{Attribute::kKind, kBest}, {Attribute::kShare, 0.5}});
  refused("share", FOVEA_E_RECORD, 1, DType::kF32, 1, 3, {{Attribute::kKind, kFirst}, {Attribute::kShare, 0.5}});
  refused("front", FOVEA_E_RECORD, 1, DType::kF32, 1, 3, {{Attribute::kKind, kNonzero}, {Attribute::kFront, 1}});
  for (const double share : {0.0, -0.5, 1.01}) {
    refused("share", FOVEA_E_RECORD, 1, DType::kF32, 1, 3, {{Attribute::kKind, kBest}, {Attribute::kShare, share}});
  }
}

// Requirements on a selected space, and forbidden uses of its rows and indices.
TEST(Select, UsesAreChecked) {
  struct Program {
    ModelBuilder b;
    uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts), others = b.Space("others", texts);
    uint32_t chosen = b.SelectedSpace("chosen", tokens, 4), more = b.SelectedSpace("more", tokens);
    uint32_t x = b.Input("x", tokens, 8), score = b.Input("score", tokens, 1);
    uint32_t ids = b.Input("ids", tokens, 1, DType::kI32), other = b.Input("other", others, 8);
    uint32_t Rows(uint32_t space) { return b.Op("select", {score}, {}, space, 1, {{Attribute::kKind, 2}}); }
  };
  const auto refused = [](const char* what, fovea_status status, const std::function<void(Program&)>& add) {
    Program p;
    add(p);
    ExpectStatus(p.b, status, what);
  };
  const fovea_status record = FOVEA_E_RECORD, shape = FOVEA_E_SHAPE;
  refused("fine", FOVEA_OK, [](Program& p) {
    const uint32_t rows = p.Rows(p.chosen), y = p.b.Op("gather", {p.x, rows}, {}, p.chosen, 8);
    p.b.Op("merge", {p.x, y, rows}, {}, p.tokens, 8);
    p.b.Op("attention", {y, p.x, p.x}, {}, p.chosen, 8);
    p.b.Op("attention", {p.x, y, y}, {}, p.tokens, 8);
    p.b.Op("position", {y}, {p.b.RandomTensor(4, 8)}, p.chosen, 8);
  });
  refused("two selects", record, [](Program& p) { p.Rows(p.chosen), p.Rows(p.chosen); });
  refused("two spaces", FOVEA_OK, [](Program& p) { p.Rows(p.chosen), p.Rows(p.more); });
  refused("no select", record, [](Program& p) { p.b.Op("scale", {p.x}, {}, p.chosen, 8); });
  refused("select of another space", record, [](Program& p) {
    p.b.Op("gather", {p.x, p.Rows(p.chosen)}, {}, p.more, 8);
  });
  refused("gather to another space", shape, [](Program& p) {
    p.Rows(p.more);
    p.b.Op("gather", {p.x, p.Rows(p.chosen)}, {}, p.more, 8);
  });
  refused("gather to the source", shape, [](Program& p) {
    p.b.Op("gather", {p.x, p.Rows(p.chosen)}, {}, p.tokens, 8);
  });
  refused("gather by the caller's ids", shape, [](Program& p) {
    p.Rows(p.chosen);
    p.b.Op("gather", {p.x, p.ids}, {}, p.chosen, 8);
  });
  refused("gather by floats", shape, [](Program& p) {
    p.Rows(p.chosen);
    p.b.Op("gather", {p.x, p.score}, {}, p.chosen, 8);
  });
  refused("gather of another space", shape, [](Program& p) {
    p.b.Op("gather", {p.other, p.Rows(p.chosen)}, {}, p.chosen, 8);
  });
  refused("gather to another width", shape, [](Program& p) {
    p.b.Op("gather", {p.x, p.Rows(p.chosen)}, {}, p.chosen, 7);
  });
  refused("gather of indices", shape, [](Program& p) {
    const uint32_t rows = p.Rows(p.chosen);
    p.b.Op("gather", {rows, rows}, {}, p.chosen, 1);
  });
  refused("merge of other rows", shape, [](Program& p) {
    p.b.Op("merge", {p.x, p.x, p.Rows(p.chosen)}, {}, p.tokens, 8);
  });
  refused("merge of other indices", shape, [](Program& p) {
    const uint32_t rows = p.Rows(p.chosen), y = p.b.Op("gather", {p.x, rows}, {}, p.chosen, 8);
    p.b.Op("merge", {p.x, y, p.Rows(p.more)}, {}, p.tokens, 8);
  });
  refused("merge into another space", shape, [](Program& p) {
    const uint32_t rows = p.Rows(p.chosen), y = p.b.Op("gather", {p.x, rows}, {}, p.chosen, 8);
    p.b.Op("merge", {p.other, y, rows}, {}, p.others, 8);
  });
  refused("merge of another width", shape, [](Program& p) {
    const uint32_t rows = p.Rows(p.chosen), y = p.b.Op("gather", {p.score, rows}, {}, p.chosen, 1);
    p.b.Op("merge", {p.x, y, rows}, {}, p.tokens, 8);
  });
  refused("indices as ids", shape,
          [](Program& p) { p.b.Op("embed", {p.Rows(p.chosen)}, {p.b.RandomTensor(3, 8)}, p.chosen, 8); });
  refused("indices as numbers", shape, [](Program& p) { p.b.Op("scale", {p.Rows(p.chosen)}, {}, p.chosen, 1); });
  refused("positions that could run out", shape, [](Program& p) {
    const uint32_t y = p.b.Op("gather", {p.x, p.Rows(p.chosen)}, {}, p.chosen, 8);
    p.b.Op("position", {y}, {p.b.RandomTensor(3, 8)}, p.chosen, 8);
  });
  refused("positions of as many as the source", FOVEA_OK, [](Program& p) {
    const uint32_t y = p.b.Op("gather", {p.x, p.Rows(p.more)}, {}, p.more, 8);
    p.b.Op("position", {y}, {p.b.RandomTensor(3, 8)}, p.more, 8);
  });
  Program p;
  p.b.Input("input", p.chosen, 8);
  EXPECT_EQ(ErrorOf(p.b).status, FOVEA_E_SHAPE);
}

}  // namespace
}  // namespace fovea::test
