// Layers of experts against a plain loop over all of them in double precision, for every kind, type of weights and
// backend; and which experts a row takes.
#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/split_bound.h"

namespace fovea::test {
namespace {

const DType kTypes[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI4};
const uint32_t kBackends[] = {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY};

struct Shape {
  uint32_t experts, chosen, read, made;
};

struct Expected {
  std::vector<double> values, tolerances;
};

// One operation over 26 rows, or one row for each row of scores.
struct Mixture {
  Mixture(const Shape& of, ExpertsKind as, DType weights, bool biased)
      : shape(of), kind(as), type(weights), parts(as == ExpertsKind::kApart ? 1 : of.chosen) {
    x = b.Input("x", s.tokens, parts * shape.read);
    scores = b.Input("scores", s.tokens, shape.experts);
    weight = b.RandomTensor(shape.experts * shape.made, shape.read, type);
    biases.resize(shape.experts * shape.made);
    std::vector<uint32_t> tensors = {weight};
    if (biased) biases = b.RandomFloats(biases.size()), tensors.push_back(b.Tensor(1, biases.size(), biases));
    y = b.Op("experts", {x, scores}, tensors, s.tokens, made(),
             {{Attribute::kKind, static_cast<uint32_t>(kind)},
              {Attribute::kExperts, shape.experts},
              {Attribute::kTopK, shape.chosen}});
  }
  uint32_t made() const { return shape.made * (kind == ExpertsKind::kApart ? shape.chosen : 1); }

  // Best first; of equal scores the first.
  std::vector<uint32_t> Chosen(const float* of) const {
    std::vector<uint32_t> order(shape.experts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t c) { return of[a] > of[c]; });
    order.resize(shape.chosen);
    return order;
  }

  Expected Reference(const std::vector<float>& xs, const std::vector<float>& ss, uint32_t backend) const {
    const std::vector<float> ws = b.TensorValues(weight);
    const size_t rows = ss.size() / shape.experts;
    Expected expected = {std::vector<double>(rows * made()), std::vector<double>(rows * made(), 1e-6)};
    for (size_t r = 0; r < rows; ++r) {
      const float* of = &ss[r * shape.experts];
      const std::vector<uint32_t> chosen = Chosen(of);
      double all = 0, some = 0;
      for (uint32_t e = 0; e < shape.experts; ++e) all += std::exp(double{of[e]});
      for (const uint32_t e : chosen) some += std::exp(double{of[e]});
      for (uint32_t place = 0; place < shape.chosen; ++place) {
        const uint32_t e = chosen[place];
        const double share = std::exp(double{of[e]}) / (kind == ExpertsKind::kOfAll ? all : some);
        const bool apart = kind == ExpertsKind::kApart;
        const float* in = &xs[(r * parts + (apart ? 0 : place)) * shape.read];
        for (uint32_t c = 0; c < shape.made; ++c) {
          const uint64_t row = uint64_t{e} * shape.made + c;
          double sum = biases[row], magnitude = std::fabs(sum), low = 0, high = 0, weights = 0;
          for (uint32_t i = 0; i < shape.read; ++i) {
            const double product = double{in[i]} * ws[row * shape.read + i];
            sum += product, magnitude += std::fabs(product), weights += std::fabs(ws[row * shape.read + i]);
            low = std::min<double>(low, in[i]), high = std::max<double>(high, in[i]);
          }
          double tolerance = 2e-6 * magnitude + (GemmTakesQuantized(type) ? (high - low) / 255 * weights : 0);
          if (testing::GemmSplits(type, backend))
            tolerance += testing::SplitBound(in, &ws[row * shape.read], shape.read);
          const size_t at = r * made() + (apart ? place * shape.made : 0) + c;
          expected.values[at] += apart ? sum : share * sum;
          expected.tolerances[at] += apart ? tolerance : share * tolerance;
        }
      }
    }
    return expected;
  }

  ModelBuilder b;
  TextSpaces s{b};
  Shape shape;
  ExpertsKind kind;
  DType type;
  uint32_t parts, x, scores, weight, y;
  std::vector<float> biases;
};

void ExpectAsReference(Mixture& m, const std::vector<float>& xs, const std::vector<float>& ss, uint32_t backend) {
  const Lengths lengths = {static_cast<uint32_t>(ss.size() / m.shape.experts)};
  const std::vector<float> found =
      RunTiled(m.b, {{{m.s.tokens, lengths}}, {{m.x, xs}, {m.scores, ss}}, {}}, m.y, backend);
  const Expected expected = m.Reference(xs, ss, backend);
  ASSERT_EQ(found.size(), expected.values.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected.values[i], expected.tolerances[i])
        << "kind " << static_cast<int>(m.kind) << " backend " << backend << " row " << i / m.made() << " column "
        << i % m.made();
  }
}

