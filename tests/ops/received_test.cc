// Weights that keys receive, beyond the attributes that attention_trial.h compares: queries of another space, and
// rules.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

// A learned query for each text looks at its tokens: what they receive is the softmax of the scores.
TEST(Received, FromQueriesOfTheParent) {
  for (const Lengths& lengths : RaggedLengths()) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t heads = 3, d_k = 4, width = heads * d_k;
    const uint32_t q = b.Input("q", s.texts, width), k = b.Input("k", s.tokens, width);
    const uint32_t received =
        b.Op("received", {q, k, k}, {}, s.tokens, heads, {{Attribute::kHeads, heads}, {Attribute::kScale, 1}});
    const std::vector<float> queries = b.RandomFloats(lengths.size() * width);
    const std::vector<float> keys = b.RandomFloats(size_t{Total(lengths)} * width);
    std::vector<double> expected(size_t{Total(lengths)} * heads);
    uint32_t begin = 0;
    for (size_t text = 0; text < lengths.size(); begin += lengths[text++]) {
      for (uint32_t head = 0; head < heads; ++head) {
        double sum = 0;
        for (uint32_t row = begin; row < begin + lengths[text]; ++row) {
          double score = 0;
          for (uint32_t i = 0; i < d_k; ++i) {
            score += double{queries[text * width + head * d_k + i]} * keys[row * width + head * d_k + i];
          }
          sum += expected[size_t{row} * heads + head] = std::exp(score);
        }
        for (uint32_t row = begin; row < begin + lengths[text]; ++row) expected[size_t{row} * heads + head] /= sum;
      }
    }
    const Feed feed = {{{s.tokens, lengths}}, {{q, queries}, {k, keys}}, {}};
    ExpectClose(RunTiled(b, feed, received), expected, 3e-6, 1e-7);
  }
}

// Long texts under windows: lists of weights, and rows that see all among them. More workers than heads.
TEST(Received, OfLongTexts) {
  const uint32_t heads = 2, d_k = 4, width = heads * d_k, rows = 400, side = 9;
  for (const uint32_t first : {0u, 2u}) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, width);
    Attributes attributes = {{Attribute::kHeads, heads},
                             {Attribute::kPattern, 1},
                             {Attribute::kLeft, side},
                             {Attribute::kRight, side},
                             {Attribute::kGlobalFirst, first}};
    const uint32_t received = b.Op("received", {x, x, x}, {}, s.tokens, heads, attributes);
    b.SetOutput(received);
    const std::vector<float> xs = b.RandomFloats(size_t{rows} * width);
    std::vector<double> expected(size_t{rows} * heads);
    for (uint32_t head = 0; head < heads; ++head) {
      for (uint32_t query = 0; query < rows; ++query) {
        std::vector<double> weights(rows);
        double sum = 0;
        for (uint32_t key = 0; key < rows; ++key) {
          if (query >= first && key >= first && std::max(query, key) - std::min(query, key) > side) continue;
          double score = 0;
          for (uint32_t i = head * d_k; i < (head + 1) * d_k; ++i) {
            score += double{xs[query * width + i]} * xs[key * width + i];
          }
          sum += weights[key] = std::exp(score / 2);
        }
        for (uint32_t key = 0; key < rows; ++key) expected[size_t{key} * heads + head] += weights[key] / sum;
      }
    }
    std::vector<float> before;
    for (const uint32_t workers : {1u, 2u, 5u}) {
      const TestModel model(b.Blob());
      const std::vector<fovea_limit> limits = {{s.texts, 1, 0}, {s.tokens, rows, 0}};
      const std::vector<float> found =
          RunWith(model, Options(limits, workers, 64), {{{s.tokens, {rows}}}, {{x, xs}}, {}}, received);
      ExpectClose(found, expected, 4e-6, 1e-7);
      if (!before.empty()) {
        EXPECT_EQ(found, before);
      }
      before = found;
    }
  }
}

TEST(Received, ShapeRules) {
  const auto expect = [](const char* what, fovea_status status, uint32_t width, bool other_space,
                         const Attributes& attributes) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t others = b.Space("others", s.texts);
    const uint32_t q = b.Input("q", others, 8), k = b.Input("k", s.tokens, 8);
    b.Op("received", {q, k, k}, {}, other_space ? others : s.tokens, width, attributes);
    ExpectStatus(b, status, what);
  };
  const Attributes two = {{Attribute::kHeads, 2}};
  expect("fine", FOVEA_OK, 2, false, two);
  expect("width", FOVEA_E_SHAPE, 8, false, two);
  expect("space of the queries", FOVEA_E_SHAPE, 2, true, two);
  expect("heads", FOVEA_E_SHAPE, 3, false, {{Attribute::kHeads, 3}});
  expect("attribute", FOVEA_E_OP, 2, false, {{Attribute::kHeads, 2}, {Attribute::kKind, 1}});
}

}  // namespace
}  // namespace fovea::test
