// add, activate, gate and scale: operations on single entries.
#include "runtime/blob/attributes.h"
#include "runtime/blob/names.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/reference_gemm.h"

namespace fovea::test {
namespace {

using testing::ReferenceActivation;

TEST(Add, SumsEntries) {
  for (const uint32_t width : {1u, 7u, 16u, 33u}) {
    for (const Lengths& lengths : RaggedLengths()) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t x = b.Input("x", s.tokens, width), y = b.Input("y", s.tokens, width);
      const uint32_t sum = b.Op("add", {x, y}, {}, s.tokens, width);
      const size_t count = size_t{Total(lengths)} * width;
      const std::vector<float> xs = b.RandomFloats(count), ys = b.RandomFloats(count);
      const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}, {y, ys}}, {}}, sum);
      ASSERT_EQ(found.size(), count);
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(found[i], xs[i] + ys[i]);  // one rounding: exact
    }
  }
}

TEST(Add, OneValueTwice) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 5);
  const uint32_t twice = b.Op("add", {x, x}, {}, s.tokens, 5);
  const std::vector<float> xs = b.RandomFloats(6 * 5);
  const std::vector<float> found = RunTiled(b, {{{s.tokens, {2, 4}}}, {{x, xs}}, {}}, twice);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], 2 * xs[i]);
}

TEST(Scale, MultipliesEntries) {
  for (const double scale : {1.0, 0.0, -2.5, 1e-3}) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 9);
    const uint32_t y = b.Op("scale", {x}, {}, s.tokens, 9, {{Attribute::kScale, scale}});
    const std::vector<float> xs = b.RandomFloats(26 * 9);
    const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, y);
    for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], static_cast<float>(scale) * xs[i]);
  }
  ModelBuilder b;  // absent: 1
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 9);
  const uint32_t y = b.Op("scale", {x}, {}, s.tokens, 9);
  const std::vector<float> xs = b.RandomFloats(4 * 9);
  EXPECT_EQ(RunTiled(b, {{{s.tokens, {4}}}, {{x, xs}}, {}}, y), xs);
}

// Kernels promise 3e-7 * max(1, |x|); the logarithm promises it relative to its result.
double SizeOf(uint32_t activation, double x) {
  const bool log = Activation(activation) == Activation::kLog;
  return std::fmax(1, std::fabs(log ? ReferenceActivation(Activation::kLog, x) : x));
}

TEST(Activate, EachFunction) {
  for (uint32_t activation = 0; activation < kActivationCount; ++activation) {
    for (const uint32_t width : {1u, 13u, 32u}) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t x = b.Input("x", s.tokens, width);
      const uint32_t y = b.Op("activate", {x}, {}, s.tokens, width, {{Attribute::kActivation, activation}});
      const std::vector<float> xs = b.RandomFloats(size_t{26} * width, 4);
      const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, y);
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], ReferenceActivation(Activation(activation), xs[i]), 3e-7 * SizeOf(activation, xs[i]))
            << "activation " << activation << " of " << xs[i];
      }
    }
  }
}

TEST(Gate, EachFunction) {
  for (uint32_t activation = 0; activation < kActivationCount; ++activation) {
    for (const uint32_t width : {1u, 13u, 32u}) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t a = b.Input("a", s.tokens, width), c = b.Input("c", s.tokens, width);
      const uint32_t y = b.Op("gate", {a, c}, {}, s.tokens, width, {{Attribute::kActivation, activation}});
      const std::vector<float> as = b.RandomFloats(size_t{26} * width, 3), cs = b.RandomFloats(size_t{26} * width, 2);
      const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{a, as}, {c, cs}}, {}}, y);
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], ReferenceActivation(Activation(activation), as[i]) * cs[i],
                    4e-7 * SizeOf(activation, as[i]) * std::fmax(1, std::fabs(cs[i])))
            << "activation " << activation;
      }
    }
  }
}

