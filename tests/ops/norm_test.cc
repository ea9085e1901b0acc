// Layer norm, RMS norm (of rows and of heads in them), unit length and softmax of rows.
#include "runtime/blob/attributes.h"
#include "runtime/blob/names.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

struct NormCase {
  bool rms, weight, bias, offset;
  double epsilon;
};

// In f32 a row's sums lose a few 1e-7; 3e-6 of the largest entry covers them at these widths.
TEST(Norm, KindsAndOperands) {
  for (const auto& [width, heads] :
       {std::pair{1u, 1u}, {5u, 1u}, {16u, 1u}, {37u, 1u}, {100u, 1u}, {5u, 3u}, {16u, 2u}, {37u, 4u}}) {
    for (const NormCase c : {NormCase{false, false, false, false, 1e-5},
                             {false, true, false, false, 1e-12},
                             {false, true, true, false, 1e-6},
                             {false, false, true, false, 1e-2},
                             {true, false, false, false, 1e-6},
                             {true, true, false, false, 1e-5},
                             {true, true, false, true, 1e-3}}) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t x = b.Input("x", s.tokens, width * heads);
      std::vector<uint32_t> tensors;
      std::vector<float> weight(width, 1.0f), bias(width, 0.0f);
      if (c.weight) {
        weight = b.RandomFloats(width);
        tensors.push_back(b.Tensor(1, width, weight));
      }
      if (c.bias) {
        bias = b.RandomFloats(width);
        if (!c.weight) tensors.push_back(kBlobNone);
        tensors.push_back(b.Tensor(1, width, bias));
      }
      Attributes attributes = {{Attribute::kKind, c.rms ? 1 : 0}, {Attribute::kEpsilon, c.epsilon}};
      if (c.offset) attributes.push_back({Attribute::kWeightOffset, 0.75});
      if (heads != 1) attributes.push_back({Attribute::kHeads, heads});
      const uint32_t y = b.Op("norm", {x}, tensors, s.tokens, width * heads, attributes);
      std::vector<float> xs = b.RandomFloats(size_t{26} * width * heads);
      for (float& v : xs) v += 0.5f;
      const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, y);
      std::vector<double> expected;
      for (uint32_t r = 0; r < 26 * heads; ++r) {
        const float* row = &xs[size_t{r} * width];
        double mean = 0, square = 0;
        for (uint32_t i = 0; i < width && !c.rms; ++i) mean += row[i] / double{1} / width;
        for (uint32_t i = 0; i < width; ++i) square += (row[i] - mean) * (row[i] - mean) / width;
        const double epsilon = static_cast<float>(c.epsilon);
        for (uint32_t i = 0; i < width; ++i) {
          expected.push_back((row[i] - mean) / std::sqrt(square + epsilon) * (weight[i] + (c.offset ? 0.75 : 0)) +
                             bias[i]);
        }
      }
      // A row of one entry equals its mean: the rounding error that remains is divided by sqrt(epsilon).
      ExpectClose(found, expected, 3e-6, width == 1 ? 1e-4 : 0, std::to_string(heads) + " of " + std::to_string(width));
    }
  }
}

