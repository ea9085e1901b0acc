// Rows of a parent space in the rows of its child, and constant rows.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

enum Rows : uint32_t { kAll, kFirst, kLast, kRowsKinds };
enum Combine : uint32_t { kReplace, kAdd };

std::vector<double> Broadcast(uint32_t rows, uint32_t combine, const std::vector<float>& y, std::vector<double> x,
                              const Lengths& lengths, uint32_t width) {
  size_t row = 0;
  for (size_t s = 0; s < lengths.size(); ++s) {
    for (uint32_t i = 0; i < lengths[s]; ++i, ++row) {
      if (rows == kFirst && i != 0) continue;
      if (rows == kLast && i + 1 != lengths[s]) continue;
      for (uint32_t c = 0; c < width; ++c) {
        x[row * width + c] = y[s * width + c] + (combine == kAdd ? x[row * width + c] : 0.0);
      }
    }
  }
  return x;
}

TEST(Broadcast, IntoRowsOfEachSegment) {
  for (uint32_t rows = 0; rows < kRowsKinds; ++rows) {
    for (const uint32_t combine : {kReplace, kAdd}) {
      for (const uint32_t width : {1u, 6u, 35u}) {
        for (const Lengths& lengths : RaggedLengths()) {
          ModelBuilder b;
          const TextSpaces s(b);
          const uint32_t y = b.Input("y", s.texts, width), x = b.Input("x", s.tokens, width);
          // Both are computed, so that a tile's rows are not just the rows of an input.
          const uint32_t y2 = b.Op("scale", {y}, {}, s.texts, width, {{Attribute::kScale, 2}});
          const uint32_t x2 = b.Op("scale", {x}, {}, s.tokens, width, {{Attribute::kScale, 4}});
          const uint32_t out = b.Op("broadcast", {y2, x2}, {}, s.tokens, width,
                                    {{Attribute::kRows, rows}, {Attribute::kCombine, combine}});
          std::vector<float> ys = b.RandomFloats(lengths.size() * width);
          const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width);
          const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{y, ys}, {x, xs}}, {}}, out);
          std::vector<double> four;
          for (const float v : xs) four.push_back(4.0 * v);
          for (float& v : ys) v *= 2;
          ExpectClose(found, Broadcast(rows, combine, ys, four, lengths, width), combine == kAdd ? 1e-7 : 0, 0,
                      "rows " + std::to_string(rows));
        }
      }
    }
  }
}

// Without rows to add to, through two levels, and into extended segments.
TEST(Broadcast, MakesRows) {
  for (const Lengths& lengths : RaggedLengths()) {
    ModelBuilder b;
    const uint32_t all = b.Space("all"), texts = b.Space("texts", all), tokens = b.Space("tokens", texts);
    const uint32_t longer = b.ExtendedSpace("longer", tokens, 2);
    const uint32_t y = b.Input("y", all, 5), x = b.Input("x", tokens, 1);
    const uint32_t of_texts = b.Op("broadcast", {y}, {}, texts, 5);
    const uint32_t of_tokens = b.Op("broadcast", {of_texts}, {}, tokens, 5);
    const uint32_t of_longer = b.Op("broadcast", {of_texts}, {}, longer, 5);
    const auto texts_count = static_cast<uint32_t>(lengths.size());
    const Lengths of_all = {texts_count / 3, 0, texts_count - texts_count / 3};
    const std::vector<float> ys = b.RandomFloats(3 * 5), xs = b.RandomFloats(Total(lengths));
    const Feed feed = {{{all, {3}}, {texts, of_all}, {tokens, lengths}}, {{y, ys}, {x, xs}}, {}};
    std::vector<double> expected, expected_longer;
    for (size_t s = 0; s < lengths.size(); ++s) {
      const size_t from = s < of_all[0] ? 0 : 2;
      for (uint32_t i = 0; i < lengths[s] + 2; ++i) {
        if (i < lengths[s]) expected.insert(expected.end(), ys.begin() + from * 5, ys.begin() + (from + 1) * 5);
        expected_longer.insert(expected_longer.end(), ys.begin() + from * 5, ys.begin() + (from + 1) * 5);
      }
    }
    ExpectClose(RunTiled(b, feed, of_tokens), expected, 0, 0);
    ExpectClose(RunTiled(b, feed, of_longer), expected_longer, 0, 0);
  }
}