// One number for all columns, on either side.
TEST(Gate, ByOneNumber) {
  for (uint32_t activation = 0; activation < kActivationCount; ++activation) {
    for (const bool first : {true, false}) {
      for (const uint32_t width : {1u, 2u, 13u, 32u}) {
        for (const Lengths& lengths : {RaggedLengths()[0], Lengths{150}, Lengths{0}}) {
          ModelBuilder b;
          const TextSpaces s(b);
          const uint32_t a = b.Input("a", s.tokens, first ? 1 : width), c = b.Input("c", s.tokens, first ? width : 1);
          const uint32_t y = b.Op("gate", {a, c}, {}, s.tokens, width, {{Attribute::kActivation, activation}});
          const size_t rows = Total(lengths);
          const std::vector<float> as = b.RandomFloats(rows * (first ? 1 : width), 3);
          const std::vector<float> cs = b.RandomFloats(rows * (first ? width : 1), 2);
          const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{a, as}, {c, cs}}, {}}, y);
          ASSERT_EQ(found.size(), rows * width);
          for (size_t i = 0; i < found.size(); ++i) {
            const double of_a = as[first ? i / width : i], of_c = cs[first ? i : i / width];
            ASSERT_NEAR(found[i], ReferenceActivation(Activation(activation), of_a) * of_c,
                        4e-7 * SizeOf(activation, of_a) * std::fmax(1, std::fabs(of_c)))
                << "activation " << activation;
          }
        }
      }
    }
  }
  ModelBuilder b;  // the result is as wide as the wider one
  const TextSpaces s(b);
  const uint32_t a = b.Input("a", s.tokens, 1);
  b.Op("gate", {a, a}, {}, s.tokens, 8);
  ExpectRefused(b, FOVEA_E_SHAPE, "two numbers");
}

// Bounds and shifts, alone and together; also over more columns than one step of the kernel.
TEST(Gate, LimitAndShift) {
  for (const auto& [limit, shift] : {std::pair<float, float>{1.5f, 0.0f}, {0.0f, -0.5f}, {0.7f, 1.0f}}) {
    for (const uint32_t width : {1u, 13u, 600u}) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t a = b.Input("a", s.tokens, width), c = b.Input("c", s.tokens, width);
      const auto quick = static_cast<uint32_t>(Activation::kQuickGelu);
      const uint32_t y =
          b.Op("gate", {a, c}, {}, s.tokens, width,
               {{Attribute::kActivation, quick}, {Attribute::kLimit, limit}, {Attribute::kShift, shift}});
      const std::vector<float> as = b.RandomFloats(size_t{26} * width, 3), cs = b.RandomFloats(size_t{26} * width, 3);
      const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{a, as}, {c, cs}}, {}}, y);
      for (size_t i = 0; i < found.size(); ++i) {
        double of_a = as[i], of_c = cs[i];
        if (limit != 0) of_a = std::fmin(of_a, limit), of_c = std::fmax(std::fmin(of_c, limit), -limit);
        ASSERT_NEAR(found[i], ReferenceActivation(Activation::kQuickGelu, of_a) * (of_c + shift), 1e-5);
      }
    }
  }
}

TEST(Activate, Limit) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 13);
  const uint32_t y = b.Op("activate", {x}, {}, s.tokens, 13, {{Attribute::kLimit, 1.25}});
  std::vector<float> xs = b.RandomFloats(26 * 13, 3);
  xs[3] = INFINITY, xs[4] = -INFINITY;
  const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, y);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], std::fmax(std::fmin(xs[i], 1.25f), -1.25f));
}