TEST(Experts, KindsTypesAndShapes) {
  const Shape shapes[] = {{1, 1, 32, 7}, {5, 2, 96, 33}, {4, 4, 64, 64}, {9, 3, 32, 1}, {70, 8, 32, 5}, {3, 2, 19, 13}};
  for (const ExpertsKind kind : {ExpertsKind::kApart, ExpertsKind::kOfChosen, ExpertsKind::kOfAll}) {
    for (const Shape& shape : shapes) {
      for (const DType type : kTypes) {
        if (type == DType::kI4 && shape.read % 32 != 0) continue;
        for (const bool biased : {false, true}) {
          Mixture m(shape, kind, type, biased);
          const std::vector<float> xs = m.b.RandomFloats(26 * m.parts * shape.read);
          const std::vector<float> ss = m.b.RandomFloats(26 * shape.experts, 3);
          for (const uint32_t backend : kBackends) ExpectAsReference(m, xs, ss, backend);
        }
      }
    }
  }
}

// The first of equal scores wins; all rows to one expert, which is the most that a tile has to hold.
TEST(Experts, EqualScoresAndOneForAll) {
  for (const ExpertsKind kind : {ExpertsKind::kApart, ExpertsKind::kOfChosen, ExpertsKind::kOfAll}) {
    Mixture m({6, 3, 32, 8}, kind, DType::kI8, true);
    const std::vector<float> xs = m.b.RandomFloats(40 * m.parts * 32);
    ExpectAsReference(m, xs, std::vector<float>(40 * 6, 0.5f), FOVEA_BACKEND_DEFAULT);
    std::vector<float> ss;
    for (uint32_t r = 0; r < 40; ++r) ss.insert(ss.end(), {1, 2, 2, 0, 2, -3});
    ExpectAsReference(m, xs, ss, FOVEA_BACKEND_DEFAULT);
  }
}

// NaN and infinite scores stay within bounds and do not affect other rows.
TEST(Experts, ScoresThatAreNoNumbers) {
  for (const ExpertsKind kind : {ExpertsKind::kApart, ExpertsKind::kOfChosen, ExpertsKind::kOfAll}) {
    Mixture m({5, 2, 32, 8}, kind, DType::kF32, false);
    m.b.SetOutput(m.y);
    const TestModel model(m.b.Blob());
    const std::vector<float> xs = m.b.RandomFloats(9 * m.parts * 32);
    std::vector<float> ss = m.b.RandomFloats(9 * 5);
    const auto run = [&] {
      const Feed feed = {{{m.s.tokens, {9}}}, {{m.x, xs}, {m.scores, ss}}, {}};
      return RunWith(model, Options(LimitsOf(m.b, feed)), feed, m.y);
    };
    const std::vector<float> before = run();
    for (uint32_t e = 0; e < 5; ++e) ss[e] = NAN, ss[5 + e] = -INFINITY, ss[10 + e] = INFINITY;
    ss[17] = NAN;
    const std::vector<float> after = run();
    for (size_t i = 4 * m.made(); i < after.size(); ++i) ASSERT_EQ(after[i], before[i]);
  }
}

// The same tensors as one layer, and as layers of several numbers of experts.
TEST(Experts, OneWeightSharedInSeveralWays) {
  for (const DType type : {DType::kF32, DType::kI8}) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 64), scores = b.Input("scores", s.tokens, 6);
    const uint32_t some = b.Input("some", s.tokens, 4);
    const uint32_t w = b.RandomTensor(24, 64, type);
    const auto apart = [&](uint32_t of, uint32_t experts, uint32_t width) {
      return b.Op("experts", {x, of}, {w}, s.tokens, width, {{Attribute::kExperts, experts}, {Attribute::kTopK, 1}});
    };
    const uint32_t whole = b.Op("linear", {x}, {w}, s.tokens, 24);
    const uint32_t of_six = apart(scores, 6, 4), of_four = apart(some, 4, 6);
    for (const uint32_t v : {whole, of_six, of_four}) b.SetOutput(v);
    const TestModel model(b.Blob());
    fovea_model_info info = Sized<fovea_model_info>();
    ASSERT_EQ(fovea_model_get_info(model.model, &info), FOVEA_OK);
    EXPECT_EQ(info.linear_count, 3u);
    std::vector<float> six(7 * 6), four(7 * 4);
    for (uint32_t r = 0; r < 7; ++r) six[r * 6 + r % 6] = 1, four[r * 4 + r % 4] = 1;
    const Feed feed = {{{s.tokens, {7}}}, {{x, b.RandomFloats(7 * 64)}, {scores, six}, {some, four}}, {}};
    const auto values = [&](uint32_t value) { return RunWith(model, Options(LimitsOf(b, feed)), feed, value); };
    const std::vector<float> all = values(whole), a = values(of_six), c = values(of_four);
    const double rounding = type == DType::kF32 ? 1e-5 : 0;  // layers of other widths may add in another order
    for (uint32_t r = 0; r < 7; ++r) {
      for (uint32_t i = 0; i < 4; ++i) EXPECT_NEAR(a[r * 4 + i], all[r * 24 + r % 6 * 4 + i], rounding);
      for (uint32_t i = 0; i < 6; ++i) EXPECT_NEAR(c[r * 6 + i], all[r * 24 + r % 4 * 6 + i], rounding);
    }
  }
}

