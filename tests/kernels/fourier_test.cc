// Transforms of all kinds of sizes against the sum that defines them, in double precision.
#include "runtime/kernels/fourier.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

struct Roots {
  explicit Roots(uint32_t size) {
    for (uint32_t i = 0; i < size; ++i) {
      cosines.push_back(static_cast<float>(cos(2 * M_PI * i / size)));
      sines.push_back(static_cast<float>(sin(2 * M_PI * i / size)));
    }
  }
  std::vector<float> cosines, sines;
};

std::vector<double> Magnitudes(const std::vector<float>& frame) {
  const size_t size = frame.size();
  std::vector<double> magnitudes, cosines, sines;
  for (size_t i = 0; i < size; ++i) {
    cosines.push_back(cos(2 * M_PI * static_cast<double>(i) / static_cast<double>(size)));
    sines.push_back(sin(2 * M_PI * static_cast<double>(i) / static_cast<double>(size)));
  }
  for (size_t k = 0; k <= size / 2; ++k) {
    double re = 0, im = 0;
    for (size_t i = 0; i < size; ++i) {
      re += frame[i] * cosines[i * k % size];
      im -= frame[i] * sines[i * k % size];
    }
    magnitudes.push_back(hypot(re, im));
  }
  return magnitudes;
}

std::vector<uint32_t> Sizes() {
  std::vector<uint32_t> sizes;
  for (uint32_t size = 1; size <= 36; ++size) sizes.push_back(size);
  for (const uint32_t size : {49, 64, 97, 100, 121, 202, 240, 255, 256, 400, 405, 480, 509, 512, 1018, 1024}) {
    sizes.push_back(size);
  }
  return sizes;
}

// Frame `lane` of `size` numbers, in the first buffer.
void Put(const Fourier& fourier, const std::vector<float>& frame, size_t lane, float* buffer) {
  for (size_t i = 0; i < frame.size(); ++i) buffer[fourier.place(i) * kFourierLanes + lane] = frame[i];
}

TEST(Fourier, EqualsItsDefinition) {
  for (const uint32_t size : Sizes()) {
    SCOPED_TRACE(size);
    const Roots roots(size);
    const Fourier fourier = PlanFourier(size, roots.cosines.data(), roots.sines.data());
    // Sums of a prime factor's many terms are the least exact.
    double largest = 1;
    for (size_t i = 0; i < fourier.count; ++i) largest = fmax(largest, fourier.factors[i]);
    std::vector<std::vector<float>> frames;
    std::vector<std::vector<double>> expected;
    for (size_t lane = 0; lane < kFourierLanes; ++lane) {
      frames.push_back(RandomFloats(size, lane == 3 ? 1e-4f : 1.0f, static_cast<uint32_t>(lane + 1)));
      expected.push_back(Magnitudes(frames.back()));
    }
    ForEachTarget([&] {
      for (const bool squares : {false, true}) {
        const size_t bins = size / 2 + 1;
        Guarded<float> a(std::vector<float>(fourier.buffer(), 0.0f)), b(fourier.buffer());
        for (size_t lane = 0; lane < kFourierLanes; ++lane) Put(fourier, frames[lane], lane, a.data());
        const float* found = GetFourierKernels().spectrum(fourier, bins, squares, a.data(), b.data());
        EXPECT_TRUE(a.Intact() && b.Intact());
        for (size_t lane = 0; lane < kFourierLanes; ++lane) {
          double power = 0;
          for (const float x : frames[lane]) power += double{x} * x;
          const double bound = 4e-7 * sqrt(power * largest);
          for (size_t k = 0; k < bins; ++k) {
            const double magnitude = expected[lane][k], value = found[k * kFourierLanes + lane];
            ASSERT_NEAR(squares ? sqrt(value) : value, magnitude, bound) << "lane " << lane << " bin " << k;
          }
        }
      }
    });
  }
}

TEST(Fourier, AFrameDoesNotDependOnItsNeighbours) {
  for (const uint32_t size : {45u, 400u}) {
    const Roots roots(size);
    const Fourier fourier = PlanFourier(size, roots.cosines.data(), roots.sines.data());
    const size_t bins = size / 2 + 1;
    const std::vector<float> frame = RandomFloats(size, 1.0f, 1), other = RandomFloats(size, 9.0f, 2);
    ForEachTarget([&] {
      std::vector<float> first;
      for (const bool alone : {true, false}) {
        for (size_t lane = 0; lane < kFourierLanes; ++lane) {
          std::vector<float> a(fourier.buffer(), 0.0f), b(fourier.buffer());
          for (size_t i = 0; i < kFourierLanes && !alone; ++i) Put(fourier, other, i, a.data());
          Put(fourier, frame, lane, a.data());
          const float* found = GetFourierKernels().spectrum(fourier, bins, true, a.data(), b.data());
          std::vector<float> bits;
          for (size_t k = 0; k < bins; ++k) bits.push_back(found[k * kFourierLanes + lane]);
          if (first.empty()) first = bits;
          ASSERT_EQ(bits, first) << "lane " << lane;
        }
      }
    });
  }
}

}  // namespace
}  // namespace fovea