TEST(Elementwise, LimitsHaveRules) {
  const auto expect = [](const std::string& op, uint32_t first, const Attributes& attributes, fovea_status status) {
    ModelBuilder b;
    const TextSpaces s(b);
    std::vector<uint32_t> in = {b.Input("a", s.tokens, first)};
    if (op == "gate") in.push_back(b.Input("b", s.tokens, 8));
    b.Op(op, in, {}, s.tokens, 8, attributes);
    ExpectStatus(b, status, op);
  };
  for (const char* op : {"gate", "activate"}) {
    expect(op, 8, {{Attribute::kLimit, 2}}, FOVEA_OK);
    expect(op, 8, {{Attribute::kLimit, -2}}, FOVEA_E_OP);
    expect(op, 8, {{Attribute::kLimit, NAN}}, FOVEA_E_RECORD);
  }
  expect("gate", 1, {{Attribute::kLimit, 2}}, FOVEA_E_SHAPE);
  expect("gate", 1, {{Attribute::kShift, 2}}, FOVEA_E_SHAPE);
  expect("activate", 8, {{Attribute::kShift, 2}}, FOVEA_E_OP);
}

TEST(Elementwise, ShapeRules) {
  struct Case {
    std::string_view op;
    uint32_t inputs;
  };
  for (const Case c : {Case{"add", 2}, {"activate", 1}, {"gate", 2}, {"scale", 1}}) {
    const std::string name = std::string(c.op);
    // x: valid; narrow, other: of another width and space; ids: not f32.
    struct Try {
      ModelBuilder b;
      TextSpaces s{b};
      uint32_t x = b.Input("x", s.tokens, 8), narrow = b.Input("narrow", s.tokens, 7);
      uint32_t other = b.Input("other", s.texts, 8), ids = b.Input("ids", s.tokens, 8, DType::kI32);
    };
    const auto refused = [&](const char* what, fovea_status status, uint32_t Try::*wrong, uint32_t at) {
      Try t;
      std::vector<uint32_t> inputs(c.inputs, t.x);
      inputs[at] = t.*wrong;
      t.b.Op(c.op, inputs, {}, t.s.tokens, 8);
      ExpectRefused(t.b, status, name + ": " + what);
    };
    for (uint32_t at = 0; at < c.inputs; ++at) {
      refused("width", FOVEA_E_SHAPE, &Try::narrow, at);
      refused("space", FOVEA_E_SHAPE, &Try::other, at);
      refused("type", FOVEA_E_SHAPE, &Try::ids, at);
    }
    const auto with = [&](uint32_t inputs, uint32_t tensors, const Attributes& attributes) {
      auto t = std::make_unique<Try>();
      t->b.Op(c.op, std::vector<uint32_t>(inputs, t->x),
              std::vector<uint32_t>(tensors, tensors == 0 ? 0 : t->b.RandomTensor(1, 8)), t->s.tokens, 8, attributes);
      return t;
    };
    ExpectAccepted(with(c.inputs, 0, {})->b, name);
    ExpectRefused(with(c.inputs + 1, 0, {})->b, FOVEA_E_RECORD, name + ": inputs");
    ExpectRefused(with(c.inputs - 1, 0, {})->b, FOVEA_E_RECORD, name + ": inputs");
    ExpectRefused(with(c.inputs, 1, {})->b, FOVEA_E_RECORD, name + ": tensors");
    ExpectRefused(with(c.inputs, 0, {{Attribute::kHeads, 1}})->b, FOVEA_E_OP, name + ": attribute");
    const bool activates = c.op == "activate" || c.op == "gate";
    ExpectRefused(with(c.inputs, 0, {{Attribute::kActivation, kActivationCount}})->b, FOVEA_E_OP,
                  name + ": activation");
    if (activates) ExpectAccepted(with(c.inputs, 0, {{Attribute::kActivation, kActivationCount - 1}})->b, name);
    const double bad_scale = c.op == "scale" ? NAN : 1;
    ExpectRefused(with(c.inputs, 0, {{Attribute::kScale, bad_scale}})->b, c.op == "scale" ? FOVEA_E_RECORD : FOVEA_E_OP,
                  name + ": scale");
  }
}

}  // namespace
}  // namespace fovea::test
