// Steps of recurrent cells against plain double loops.
#include "runtime/kernels/recurrent.h"

#include <math.h>

#include <limits>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

double PlainGate(Gate gate, double x) {
  if (gate == Gate::kSigmoid) return 1 / (1 + exp(-x));
  return fmin(1, fmax(0, 0.2 * x + 0.5));
}

constexpr Gate kGates[] = {Gate::kSigmoid, Gate::kHardSigmoid};

// The fused kernel against a plain loop, and its two halves with a separate product for the candidate.
TEST(Recurrent, Gru) {
  ForEachTarget([] {
    for (const Gate gate : kGates) {
      const CellKernels k = GetRecurrentKernels().of[static_cast<size_t>(gate)];
      for (const size_t width : kOddWidths) {
        const std::vector<float> x = RandomFloats(3 * width, 3.0f, 1), u = RandomFloats(3 * width, 2.0f, 2);
        const std::vector<float> h = RandomFloats(width, 0.5f, 3), n = RandomFloats(width, 2.0f, 4);
        const std::vector<float> u2(u.begin(), u.begin() + static_cast<ptrdiff_t>(2 * width));
        Guarded<float> fused(h), reset(width), updated(h);
        k.gru(x.data(), u.data(), width, fused.data());
        k.gru_reset(x.data(), u2.data(), h.data(), width, reset.data());
        k.gru_update(x.data(), u2.data(), n.data(), width, updated.data());
        EXPECT_TRUE(fused.Intact() && reset.Intact() && updated.Intact());
        for (size_t i = 0; i < width; ++i) {
          const size_t at = 2 * width + i;
          const double r = PlainGate(gate, double{x[i]} + u[i]);
          const double z = PlainGate(gate, double{x[width + i]} + u[width + i]);
          const double bound = 1e-6 * (1 + fabs(x[at]) + fabs(u[at]));
          ASSERT_NEAR(fused[i], z * h[i] + (1 - z) * tanh(x[at] + r * u[at]), bound) << "width " << width;
          ASSERT_NEAR(reset[i], r * h[i], 1e-6);
          ASSERT_NEAR(updated[i], z * h[i] + (1 - z) * tanh(double{x[at]} + n[i]),
                      1e-6 * (1 + fabs(x[at]) + fabs(n[i])));
        }
      }
    }
  });
}

TEST(Recurrent, Lstm) {
  ForEachTarget([] {
    for (const Gate gate : kGates) {
      const CellKernels k = GetRecurrentKernels().of[static_cast<size_t>(gate)];
      for (const size_t width : kOddWidths) {
        const std::vector<float> x = RandomFloats(4 * width, 3.0f, 1), u = RandomFloats(4 * width, 2.0f, 2);
        const std::vector<float> c = RandomFloats(width, 2.0f, 3);
        Guarded<float> h(width), next(c);
        k.lstm(x.data(), u.data(), width, h.data(), next.data());
        EXPECT_TRUE(h.Intact() && next.Intact());
        for (size_t i = 0; i < width; ++i) {
          const auto sum = [&](size_t part) { return double{x[part * width + i]} + u[part * width + i]; };
          const double cell = PlainGate(gate, sum(1)) * c[i] + PlainGate(gate, sum(0)) * tanh(sum(2));
          ASSERT_NEAR(next[i], cell, 1e-6 * (1 + fabs(c[i]))) << "width " << width;
          ASSERT_NEAR(h[i], PlainGate(gate, sum(3)) * tanh(cell), 1e-6 * (1 + fabs(c[i])));
        }
      }
    }
  });
}

