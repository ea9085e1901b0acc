// Selective systems from end to end, as programs: learned relevance, tasks chosen by the caller, question vectors and
// hops, coarse selection in front of a fine encoder. Each against plain loops in double.
#include "runtime/blob/attributes.h"
#include "tests/session/plain.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

using namespace plain;

constexpr uint32_t kWidth = 8;
constexpr double kTolerance = 2e-5;
const Lengths kLengths = {9, 1, 0, 40, 13};

// Texts of tokens with a vector each, weights by name of the reference, and runs of the program.
struct Texts {
  ModelBuilder b;
  uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts);
  uint32_t x = b.Input("x", tokens, kWidth);
  std::vector<float> xs = b.RandomFloats(size_t{63} * kWidth);
  std::vector<std::pair<uint32_t, std::vector<int32_t>>> ids;

  uint32_t Tensor(uint32_t rows, uint32_t width, Rows* plain_rows) {
    const std::vector<float> values = b.RandomFloats(size_t{rows} * width, 0.5f);
    *plain_rows = RowsOf(values, width);
    return b.Tensor(rows, width, values);
  }
  uint32_t Linear(uint32_t of, uint32_t from, uint32_t to, uint32_t space, Rows* w, uint32_t activation = 0) {
    return b.Op("linear", {of}, {Tensor(to, from, w)}, space, to, {{Attribute::kActivation, activation}});
  }
  uint32_t Op(std::string_view op, std::vector<uint32_t> in, uint32_t space, uint32_t width,
              const Attributes& attributes = {}) {
    return b.Op(op, std::move(in), {}, space, width, attributes);
  }
  // r = MLP(x), one number for each token.
  uint32_t Relevance(Rows* first, Rows* second) {
    return Linear(Linear(x, kWidth, 12, tokens, first, 1), 12, 1, tokens, second);
  }
  static Row RelevanceOf(const Rows& rows, const Rows& first, const Rows& second) {
    Row r;
    for (const Row& row : rows) r.push_back(plain::Linear(Each(plain::Linear(row, first), Relu), second)[0]);
    return r;
  }

  // The rows of outputs, and segments of a space if asked for.
  std::vector<std::vector<float>> Run(const std::vector<uint32_t>& outputs, uint32_t space = kBlobNone,
                                      Lengths* segments = nullptr) {
    for (const uint32_t output : outputs) b.SetOutput(output);
    const TestModel model(b.Blob());
    const std::vector<fovea_limit> limits = {{texts, 5, 0}, {tokens, 63, 0}};
    std::vector<std::vector<float>> first;
    for (const uint32_t tile_rows : {0u, 3u}) {
      TestSession session(model, Options(limits, tile_rows == 0 ? 1 : 2, tile_rows));
      session.SetSegments(tokens, kLengths);
      session.SetInput(x, xs);
      for (const auto& [input, values] : ids) session.SetInput(input, values);
      session.Run();
      std::vector<std::vector<float>> found;
      for (const uint32_t output : outputs) found.push_back(session.Output(output));
      if (segments != nullptr) *segments = session.Segments(space);
      if (tile_rows == 0) first = found;
      EXPECT_EQ(found, first);
    }
    return first;
  }
  // Calls f(rows of one text) for each text and concatenates the results by rows.
  template <typename F>
  Rows ForEachText(F f) const {
    const Rows all = RowsOf(xs, kWidth);
    Rows made;
    size_t begin = 0, text = 0;
    for (const uint32_t length : kLengths) {
      for (Row& row : f(Part(all, begin, begin + length), text++)) made.push_back(std::move(row));
      begin += length;
    }
    return made;
  }
};