// Rows that a run selects also get the row of their segment.
TEST(Broadcast, IntoSelectedRows) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t chosen = b.SelectedSpace("chosen", s.tokens, 2);
  const uint32_t y = b.Input("y", s.texts, 3), score = b.Input("score", s.tokens, 1);
  b.Op("select", {score}, {}, chosen, 1, {{Attribute::kKind, 2}});
  const uint32_t made = b.Op("broadcast", {y}, {}, chosen, 3);
  const uint32_t filled = b.Op("fill", {}, {b.Tensor(1, 3, {7, 8, 9})}, chosen, 3);
  const uint32_t sum = b.Op("add", {made, filled}, {}, chosen, 3);
  const std::vector<float> ys = b.RandomFloats(4 * 3), scores = b.RandomFloats(9);
  const std::vector<float> found = RunTiled(b, {{{s.tokens, {5, 0, 1, 3}}}, {{y, ys}, {score, scores}}, {}}, sum);
  std::vector<double> expected;
  for (const uint32_t text : {0u, 0u, 2u, 3u, 3u}) {
    for (uint32_t c = 0; c < 3; ++c) expected.push_back(double{ys[text * 3 + c]} + 7 + c);
  }
  ExpectClose(found, expected, 1e-7, 0);
}

TEST(Fill, EveryRow) {
  for (const uint32_t width : {1u, 6u, 35u}) {
    for (const Lengths& lengths : RaggedLengths()) {
      ModelBuilder b;
      const TextSpaces s(b);
      b.Input("x", s.tokens, 1);
      const std::vector<float> row = b.RandomFloats(width);
      const uint32_t filled = b.Op("fill", {}, {b.Tensor(1, width, row)}, s.tokens, width);
      const uint32_t twice = b.Op("scale", {filled}, {}, s.tokens, width, {{Attribute::kScale, 2}});
      const uint32_t pooled = b.Op("pool", {twice}, {}, s.texts, width, {{Attribute::kKind, 3}});
      std::vector<double> expected, expected_pooled;
      for (uint32_t i = 0; i < Total(lengths); ++i) expected.insert(expected.end(), row.begin(), row.end());
      for (const uint32_t length : lengths) {
        for (const float v : row) expected_pooled.push_back(length == 0 ? 0 : 2.0 * v);
      }
      const Feed feed = {{{s.tokens, lengths}}, {{0, b.RandomFloats(Total(lengths))}}, {}};
      ExpectClose(RunTiled(b, feed, filled), expected, 0, 0);
      ExpectClose(RunTiled(b, feed, pooled), expected_pooled, 0, 0);
    }
  }
}

// A learned vector queries each segment: attention of one query from the parent's space.
TEST(Fill, AsAQuery) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 4);
  const std::vector<float> row = {1, -0.5f, 0.25f, 2};
  const uint32_t question = b.Op("fill", {}, {b.Tensor(1, 4, row)}, s.texts, 4);
  const uint32_t extract = b.Op("attention", {question, x, x}, {}, s.texts, 4, {{Attribute::kScale, 1}});
  const Lengths lengths = {3, 0, 1, 18};
  const std::vector<float> xs = b.RandomFloats(22 * 4);
  std::vector<double> expected;
  size_t begin = 0;
  for (const uint32_t length : lengths) {
    double sum = 0, mean[4] = {};
    for (size_t i = begin; i < begin + length; ++i) {
      double score = 0;
      for (size_t c = 0; c < 4; ++c) score += double{row[c]} * xs[i * 4 + c];
      sum += std::exp(score);
      for (size_t c = 0; c < 4; ++c) mean[c] += std::exp(score) * xs[i * 4 + c];
    }
    for (const double m : mean) expected.push_back(length == 0 ? 0 : m / sum);
    begin += length;
  }
  ExpectClose(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, extract), expected, 2e-6, 0);
}

