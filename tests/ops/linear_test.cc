// Linear layers: every type of weights, activation and backend, with and without bias, against the stored weights'
// values.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/reference_gemm.h"

namespace fovea::test {
namespace {

using testing::GemmSplits;
using testing::ReferenceActivation;
using testing::SplitBound;
using testing::SpreadOf;

const DType kTypes[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI4};
const uint32_t kBackends[] = {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY};

// Bound on the error of a product with weights w when row x is quantized to int8: half a step (a 255th of the range,
// zero included) for each entry, one step where the zero point was rounded as well.
double QuantizationBound(const float* x, const float* w, uint32_t k) {
  double low = 0, high = 0, sum = 0;
  for (uint32_t i = 0; i < k; ++i) {
    low = std::min<double>(low, x[i]);
    high = std::max<double>(high, x[i]);
    sum += std::fabs(w[i]);
  }
  return (high - low) / 255 * sum;
}

struct LinearCase {
  DType type;
  uint32_t inputs, outputs, activation;
  bool bias;
};

std::vector<LinearCase> LinearCases() {
  struct Shape {
    uint32_t k, n;
  };
  std::vector<LinearCase> cases;
  for (const DType type : kTypes) {
    for (const Shape shape : {Shape{32, 1}, {64, 33}, {96, 70}, {type == DType::kI4 ? 32u : 19u, 5}}) {
      for (uint32_t activation = 0; activation < kActivationCount; ++activation) {
        for (const bool bias : {false, true}) cases.push_back({type, shape.k, shape.n, activation, bias});
      }
    }
  }
  return cases;
}

// Compares the layer's output for one row of x with sums in double.
void ExpectRow(const LinearCase& c, uint32_t backend, const float* found, const float* x,
               const std::vector<float>& weights, const std::vector<float>& biases) {
  const auto activation = Activation(c.activation);
  for (uint32_t column = 0; column < c.outputs; ++column) {
    const float* w = &weights[column * c.inputs];
    double sum = biases[column], magnitude = std::fabs(biases[column]);
    for (uint32_t i = 0; i < c.inputs; ++i) {
      sum += double{x[i]} * w[i];
      magnitude += std::fabs(double{x[i]} * w[i]);
    }
    double tolerance = 1e-6 * magnitude + 1e-6;
    if (GemmTakesQuantized(c.type)) tolerance += QuantizationBound(x, w, c.inputs);
    if (GemmSplits(c.type, backend)) tolerance += SplitBound(x, w, c.inputs);
    ASSERT_NEAR(found[column], ReferenceActivation(activation, sum), SpreadOf(activation, sum, tolerance))
        << "column " << column;
  }
}

TEST(Linear, TypesActivationsAndBias) {
  for (const LinearCase& c : LinearCases()) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, c.inputs);
    const uint32_t w = b.RandomTensor(c.outputs, c.inputs, c.type);
    std::vector<uint32_t> tensors = {w};
    std::vector<float> biases(c.outputs, 0.0f);
    if (c.bias) {
      biases = b.RandomFloats(c.outputs);
      tensors.push_back(b.Tensor(1, c.outputs, biases));
    } else if (c.activation % 2 == 0) {
      tensors.push_back(kBlobNone);  // absent in either way
    }
    const uint32_t y = b.Op("linear", {x}, tensors, s.tokens, c.outputs, {{Attribute::kActivation, c.activation}});
    const std::vector<float> xs = b.RandomFloats(size_t{26} * c.inputs);
    const std::vector<float> ws = b.TensorValues(w);
    for (const uint32_t backend : kBackends) {
      const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, y, backend);
      ASSERT_EQ(found.size(), size_t{26} * c.outputs);
      for (uint32_t r = 0; r < 26; ++r) {
        SCOPED_TRACE("type " + std::to_string(static_cast<int>(c.type)) + " activation " +
                     std::to_string(c.activation) + " backend " + std::to_string(backend) + " row " +
                     std::to_string(r));
        ASSERT_NO_FATAL_FAILURE(ExpectRow(c, backend, &found[size_t{r} * c.outputs], &xs[r * c.inputs], ws, biases));
      }
    }
  }
}

// Rows quantized for one layer are reused by the layers with the same input, and only by these.
TEST(Linear, SeveralLayersShareQuantizedRows) {
  for (const uint32_t backend : kBackends) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 64);
    std::vector<uint32_t> weights;
    for (int i = 0; i < 4; ++i) weights.push_back(b.RandomTensor(64, 64, i == 1 ? DType::kI4 : DType::kI8));
    const uint32_t a = b.Op("linear", {x}, {weights[0]}, s.tokens, 64);
    const uint32_t c = b.Op("linear", {x}, {weights[1]}, s.tokens, 64);
    const uint32_t d = b.Op("linear", {a}, {weights[2]}, s.tokens, 64);
    const uint32_t e = b.Op("linear", {x}, {weights[3]}, s.tokens, 64);
    for (const uint32_t v : {a, c, d, e}) b.SetOutput(v);
    const std::vector<float> xs = b.RandomFloats(26 * 64);
    const Feed feed = {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}};
    // Each alone.
    const std::vector<float> first = RunTiled(b, feed, a, backend);
    const auto alone = [&](uint32_t weight, const std::vector<float>& rows) {
      ModelBuilder one;
      const TextSpaces t(one);
      const uint32_t in = one.Input("x", t.tokens, 64);
      one.content().tensors = b.content().tensors;
      const uint32_t out = one.Op("linear", {in}, {weight}, t.tokens, 64);
      return RunTiled(one, {{{t.tokens, RaggedLengths()[0]}}, {{in, rows}}, {}}, out, backend);
    };
    EXPECT_EQ(first, alone(weights[0], xs));
    EXPECT_EQ(RunTiled(b, feed, c, backend), alone(weights[1], xs));
    EXPECT_EQ(RunTiled(b, feed, d, backend), alone(weights[2], first));
    EXPECT_EQ(RunTiled(b, feed, e, backend), alone(weights[3], xs));
  }
}