// Values are scaled by sigmoid(r), or scores get log sigmoid(r).
TEST(Selective, RelevanceAsGateAndAsBias) {
  Texts t;
  Rows first, second, wq, wk, wv;
  const uint32_t r = t.Relevance(&first, &second);
  const uint32_t q = t.Linear(t.x, kWidth, kWidth, t.tokens, &wq), k = t.Linear(t.x, kWidth, kWidth, t.tokens, &wk);
  const uint32_t v = t.Linear(t.x, kWidth, kWidth, t.tokens, &wv);
  const uint32_t gated = t.Op("gate", {r, v}, t.tokens, kWidth, {{Attribute::kActivation, 6}});
  const uint32_t a = t.Op("attention", {q, k, gated}, t.tokens, kWidth);
  const uint32_t bias = t.Op("activate", {r}, t.tokens, 1, {{Attribute::kActivation, 7}});
  const uint32_t c = t.Op("attention", {q, k, v, bias}, t.tokens, kWidth, {{Attribute::kKeyBias, 1}});
  const auto found = t.Run({a, c});
  for (const bool as_bias : {false, true}) {
    const Rows expected = t.ForEachText([&](const Rows& x, size_t) {
      Row relevance = Texts::RelevanceOf(x, first, second),
          log_gate = Each(relevance, [](double y) { return std::log(Sigmoid(y)); });
      Rows values = Linear(x, wv), made;
      for (size_t i = 0; i < x.size() && !as_bias; ++i) {
        values[i] = Each(values[i], [&](double y) { return y * Sigmoid(relevance[i]); });
      }
      for (const Row& query : Linear(x, wq))
        made.push_back(Attend(query, Linear(x, wk), values, as_bias ? log_gate : Row()));
      return made;
    });
    ExpectRows(found[as_bias], expected, kTolerance, as_bias ? "bias" : "gate");
  }
}

// Keys that are not relevant are dropped before attention: all tokens query the kept ones, and only these continue.
TEST(Selective, IrrelevantRowsAreDropped) {
  for (const bool best : {false, true}) {
    Texts t;
    Rows first, second, wq, wk, wv;
    const uint32_t kept = t.b.SelectedSpace("kept", t.tokens, best ? 5 : 0);
    const uint32_t r = t.Relevance(&first, &second);
    const uint32_t rows = best ? t.Op("select", {r}, kept, 1, {{Attribute::kKind, 2}})
                               : t.Op("select", {r}, kept, 1, {{Attribute::kKind, 1}, {Attribute::kThreshold, 0.1}});
    const uint32_t taken = t.Op("gather", {t.x, rows}, kept, kWidth);
    const uint32_t k = t.Linear(taken, kWidth, kWidth, kept, &wk), v = t.Linear(taken, kWidth, kWidth, kept, &wv);
    const uint32_t q = t.Linear(t.x, kWidth, kWidth, t.tokens, &wq);
    const uint32_t all = t.Op("attention", {q, k, v}, t.tokens, kWidth);
    const uint32_t some = t.Op("attention", {taken, k, v}, kept, kWidth);
    const uint32_t pooled = t.Op("pool", {some}, t.texts, kWidth, {{Attribute::kKind, 2}});
    Lengths kept_lengths, expected_lengths;
    const auto found = t.Run({all, pooled}, kept, &kept_lengths);
    const auto choose = [&](const Rows& x) {
      const Row relevance = Texts::RelevanceOf(x, first, second);
      std::vector<size_t> chosen = Best(relevance, best ? 5 : x.size());
      if (!best) {
        chosen.erase(std::remove_if(chosen.begin(), chosen.end(), [&](size_t i) { return !(relevance[i] > 0.1f); }),
                     chosen.end());
      }
      return Take(x, chosen);
    };
    const Rows expected_all = t.ForEachText([&](const Rows& x, size_t) {
      const Rows chosen = choose(x);
      expected_lengths.push_back(static_cast<uint32_t>(chosen.size()));
      Rows made;
      for (const Row& query : Linear(x, wq)) made.push_back(Attend(query, Linear(chosen, wk), Linear(chosen, wv)));
      return made;
    });
    const Rows expected_pooled = t.ForEachText([&](const Rows& x, size_t) {
      const Rows chosen = choose(x);
      Rows made;
      for (const Row& query : chosen) made.push_back(Attend(query, Linear(chosen, wk), Linear(chosen, wv)));
      return Rows{Mean(made, kWidth)};
    });
    EXPECT_EQ(kept_lengths, expected_lengths);
    EXPECT_LT(std::accumulate(kept_lengths.begin(), kept_lengths.end(), 0u), 63u);
    ExpectRows(found[0], expected_all, kTolerance, best ? "best" : "threshold");
    ExpectRows(found[1], expected_pooled, kTolerance, best ? "best" : "threshold");
  }
}