TEST(Experts, CostIsThatOfTheChosen) {
  for (const ExpertsKind kind : {ExpertsKind::kApart, ExpertsKind::kOfChosen}) {
    Mixture m({7, 3, 32, 10}, kind, DType::kF32, false);
    m.b.SetOutput(m.y);
    const TestModel model(m.b.Blob());
    fovea_step_info info = Sized<fovea_step_info>();
    ASSERT_EQ(fovea_program_get_step(model.model, 0, 0, &info), FOVEA_OK);
    EXPECT_STREQ(info.op, "experts");
    EXPECT_EQ(info.flops_per_row, 2.0 * 3 * 32 * 10);
  }
}

TEST(Experts, ShapeRules) {
  struct Try {
    const char* what;
    fovea_status status;
    uint32_t x_width = 32, scores_width = 6, width = 16;
    uint32_t weight_rows = 48, weight_width = 32, bias = 0;
    Attributes attributes = {{Attribute::kExperts, 6}, {Attribute::kTopK, 2}};
  };
  const Attributes sums = {{Attribute::kKind, 1}, {Attribute::kExperts, 6}, {Attribute::kTopK, 2}};
  const auto counts = [](double experts, double chosen) {
    return Attributes{{Attribute::kExperts, experts}, {Attribute::kTopK, chosen}};
  };
  const Try tries[] = {
      {"fine", FOVEA_OK},
      {"fine with bias", FOVEA_OK, 32, 6, 16, 48, 32, 48},
      {"fine sum", FOVEA_OK, 64, 6, 8, 48, 32, 0, sums},
      {"scores", FOVEA_E_SHAPE, 32, 5},
      {"experts missing from the weight", FOVEA_E_SHAPE, 32, 6, 16, 40},
      {"more of them in it", FOVEA_E_SHAPE, 32, 6, 16, 56},
      {"weight width", FOVEA_E_SHAPE, 32, 6, 16, 48, 33},
      {"bias of one expert", FOVEA_E_SHAPE, 32, 6, 16, 48, 32, 8},
      {"output is no two parts", FOVEA_E_SHAPE, 32, 6, 17},
      {"input is no two parts", FOVEA_E_SHAPE, 63, 6, 8, 48, 32, 0, sums},
      {"parts of another width", FOVEA_E_SHAPE, 62, 6, 8, 48, 32, 0, sums},
      {"no experts", FOVEA_E_SHAPE, 32, 6, 16, 48, 32, 0, counts(0, 2)},
      {"no counts", FOVEA_E_SHAPE, 32, 6, 16, 48, 32, 0, {}},
      {"none chosen", FOVEA_E_SHAPE, 32, 6, 16, 48, 32, 0, counts(6, 0)},
      {"more chosen than there are", FOVEA_E_SHAPE, 32, 6, 7 * 8, 48, 32, 0, counts(6, 7)},
      {"all of them", FOVEA_OK, 32, 6, 6 * 8, 48, 32, 0, counts(6, 6)},
      {"too many chosen", FOVEA_E_TOO_COMPLEX, 32, 80, 65, 80, 32, 0, counts(80, 65)},
      {"kind", FOVEA_E_OP, 32, 6, 16, 48, 32, 0, {{Attribute::kKind, kExpertsKindCount}}},
      {"attribute", FOVEA_E_OP, 32, 6, 16, 48, 32, 0, {{Attribute::kHeads, 1}}},
  };
  for (const Try& t : tries) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, t.x_width), scores = b.Input("scores", s.tokens, t.scores_width);
    std::vector<uint32_t> tensors = {b.RandomTensor(t.weight_rows, t.weight_width)};
    if (t.bias != 0) tensors.push_back(b.RandomTensor(1, t.bias));
    b.Op("experts", {x, scores}, tensors, s.tokens, t.width, t.attributes);
    ExpectStatus(b, t.status, t.what);
  }
  // Rows that no tensor can have, no weight, scores in another space, ids as scores.
  const auto refused = [&](const char* what, fovea_status status, bool weight, bool elsewhere, DType type,
                           double experts) {
    ModelBuilder b;
    const TextSpaces s(b);
    const auto count = static_cast<uint32_t>(experts);
    const uint32_t x = b.Input("x", s.tokens, 32);
    const uint32_t scores = b.Input("scores", elsewhere ? s.texts : s.tokens, count, type);
    b.Op("experts", {x, scores}, {weight ? b.RandomTensor(48, 32) : kBlobNone}, s.tokens, count > 6 ? 1 << 20 : 16,
         counts(experts, 2));
    ExpectRefused(b, status, what);
  };
  refused("no weight", FOVEA_E_RECORD, false, false, DType::kF32, 6);
  refused("space of scores", FOVEA_E_SHAPE, true, true, DType::kF32, 6);
  refused("ids as scores", FOVEA_E_SHAPE, true, false, DType::kI32, 6);
  refused("rows beyond 32 bits", FOVEA_E_SHAPE, true, false, DType::kF32, 1 << 20);
}

}  // namespace
}  // namespace fovea::test