// A row of weights for each head gives what each head gives alone with its row.
TEST(Norm, WeightsOfEachHead) {
  for (const uint32_t width : {1u, 6u, 16u, 33u}) {
    for (const uint32_t rms : {0u, 1u}) {
      const uint32_t heads = 3;
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t x = b.Input("x", s.tokens, width * heads);
      const std::vector<float> weight = b.RandomFloats(width * heads), bias = b.RandomFloats(width * heads);
      std::vector<uint32_t> tensors = {b.Tensor(heads, width, weight)};
      if (rms == 0) tensors.push_back(b.Tensor(heads, width, bias));
      const Attributes attributes = {{Attribute::kKind, rms}, {Attribute::kEpsilon, 1e-3}};
      Attributes by_head = attributes;
      by_head.push_back({Attribute::kHeads, heads});
      const uint32_t all = b.Op("norm", {x}, tensors, s.tokens, width * heads, by_head);
      std::vector<uint32_t> parts;
      for (uint32_t head = 0; head < heads; ++head) {
        const uint32_t part =
            b.Op("slice", {x}, {}, s.tokens, width, {{Attribute::kBegin, head * width}, {Attribute::kWidth, width}});
        const auto row = [&](const std::vector<float>& of) {
          return b.Tensor(1, width, {of.begin() + head * width, of.begin() + (head + 1) * width});
        };
        std::vector<uint32_t> own = {row(weight)};
        if (rms == 0) own.push_back(row(bias));
        parts.push_back(b.Op("norm", {part}, own, s.tokens, width, attributes));
      }
      const uint32_t joined = b.Op("concat", parts, {}, s.tokens, width * heads);
      const std::vector<float> xs = b.RandomFloats(size_t{26} * width * heads);
      const Feed inputs = {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}};
      EXPECT_EQ(RunTiled(b, inputs, all), RunTiled(b, inputs, joined)) << width;
    }
  }
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 12);
  b.SetOutput(b.Op("norm", {x}, {b.RandomTensor(2, 4)}, s.tokens, 12, {{Attribute::kHeads, 3}}));
  ExpectRefused(b, FOVEA_E_SHAPE, "two weights for three heads");
}

TEST(Norm, DefaultEpsilonAndConstantRows) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 24);
  const uint32_t y = b.Op("norm", {x}, {}, s.tokens, 24);
  const uint32_t z = b.Op("norm", {x}, {}, s.tokens, 24, {{Attribute::kEpsilon, 1e-5}});
  b.SetOutput(z);
  const std::vector<float> xs = b.RandomFloats(5 * 24, 0.01f);
  EXPECT_EQ(RunTiled(b, {{{s.tokens, {5}}}, {{x, xs}}, {}}, y), RunTiled(b, {{{s.tokens, {5}}}, {{x, xs}}, {}}, z));
  for (const float v : RunTiled(b, {{{s.tokens, {5}}}, {{x, std::vector<float>(5 * 24, 3.0f)}}, {}}, y)) {
    EXPECT_EQ(v, 0.0f);
  }
}

TEST(Norm, ShapeRules) {
  struct Try {
    ModelBuilder b;
    TextSpaces s{b};
    uint32_t x = b.Input("x", s.tokens, 8), narrow = b.Input("narrow", s.tokens, 7),
             ids = b.Input("i", s.tokens, 8, DType::kI32);
  };
  const auto refused = [](const char* what, fovea_status status, uint32_t Try::*input,
                          const std::function<std::vector<uint32_t>(ModelBuilder&)>& tensors,
                          const Attributes& attributes, uint32_t texts = 0) {
    Try t;
    const std::vector<uint32_t> made = tensors(t.b);
    t.b.Op("norm", {t.*input}, made, texts != 0 ? t.s.texts : t.s.tokens, 8, attributes);
    ExpectStatus(t.b, status, what);
  };
  const auto none = [](ModelBuilder&) { return std::vector<uint32_t>(); };
  const auto both = [](ModelBuilder& b) { return std::vector<uint32_t>{b.RandomTensor(1, 8), b.RandomTensor(1, 8)}; };
  refused("fine", FOVEA_OK, &Try::x, both, {});
  refused("width", FOVEA_E_SHAPE, &Try::narrow, none, {});
  refused("type", FOVEA_E_SHAPE, &Try::ids, none, {});
  refused("space", FOVEA_E_SHAPE, &Try::x, none, {}, 1);
  refused("kind", FOVEA_E_OP, &Try::x, none, {{Attribute::kKind, 2}});
  refused("rms with bias", FOVEA_E_RECORD, &Try::x, both, {{Attribute::kKind, 1}});
  refused("layer with offset", FOVEA_E_RECORD, &Try::x, none, {{Attribute::kWeightOffset, 1}});
  refused("epsilon", FOVEA_E_RECORD, &Try::x, none, {{Attribute::kEpsilon, INFINITY}});
  refused("offset", FOVEA_E_RECORD, &Try::x, none, {{Attribute::kKind, 1}, {Attribute::kWeightOffset, NAN}});
  refused("attribute", FOVEA_E_OP, &Try::x, none, {{Attribute::kClamp, 1}});
  refused("no heads", FOVEA_E_SHAPE, &Try::x, none, {{Attribute::kHeads, 0}});
  refused("heads that do not divide", FOVEA_E_SHAPE, &Try::x, none, {{Attribute::kHeads, 3}});
  refused("more heads than entries", FOVEA_E_SHAPE, &Try::x, none, {{Attribute::kHeads, 16}});
  refused("heads", FOVEA_OK, &Try::x, none, {{Attribute::kHeads, 4}});
  refused("weight of a row for heads", FOVEA_E_SHAPE, &Try::x, both, {{Attribute::kHeads, 2}});
  for (const bool bias : {false, true}) {
    const auto with = [bias](uint32_t rows, uint32_t width, DType type) {
      return [=](ModelBuilder& b) {
        std::vector<uint32_t> made;
        if (bias) made.push_back(kBlobNone);
        made.push_back(b.RandomTensor(rows, width, type));
        return made;
      };
    };
    refused("tensor width", FOVEA_E_SHAPE, &Try::x, with(1, 7, DType::kF32), {});
    refused("tensor rows", FOVEA_E_SHAPE, &Try::x, with(2, 8, DType::kF32), {});
    refused("tensor type", FOVEA_E_SHAPE, &Try::x, with(1, 8, DType::kF16), {});
  }
}