// The caller names a task for each text; its embedding goes into the queries in three ways.
TEST(Selective, TasksChosenByTheCaller) {
  Texts t;
  const uint32_t task = t.b.Input("task", t.texts, 1, DType::kI32);
  t.ids = {{task, {3, 0, 1, 2, 3}}};
  Rows table, beside, gate;
  const uint32_t e = t.b.Op("embed", {task}, {t.Tensor(4, kWidth, &table)}, t.texts, kWidth);
  const uint32_t q_add = t.Op("broadcast", {e, t.x}, t.tokens, kWidth, {{Attribute::kCombine, 1}});
  const uint32_t of_tokens = t.Op("broadcast", {e}, t.tokens, kWidth);
  const uint32_t both = t.Op("concat", {t.x, of_tokens}, t.tokens, 2 * kWidth);
  const uint32_t q_linear = t.Linear(both, 2 * kWidth, kWidth, t.tokens, &beside);
  const uint32_t w = t.Linear(both, 2 * kWidth, kWidth, t.tokens, &gate);
  const uint32_t q_gate = t.Op("gate", {w, t.x}, t.tokens, kWidth, {{Attribute::kActivation, 6}});
  std::vector<uint32_t> seen;
  for (const uint32_t q : {q_add, q_linear, q_gate}) seen.push_back(t.Op("attention", {q, t.x, t.x}, t.tokens, kWidth));
  const auto found = t.Run(seen);
  for (size_t way = 0; way < 3; ++way) {
    const Rows expected = t.ForEachText([&](const Rows& x, size_t text) {
      const Row& of_task = table[static_cast<size_t>(t.ids[0].second[text])];
      Rows made;
      for (const Row& row : x) {
        Row q = Add(row, of_task);
        if (way == 1) q = Linear(Beside(row, of_task), beside);
        if (way == 2)
          q = Both(Linear(Beside(row, of_task), gate), row, [](double a, double b) { return Sigmoid(a) * b; });
        made.push_back(Attend(q, x, x));
      }
      return made;
    });
    ExpectRows(found[way], expected, kTolerance, "way");
  }
}

