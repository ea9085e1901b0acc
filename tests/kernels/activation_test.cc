// Activation kernels against double precision formulas.
#include "runtime/kernels/activation.h"

#include <math.h>

#include <limits>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

double Plain(Activation kind, double x) {
  switch (kind) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return 0.5 * x * erfc(-x * M_SQRT1_2);
    case Activation::kGeluTanh:
      return x / (1 + exp(-2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1 + exp(-x));
    case Activation::kTanh:
      return tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + exp(-x));
    case Activation::kLogSigmoid:
      return fmin(x, 0) - log1p(exp(-fabs(x)));
    case Activation::kHardSigmoid:
      return fmin(1, fmax(0, 0.2 * x + 0.5));
    case Activation::kQuickGelu:
      return x / (1 + exp(-1.702 * x));
    case Activation::kLog:
      return log(fmax(x, 0x1p-126));
  }
  return NAN;
}

// All but the logarithm, which is large where its argument is small.
constexpr Activation kAll[] = {
    Activation::kNone, Activation::kRelu,    Activation::kGelu,       Activation::kGeluTanh,    Activation::kSilu,
    Activation::kTanh, Activation::kSigmoid, Activation::kLogSigmoid, Activation::kHardSigmoid, Activation::kQuickGelu};

// All magnitudes from 1e-9 to 1e5 and a fine grid where the functions bend.
std::vector<float> Sweep() {
  std::vector<float> x;
  for (double v = 1e-9; v < 1e5; v *= 1.003) x.insert(x.end(), {static_cast<float>(v), static_cast<float>(-v)});
  for (double v = -20; v < 20; v += 1.0 / 997) x.push_back(static_cast<float>(v));
  return x;
}

TEST(Activation, AbsoluteErrorOverTheWholeRange) {
  const std::vector<float> x = Sweep();
  ForEachTarget([&] {
    const ActivationKernels k = GetActivationKernels();
    for (Activation kind : kAll) {
      SCOPED_TRACE(static_cast<int>(kind));
      Guarded<float> y(x.size());
      k.apply[static_cast<size_t>(kind)](x.data(), x.size(), y.data());
      EXPECT_TRUE(y.Intact());
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(y[i], Plain(kind, x[i]), 3e-7 * fmax(1, fabs(x[i]))) << "x = " << x[i];
      }
    }
  });
}

// Where the function itself is small, the error is small too.
TEST(Activation, RelativeErrorOfTheExponentialFamily) {
  const std::vector<float> x = Sweep();
  ForEachTarget([&] {
    const ActivationKernels k = GetActivationKernels();
    for (Activation kind : {Activation::kSilu, Activation::kTanh, Activation::kSigmoid, Activation::kLogSigmoid}) {
      SCOPED_TRACE(static_cast<int>(kind));
      std::vector<float> y(x.size());
      k.apply[static_cast<size_t>(kind)](x.data(), x.size(), y.data());
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = Plain(kind, x[i]);
        if (fabs(want) < 1e-35) continue;
        ASSERT_NEAR(y[i], want, 5e-7 * fabs(want)) << "x = " << x[i];
      }
    }
  });
}

TEST(Activation, ExtremesAndNan) {
  const float inf = std::numeric_limits<float>::infinity(), big = std::numeric_limits<float>::max();
  ForEachTarget([&] {
    const ActivationKernels k = GetActivationKernels();
    for (Activation kind : kAll) {
      SCOPED_TRACE(static_cast<int>(kind));
      const std::vector<float> x = {inf, -inf, big, -big, NAN, 0.0f, -0.0f, 1e-40f};
      std::vector<float> y(x.size());
      k.apply[static_cast<size_t>(kind)](x.data(), x.size(), y.data());
      const bool bounded =
          kind == Activation::kTanh || kind == Activation::kSigmoid || kind == Activation::kHardSigmoid;
      const bool log = kind == Activation::kLogSigmoid, endless = kind == Activation::kNone || log;
      const float low = kind == Activation::kTanh ? -1.0f : 0.0f;
      EXPECT_EQ(y[0], bounded ? 1.0f : log ? 0.0f : inf);
      EXPECT_EQ(y[1], endless ? -inf : low);
      EXPECT_EQ(y[2], bounded ? 1.0f : log ? 0.0f : big);
      EXPECT_EQ(y[3], endless ? -big : low);
      EXPECT_TRUE(isnan(y[4]));
      for (size_t i : {5, 6, 7}) EXPECT_NEAR(y[i], Plain(kind, 0), 1e-7);
    }
  });
}