TEST(Normalize, UnitLength) {
  for (const uint32_t width : {1u, 6u, 65u}) {
    for (const uint32_t clamp : {0u, 1u}) {
      for (const double epsilon : {1e-12, 0.5}) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t x = b.Input("x", s.tokens, width);
        const uint32_t y =
            b.Op("normalize", {x}, {}, s.tokens, width, {{Attribute::kClamp, clamp}, {Attribute::kEpsilon, epsilon}});
        std::vector<float> xs = b.RandomFloats(size_t{26} * width);
        for (uint32_t i = 0; i < 4 * width; ++i) xs[i] *= 1e-3f;        // below the guard of 0.5
        for (uint32_t i = 0; i < width; ++i) xs[5 * width + i] = 0.0f;  // zero stays zero
        const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, y);
        std::vector<double> expected;
        for (uint32_t r = 0; r < 26; ++r) {
          double squares = 0;
          for (uint32_t i = 0; i < width; ++i) squares += double{xs[r * width + i]} * xs[r * width + i];
          const double e = static_cast<float>(epsilon);
          const double length = clamp == 0 ? std::fmax(std::sqrt(squares), e) : std::sqrt(std::fmax(squares, e));
          for (uint32_t i = 0; i < width; ++i) expected.push_back(xs[r * width + i] / length);
        }
        ExpectClose(found, expected, 1e-6, 0);
      }
    }
  }
}

// The length is the root of a number that another value holds for each row, which may be negative.
TEST(Normalize, LengthsAreGiven) {
  for (const uint32_t width : {1u, 6u, 65u}) {
    for (const uint32_t clamp : {0u, 1u}) {
      for (const double epsilon : {1e-12, 0.5}) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t x = b.Input("x", s.tokens, width), squares = b.Input("squares", s.tokens, 1);
        const uint32_t y = b.Op("normalize", {x, squares}, {}, s.tokens, width,
                                {{Attribute::kClamp, clamp}, {Attribute::kEpsilon, epsilon}});
        const std::vector<float> xs = b.RandomFloats(size_t{26} * width);
        std::vector<float> given = b.RandomFloats(26);  // some are negative
        for (uint32_t r = 0; r < 26; ++r) given[r] *= static_cast<float>(r);
        const std::vector<float> found =
            RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}, {squares, given}}, {}}, y);
        std::vector<double> expected;
        for (uint32_t r = 0; r < 26; ++r) {
          const double e = static_cast<float>(epsilon), square = std::fmax(given[r], 0.0);
          const double length = clamp == 0 ? std::fmax(std::sqrt(square), e) : std::sqrt(std::fmax(square, e));
          for (uint32_t i = 0; i < width; ++i) expected.push_back(xs[r * width + i] / length);
        }
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_NEAR(found[i], expected[i], 3e-7 * std::fabs(expected[i])) << i << " of " << width;
        }
      }
    }
  }
}