// A learned question asks each text for an extract; twice more, with what the last answer makes of the question.
TEST(Selective, ThreeHopsByExtracts) {
  Texts t;
  Rows question, next[2];
  const uint32_t row = t.Tensor(1, kWidth, &question);
  uint32_t q = t.b.Op("fill", {}, {row}, t.texts, kWidth);
  std::vector<uint32_t> extracts, steps;
  for (size_t hop = 0; hop < 3; ++hop) {
    steps.push_back(static_cast<uint32_t>(t.b.content().programs[0].operations.size()));
    extracts.push_back(t.Op("attention", {q, t.x, t.x}, t.texts, kWidth));
    if (hop == 2) break;
    const uint32_t both = t.Op("concat", {q, extracts[hop]}, t.texts, 2 * kWidth);
    q = t.Linear(both, 2 * kWidth, kWidth, t.texts, &next[hop], 5);
  }
  const auto found = t.Run(extracts);
  Rows weights[3];
  for (size_t hop = 0; hop < 3; ++hop) {
    const Rows expected = t.ForEachText([&](const Rows& x, size_t) {
      Row asked = question[0], extract, of_rows;
      for (size_t h = 0; h <= hop; ++h) {
        extract = Attend(asked, x, x, {}, &of_rows);
        if (h < 2) asked = Each(Linear(Beside(asked, extract), next[h]), [](double v) { return std::tanh(v); });
      }
      weights[hop].push_back(of_rows);
      return Rows{extract};
    });
    ExpectRows(found[hop], expected, kTolerance, "extract");
  }
  // Which rows each hop looked at, as the caller sees it.
  const TestModel model(t.b.Blob());
  const std::vector<fovea_limit> limits = {{t.texts, 5, 0}, {t.tokens, 63, 0}};
  std::vector<fovea_tap> taps;
  for (const uint32_t step : steps) taps.push_back(TapOf(step));
  fovea_session_options options = Options(limits);
  options.taps = taps.data();
  options.tap_count = 3;
  TestSession session(model, options);
  session.SetSegments(t.tokens, kLengths);
  session.SetInput(t.x, t.xs);
  session.Run();
  for (uint32_t hop = 0; hop < 3; ++hop) {
    fovea_attention_map view = Sized<fovea_attention_map>();
    fovea_error error = {};
    ASSERT_EQ(fovea_session_get_attention_map(session.session, hop, &view, &error), FOVEA_OK);
    ASSERT_EQ(view.rows, 5u);
    for (size_t text = 0; text < 5; ++text) {
      for (size_t i = 0; i < kLengths[text]; ++i) {
        ASSERT_NEAR(view.data[text * view.stride + i], weights[hop][text][i], 1e-5);
      }
    }
  }
}

// Each hop keeps the rows of the last one's that fit its question best, and asks anew with their mean: 12, 6 and 2 rows
// of a text, three selections in one program.
TEST(Selective, ThreeHopsBySelectedRows) {
  Texts t;
  Rows question, next[2];
  const uint32_t most[] = {12, 6, 2};
  uint32_t spaces[3], from = t.tokens, x = t.x;
  for (size_t hop = 0; hop < 3; ++hop) {
    spaces[hop] = t.b.SelectedSpace("hop " + std::to_string(hop), hop == 0 ? t.tokens : spaces[hop - 1], most[hop]);
  }
  const uint32_t ones = t.b.Tensor(1, kWidth, std::vector<float>(kWidth, 1)), row = t.Tensor(1, kWidth, &question);
  uint32_t q = t.b.Op("fill", {}, {row}, t.texts, kWidth);
  std::vector<uint32_t> means;
  for (size_t hop = 0; hop < 3; ++hop) {
    const uint32_t asked = t.Op("broadcast", {q}, from, kWidth);
    const uint32_t products = t.Op("gate", {asked, x}, from, kWidth);
    const uint32_t scores = t.b.Op("linear", {products}, {ones}, from, 1);
    const uint32_t rows = t.Op("select", {scores}, spaces[hop], 1, {{Attribute::kKind, 2}});
    x = t.Op("gather", {x, rows}, spaces[hop], kWidth);
    from = spaces[hop];
    means.push_back(t.Op("pool", {x}, t.texts, kWidth, {{Attribute::kKind, 2}}));
    if (hop < 2) q = t.Linear(means[hop], kWidth, kWidth, t.texts, &next[hop]);
  }
  Lengths last;
  const auto found = t.Run(means, spaces[2], &last);
  EXPECT_EQ(last, (Lengths{2, 1, 0, 2, 2}));
  for (size_t hop = 0; hop < 3; ++hop) {
    const Rows expected = t.ForEachText([&](Rows rows, size_t) {
      Row asked = question[0], mean;
      for (size_t h = 0; h <= hop; ++h) {
        Row scores;
        for (const Row& r : rows) scores.push_back(Dot(asked, r));
        rows = Take(rows, Best(scores, most[h]));
        mean = Mean(rows, kWidth);
        if (h < 2) asked = Linear(mean, next[h]);
      }
      return Rows{mean};
    });
    ExpectRows(found[hop], expected, kTolerance, "mean");
  }
}

}  // namespace
}  // namespace fovea::test