TEST(Broadcast, ShapeRules) {
  struct Try {
    ModelBuilder b;
    TextSpaces s{b};
    uint32_t words = b.Space("words", s.tokens), other = b.Space("other");
    uint32_t y = b.Input("y", s.texts, 8), x = b.Input("x", s.tokens, 8), narrow = b.Input("narrow", s.tokens, 7);
    uint32_t word = b.Input("word", words, 8), ids = b.Input("ids", s.texts, 8, DType::kI32);
    uint32_t narrow_y = b.Input("narrow_y", s.texts, 7), stranger = b.Input("stranger", other, 8);
  };
  const auto refused = [](const char* what, fovea_status status, std::vector<uint32_t Try::*> inputs,
                          uint32_t TextSpaces::*to, const Attributes& attributes, uint32_t tensors = 0) {
    Try t;
    std::vector<uint32_t> in;
    for (const auto input : inputs) in.push_back(t.*input);
    t.b.Op("broadcast", in, std::vector<uint32_t>(tensors, tensors == 0 ? 0 : t.b.RandomTensor(1, 8)), t.s.*to, 8,
           attributes);
    ExpectStatus(t.b, status, what);
  };
  const auto tokens = &TextSpaces::tokens;
  refused("fine", FOVEA_OK, {&Try::y}, tokens, {});
  refused("fine", FOVEA_OK, {&Try::y, &Try::x}, tokens, {{Attribute::kRows, 2}, {Attribute::kCombine, 1}});
  refused("width", FOVEA_E_SHAPE, {&Try::y, &Try::narrow}, tokens, {});
  refused("width", FOVEA_E_SHAPE, {&Try::narrow_y, &Try::x}, tokens, {});
  refused("type", FOVEA_E_SHAPE, {&Try::ids, &Try::x}, tokens, {});
  refused("other way", FOVEA_E_SHAPE, {&Try::x, &Try::y}, &TextSpaces::texts, {});
  refused("same space", FOVEA_E_SHAPE, {&Try::x, &Try::x}, tokens, {});
  refused("stranger", FOVEA_E_SHAPE, {&Try::stranger, &Try::x}, tokens, {});
  refused("another child", FOVEA_E_SHAPE, {&Try::y, &Try::word}, tokens, {});
  refused("grandparent", FOVEA_E_SHAPE, {&Try::y}, &TextSpaces::texts, {});
  refused("rows", FOVEA_E_OP, {&Try::y, &Try::x}, tokens, {{Attribute::kRows, 3}});
  refused("combine", FOVEA_E_OP, {&Try::y, &Try::x}, tokens, {{Attribute::kCombine, 2}});
  refused("rows of nothing", FOVEA_E_RECORD, {&Try::y}, tokens, {{Attribute::kRows, 1}});
  refused("adding to nothing", FOVEA_E_RECORD, {&Try::y}, tokens, {{Attribute::kCombine, 1}});
  refused("tensor", FOVEA_E_RECORD, {&Try::y, &Try::x}, tokens, {}, 1);
  refused("attribute", FOVEA_E_OP, {&Try::y, &Try::x}, tokens, {{Attribute::kHeads, 1}});
  refused("inputs", FOVEA_E_RECORD, {&Try::y, &Try::x, &Try::x}, tokens, {});
}

TEST(Fill, ShapeRules) {
  const auto refused = [](const char* what, fovea_status status, uint32_t rows, uint32_t width, DType type,
                          uint32_t tensors, bool input) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 32);
    std::vector<uint32_t> in;
    if (input) in.push_back(x);
    b.Op("fill", in, std::vector<uint32_t>(tensors, tensors == 0 ? 0 : b.RandomTensor(rows, width, type)), s.tokens,
         32);
    ExpectStatus(b, status, what);
  };
  refused("fine", FOVEA_OK, 1, 32, DType::kF32, 1, false);
  refused("rows", FOVEA_E_SHAPE, 2, 32, DType::kF32, 1, false);
  refused("width", FOVEA_E_SHAPE, 1, 31, DType::kF32, 1, false);
  refused("type", FOVEA_E_SHAPE, 1, 32, DType::kI8, 1, false);
  refused("no row", FOVEA_E_RECORD, 1, 32, DType::kF32, 0, false);
  refused("input", FOVEA_E_RECORD, 1, 32, DType::kF32, 1, true);
  ModelBuilder b;
  const TextSpaces s(b);
  b.Op("fill", {}, {kBlobNone}, s.tokens, 32);
  ExpectRefused(b, FOVEA_E_RECORD, "absent row");
}

}  // namespace
}  // namespace fovea::test