TEST(Normalize, GivenLengthsMustBeOneForEachRow) {
  const auto said = [](uint32_t width, DType type, bool texts) {
    auto b = std::make_unique<ModelBuilder>();
    const TextSpaces s(*b);
    const uint32_t x = b->Input("x", s.tokens, 8);
    const uint32_t squares = b->Input("squares", texts ? s.texts : s.tokens, width, type);
    b->Op("normalize", {x, squares}, {}, s.tokens, 8);
    return b;
  };
  ExpectStatus(*said(1, DType::kF32, false), FOVEA_OK, "fine");
  ExpectStatus(*said(8, DType::kF32, false), FOVEA_E_SHAPE, "a length for each column");
  ExpectStatus(*said(1, DType::kI32, false), FOVEA_E_SHAPE, "ids");
  ExpectStatus(*said(1, DType::kF32, true), FOVEA_E_SHAPE, "of another space");
}

TEST(Softmax, RowsSumToOne) {
  for (const uint32_t width : {1u, 2u, 17u, 70u}) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, width);
    const uint32_t y = b.Op("softmax", {x}, {}, s.tokens, width);
    const uint32_t log = b.Op("softmax", {x}, {}, s.tokens, width, {{Attribute::kLog, 1}});
    b.SetOutput(log);
    std::vector<float> xs = b.RandomFloats(size_t{26} * width, 10);
    for (uint32_t i = 0; i < width; ++i) xs[i] += 1000;  // no overflow
    const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, y);
    std::vector<double> expected;
    for (uint32_t r = 0; r < 26; ++r) {
      const float* row = &xs[size_t{r} * width];
      const double most = *std::max_element(row, row + width);
      double sum = 0;
      for (uint32_t i = 0; i < width; ++i) sum += std::exp(row[i] - most);
      for (uint32_t i = 0; i < width; ++i) expected.push_back(std::exp(row[i] - most) / sum);
    }
    ExpectClose(found, expected, 1e-6, 0);
    for (double& share : expected) share = std::log(share);
    ExpectClose(RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, log), expected, 1e-6, 1e-6);
  }
}

TEST(Normalize, ShapeRules) {
  for (const std::string op : {"normalize", "softmax"}) {
    const auto refused = [&](fovea_status status, uint32_t in_width, DType type, bool texts, uint32_t tensors,
                             const Attributes& attributes) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t x = b.Input("x", s.tokens, in_width, type);
      b.Op(op, {x}, std::vector<uint32_t>(tensors, tensors == 0 ? 0 : b.RandomTensor(1, 8)), texts ? s.texts : s.tokens,
           8, attributes);
      ExpectStatus(b, status, op);
    };
    refused(FOVEA_OK, 8, DType::kF32, false, 0, {});
    refused(FOVEA_E_SHAPE, 7, DType::kF32, false, 0, {});
    refused(FOVEA_E_SHAPE, 8, DType::kI32, false, 0, {});
    refused(FOVEA_E_SHAPE, 8, DType::kF32, true, 0, {});
    refused(FOVEA_E_RECORD, 8, DType::kF32, false, 1, {});
    refused(FOVEA_E_OP, 8, DType::kF32, false, 0, {{Attribute::kClamp, 2}});
    refused(FOVEA_E_OP, 8, DType::kF32, false, 0, {{Attribute::kActivation, 0}});
    refused(FOVEA_E_OP, 8, DType::kF32, false, 0, {{Attribute::kLog, 2}});
    refused(op == "softmax" ? FOVEA_OK : FOVEA_E_OP, 8, DType::kF32, false, 0, {{Attribute::kLog, 0}});
  }
}

}  // namespace
}  // namespace fovea::test