TEST(Activation, LogarithmsOfAllMagnitudes) {
  std::vector<float> x = {1.0f, 0x1p-126f, 0x1p-127f, 0.0f, -0.0f, -1.0f, -INFINITY, 3e38f};
  for (double v = 1e-38; v < 3e38; v *= 1.003) x.push_back(static_cast<float>(v));
  for (double v = 0.5; v < 2; v += 1e-4) x.push_back(static_cast<float>(v));
  ForEachTarget([&] {
    const auto apply = GetActivationKernels().apply[static_cast<size_t>(Activation::kLog)];
    const auto gate = GetActivationKernels().gate[static_cast<size_t>(Activation::kLog)];
    Guarded<float> y(x.size());
    apply(x.data(), x.size(), y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = Plain(Activation::kLog, x[i]);
      ASSERT_NEAR(y[i], want, 3e-7 * fabs(want)) << "x = " << x[i];
    }
    EXPECT_TRUE(y.Intact());
    const float rest[] = {INFINITY, NAN, 8.0f}, twice[] = {2.0f, 2.0f, 2.0f};
    float found[3];
    apply(rest, 3, found);
    EXPECT_EQ(found[0], INFINITY);
    EXPECT_TRUE(isnan(found[1]));
    gate(rest, twice, 3, found);
    EXPECT_NEAR(found[2], 2 * log(8.0), 1e-6);
  });
}

TEST(Activation, GateEqualsApplyTimesB) {
  ForEachTarget([] {
    const ActivationKernels k = GetActivationKernels();
    for (Activation kind : kAll) {
      for (size_t count : kOddWidths) {
        const std::vector<float> a = RandomFloats(count, 3.0f, 1), b = RandomFloats(count, 1.0f, 2);
        Guarded<float> y(count), over_a(a), over_b(b), act(a);
        k.apply[static_cast<size_t>(kind)](act.data(), count, act.data());
        k.gate[static_cast<size_t>(kind)](a.data(), b.data(), count, y.data());
        k.gate[static_cast<size_t>(kind)](over_a.data(), b.data(), count, over_a.data());
        k.gate[static_cast<size_t>(kind)](a.data(), over_b.data(), count, over_b.data());
        for (size_t i = 0; i < count; ++i) ASSERT_NEAR(y[i], act[i] * b[i], 1e-6 * fabs(y[i]));
        EXPECT_EQ(over_a.values(), y.values());
        EXPECT_EQ(over_b.values(), y.values());
        EXPECT_TRUE(y.Intact() && over_a.Intact() && over_b.Intact() && act.Intact());
      }
    }
  });
}

// An element's bits do not depend on its place.
TEST(Activation, SameBitsAtAnyPosition) {
  ForEachTarget([] {
    const ActivationKernels k = GetActivationKernels();
    const std::vector<float> x = RandomFloats(100, 3.0f);
    for (Activation kind : kAll) {
      std::vector<float> y(100), one(1);
      k.apply[static_cast<size_t>(kind)](x.data(), 100, y.data());
      for (size_t i = 0; i < 100; ++i) {
        k.apply[static_cast<size_t>(kind)](&x[i], 1, one.data());
        ASSERT_EQ(one[0], y[i]);
      }
    }
  });
}

}  // namespace
}  // namespace fovea