TEST(Recurrent, LstmWithPeepholes) {
  ForEachTarget([] {
    for (const Gate gate : kGates) {
      const CellKernels k = GetRecurrentKernels().of[static_cast<size_t>(gate)];
      for (const size_t width : kOddWidths) {
        const std::vector<float> x = RandomFloats(4 * width, 3.0f, 1), u = RandomFloats(4 * width, 2.0f, 2);
        const std::vector<float> c = RandomFloats(width, 2.0f, 3), p = RandomFloats(3 * width, 1.0f, 4);
        Guarded<float> h(width), next(c), without(width), plain(c);
        k.lstm_peephole(x.data(), u.data(), p.data(), width, h.data(), next.data());
        EXPECT_TRUE(h.Intact() && next.Intact());
        for (size_t i = 0; i < width; ++i) {
          const auto sum = [&](size_t part) { return double{x[part * width + i]} + u[part * width + i]; };
          const double in = PlainGate(gate, sum(0) + double{p[i]} * c[i]);
          const double cell = PlainGate(gate, sum(1) + double{p[width + i]} * c[i]) * c[i] + in * tanh(sum(2));
          ASSERT_NEAR(next[i], cell, 1e-6 * (1 + fabs(c[i]))) << "width " << width;
          ASSERT_NEAR(h[i], PlainGate(gate, sum(3) + p[2 * width + i] * cell) * tanh(cell), 1e-6 * (1 + fabs(c[i])));
        }
        // Peepholes of zeros change no bits.
        const std::vector<float> zeros(3 * width);
        k.lstm(x.data(), u.data(), width, without.data(), plain.data());
        Guarded<float> again(c);
        k.lstm_peephole(x.data(), u.data(), zeros.data(), width, h.data(), again.data());
        EXPECT_EQ(h.values(), without.values());
        EXPECT_EQ(again.values(), plain.values());
      }
    }
  });
}

// An element depends on its own gates alone, regardless of its position in a vector.
TEST(Recurrent, SameBitsAtAnyPosition) {
  ForEachTarget([] {
    for (const Gate gate : kGates) {
      const CellKernels k = GetRecurrentKernels().of[static_cast<size_t>(gate)];
      constexpr size_t kWidth = 77;
      const std::vector<float> x = RandomFloats(4 * kWidth, 2.0f, 1), u = RandomFloats(4 * kWidth, 2.0f, 2);
      const std::vector<float> state = RandomFloats(kWidth, 1.0f, 3);
      std::vector<float> gru = state, cells = state, hidden(kWidth);
      k.gru(x.data(), u.data(), kWidth, gru.data());
      k.lstm(x.data(), u.data(), kWidth, hidden.data(), cells.data());
      for (size_t i = 0; i < kWidth; ++i) {
        float one_x[4], one_u[4], h = state[i], c = state[i], y = 0;
        for (size_t part = 0; part < 4; ++part) {
          one_x[part] = x[part * kWidth + i];
          one_u[part] = u[part * kWidth + i];
        }
        k.gru(one_x, one_u, 1, &h);
        k.lstm(one_x, one_u, 1, &y, &c);
        ASSERT_EQ(h, gru[i]);
        ASSERT_EQ(y, hidden[i]);
        ASSERT_EQ(c, cells[i]);
      }
    }
  });
}

TEST(Recurrent, ExtremesAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  ForEachTarget([&] {
    for (const Gate gate : kGates) {
      const CellKernels k = GetRecurrentKernels().of[static_cast<size_t>(gate)];
      const float zero[4] = {};
      const auto gru = [&](float r, float z, float n, float old) {
        const float x[3] = {r, z, n};
        k.gru(x, zero, 1, &old);
        return old;
      };
      EXPECT_EQ(gru(0, inf, 0.3f, 0.7f), 0.7f);  // the old state
      EXPECT_EQ(gru(0, -inf, inf, 0.7f), 1.0f);  // the candidate
      EXPECT_TRUE(isnan(gru(0, NAN, 0, 0.5f)) && isnan(gru(0, 0, NAN, 0.5f)) && isnan(gru(0, 0, 0, NAN)));
      const auto lstm = [&](float i, float f, float g, float o, float* cell) {
        const float x[4] = {i, f, g, o};
        float h = 0;
        k.lstm(x, zero, 1, &h, cell);
        return h;
      };
      float cell = 3.0f;
      EXPECT_EQ(lstm(-inf, inf, 0, -inf, &cell), 0.0f);
      EXPECT_EQ(cell, 3.0f);
      EXPECT_EQ(lstm(inf, -inf, inf, -inf, &cell), 0.0f);
      EXPECT_EQ(cell, 1.0f);
      for (int part = 0; part < 4; ++part) {
        float x[4] = {};
        x[part] = NAN;
        cell = 0.5f;
        EXPECT_TRUE(isnan(lstm(x[0], x[1], x[2], x[3], &cell))) << part;
      }
    }
  });
}

}  // namespace
}  // namespace fovea