// W and 2 W have the same int8 entries, which a blob stores once, and different scales.
TEST(Linear, LayersMayDifferInScalesAlone) {
  for (const DType type : {DType::kI8, DType::kI4}) {
    for (const uint32_t backend : kBackends) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t x = b.Input("x", s.tokens, 64);
      const std::vector<float> once = b.RandomFloats(16 * 64);
      std::vector<float> doubled = once;
      for (float& v : doubled) v *= 2;
      const uint32_t y = b.Op("linear", {x}, {b.Tensor(16, 64, once, type)}, s.tokens, 16);
      const uint32_t z = b.Op("linear", {x}, {b.Tensor(16, 64, doubled, type)}, s.tokens, 16);
      b.SetOutput(y);
      b.SetOutput(z);
      const Feed feed = {{{s.tokens, {9}}}, {{x, b.RandomFloats(9 * 64)}}, {}};
      const std::vector<float> ys = RunTiled(b, feed, y, backend), zs = RunTiled(b, feed, z, backend);
      for (size_t i = 0; i < ys.size(); ++i) ASSERT_EQ(2 * ys[i], zs[i]);
    }
  }
}

TEST(Linear, ShapeRules) {
  struct Try {
    const char* what;
    fovea_status status;
    uint32_t input_width;
    DType input_type;
    bool other_space;
    std::function<std::vector<uint32_t>(ModelBuilder&)> tensors;
    Attributes attributes;
  };
  const auto weight = [](uint32_t rows, uint32_t width, DType type = DType::kF32) {
    return [=](ModelBuilder& b) { return std::vector<uint32_t>{b.RandomTensor(rows, width, type)}; };
  };
  const auto bias = [](uint32_t rows, uint32_t width, DType type = DType::kF32) {
    return [=](ModelBuilder& b) {
      return std::vector<uint32_t>{b.RandomTensor(8, 32), b.RandomTensor(rows, width, type)};
    };
  };
  const auto ids = [](ModelBuilder& b) {  // an i32 tensor, which no encoder writes
    const uint32_t t = b.RandomTensor(8, 32);
    b.content().tensors[t].type = DType::kI32;
    return std::vector<uint32_t>{t};
  };
  const auto absent = [](ModelBuilder&) { return std::vector<uint32_t>{kBlobNone}; };
  const auto three = [](ModelBuilder& b) {
    return std::vector<uint32_t>{b.RandomTensor(8, 32), kBlobNone, b.RandomTensor(1, 8)};
  };
  const Try tries[] = {
      {"fine", FOVEA_OK, 32, DType::kF32, false, weight(8, 32), {}},
      {"fine with bias", FOVEA_OK, 32, DType::kF32, false, bias(1, 8), {{Attribute::kActivation, 6}}},
      {"input width", FOVEA_E_SHAPE, 31, DType::kF32, false, weight(8, 32), {}},
      {"input type", FOVEA_E_SHAPE, 32, DType::kI32, false, weight(8, 32), {}},
      {"space", FOVEA_E_SHAPE, 32, DType::kF32, true, weight(8, 32), {}},
      {"weight width", FOVEA_E_SHAPE, 32, DType::kF32, false, weight(8, 33), {}},
      {"weight rows", FOVEA_E_SHAPE, 32, DType::kF32, false, weight(9, 32), {}},
      {"weight type", FOVEA_E_SHAPE, 32, DType::kF32, false, ids, {}},
      {"no weight", FOVEA_E_RECORD, 32, DType::kF32, false, absent, {}},
      {"third tensor", FOVEA_E_RECORD, 32, DType::kF32, false, three, {}},
      {"bias width", FOVEA_E_SHAPE, 32, DType::kF32, false, bias(1, 7), {}},
      {"bias rows", FOVEA_E_SHAPE, 32, DType::kF32, false, bias(2, 8), {}},
      {"bias type", FOVEA_E_SHAPE, 32, DType::kF32, false, bias(1, 8, DType::kF16), {}},
      {"activation", FOVEA_E_OP, 32, DType::kF32, false, weight(8, 32), {{Attribute::kActivation, kActivationCount}}},
      {"attribute", FOVEA_E_OP, 32, DType::kF32, false, weight(8, 32), {{Attribute::kScale, 1}}},
  };
  for (const Try& t : tries) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, t.input_width, t.input_type);
    b.Op("linear", {x}, t.tensors(b), t.other_space ? s.texts : s.tokens, 8, t.attributes);
    ExpectStatus(b, t.status, t.what);
  }
}

}  // namespace
}  // namespace fovea::test
