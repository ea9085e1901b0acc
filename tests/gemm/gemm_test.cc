// Every backend, type of weights and SIMD target against plain double loops.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "hwy/highway.h"
#include "runtime/gemm/xnnpack_cpuinfo/cpuinfo.h"
#include "runtime/kernels/kernels.h"
#include "tests/gemm/gemm_problem.h"
#include "tests/support/reference_gemm.h"

namespace fovea::testing {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI4};
constexpr float kGuard = -12345.5f;
constexpr size_t kGuardFloats = 64;

// Whether XNNPACK's backend packs int8 weights for our kernel alone.
bool HasOwnI8() {
#if defined(__aarch64__) && defined(FOVEA_WITH_XNNPACK)
  return !cpuinfo_has_arm_neon_dot();
#else
  return false;
#endif
}

// A backend with the kernels of one SIMD target.
struct Candidate {
  std::string name;
  const GemmBackend* backend;
  Kernels kernels;
};

// XNNPACK alone where it takes this processor for a lesser one (x86_level.cc).
std::vector<Candidate> Candidates() {
  std::vector<Candidate> highway, xnnpack;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    highway.push_back({std::string("highway ") + hwy::TargetName(target), &HighwayGemm(), GetKernels()});
  }
  hwy::SetSupportedTargetsForTest(0);
  if (XnnpackGemm() == nullptr) return highway;
  xnnpack.push_back({"xnnpack", XnnpackGemm(), GetKernels()});
  const char* level = std::getenv("FOVEA_X86_LEVEL");
  if (level != nullptr) {
    for (const Candidate& other : highway) {  // kernels that replace XNNPACK's there
      if (std::string(level) != "avx2" || other.kernels.gemm.packed_i8 == nullptr) continue;
      xnnpack.push_back({"xnnpack with kernels of " + other.name, XnnpackGemm(), other.kernels});
    }
    return xnnpack;
  }
  highway.push_back(xnnpack[0]);
  return highway;
}

// y with guards around it.
std::vector<float> RunGuarded(const ReadyGemm& gemm, const GemmInput& input, size_t n, Activation activation) {
  std::vector<float> y(kGuardFloats + input.rows * n + kGuardFloats, kGuard);
  gemm.Run(input, activation, y.data() + kGuardFloats);
  for (size_t i = 0; i < kGuardFloats; ++i) {
    EXPECT_EQ(y[i], kGuard) << "wrote before y";
    EXPECT_EQ(y[y.size() - 1 - i], kGuard) << "wrote after y";
  }
  return {y.begin() + kGuardFloats, y.end() - kGuardFloats};
}

void ExpectClose(const GemmProblem& problem, const std::vector<ReferenceValue>& expected, const std::vector<float>& y,
                 const std::string& what) {
  const size_t n = problem.weights.shape.n;
  for (size_t i = 0; i < y.size(); ++i) {
    if (std::fabs(y[i] - expected[i].y) <= expected[i].tolerance) continue;
    ADD_FAILURE() << what << ": row " << i / n << " column " << i % n << " is " << y[i] << ", should be "
                  << expected[i].y << " within " << expected[i].tolerance;
    return;
  }
}

std::vector<ReferenceValue> Expected(const ReferenceGemm& reference, const GemmProblem& problem, Activation activation,
                                     bool split = false) {
  std::vector<ReferenceValue> expected;
  for (size_t r = 0; r < problem.input.rows; ++r) {
    for (size_t c = 0; c < problem.weights.shape.n; ++c) {
      expected.push_back(reference.At(problem.input, activation, r, c, split));
    }
  }
  return expected;
}

using GemmFunction = void (*)(const GemmTile&);
GemmFunction KernelOf(DType type, const GemmKernels& kernels) {
  if (type == DType::kF32) return kernels.f32;
  if (type == DType::kF16) return kernels.f16;
  return type == DType::kI8 ? kernels.i8 : kernels.i4;
}

class GemmTest : public ::testing::TestWithParam<DType> {
 protected:
  void Check(GemmShape shape, size_t rows, bool with_bias, Activation activation) {
    GemmProblem problem(shape, rows, with_bias, static_cast<uint32_t>(rows + 131 * shape.n + 31 * shape.k));
    const ReferenceGemm reference(problem.weights);
    for (const Candidate& candidate : candidates_) {
      if (!candidate.backend->supports(shape) || IsRepeated(candidate, shape.type)) continue;
      const bool own_f16 = shape.type == DType::kF16 && candidate.backend == XnnpackGemm();
      const bool own_layout = own_f16 || (shape.type == DType::kI8 && HasOwnI8());
      const auto expected = Expected(reference, problem, activation, own_f16);
      const std::string what = candidate.name + " m " + std::to_string(rows) + " n " + std::to_string(shape.n) + " k " +
                               std::to_string(shape.k) + " activation " +
                               std::to_string(static_cast<uint32_t>(activation));
      const ReadyGemm gemm(*candidate.backend, candidate.kernels, problem.weights);
      const auto y = RunGuarded(gemm, problem.input, shape.n, activation);
      ExpectClose(problem, expected, y, what);
      ExpectSameBitsInParts(problem, gemm, activation, y, what);
      ExpectSameBitsInColumns(problem, gemm, activation, y, what);
      if (candidate.backend == XnnpackGemm() && shape.type != DType::kI4 && !own_layout) {
        ExpectXnnpacksBits(problem, activation, y, what);
      }
    }
  }

  // Some targets of 64-bit Arm share a kernel: it is tested with the first of them.
  bool IsRepeated(const Candidate& candidate, DType type) const {
    if (candidate.backend != &HighwayGemm()) return false;
    for (const Candidate& other : candidates_) {
      if (&other == &candidate) return false;
      if (KernelOf(type, other.kernels.gemm) == KernelOf(type, candidate.kernels.gemm)) return true;
    }
    return false;
  }

  // Where kernels of ours take XNNPACK's place. Those for int4 add f32 in another order.
  static void ExpectXnnpacksBits(const GemmProblem& problem, Activation activation, const std::vector<float>& y,
                                 const std::string& what) {
    Kernels kernels = GetKernels();
    kernels.gemm.packed_f32 = kernels.gemm.packed_i8 = kernels.gemm.packed_avx512 = nullptr;
    const ReadyGemm gemm(*XnnpackGemm(), kernels, problem.weights);
    const auto expected = RunGuarded(gemm, problem.input, problem.weights.shape.n, activation);
    ASSERT_EQ(std::memcmp(y.data(), expected.data(), y.size() * 4), 0) << what << ": XNNPACK's kernel differs";
  }

  void ExpectSameBitsInParts(GemmProblem& problem, const ReadyGemm& gemm, Activation activation,
                             const std::vector<float>& whole, const std::string& what) {
    const size_t n = problem.weights.shape.n, rows = problem.input.rows;
    size_t part = 0;
    for (size_t first = 0; first < rows;) {
      const size_t sizes[] = {1, 2, 5, 1, 11, 3, 16, 40};
      const size_t count = std::min(sizes[part++ % 8], rows - first);
      const auto y = RunGuarded(gemm, problem.Rows(first, count), n, activation);
      ASSERT_EQ(std::memcmp(y.data(), whole.data() + first * n, y.size() * 4), 0)
          << what << ": rows " << first << " + " << count << " differ when computed apart";
      first += count;
    }
  }

  // Ranges of one step and of more, alone and all of them; columns outside a range are left as they are.
  void ExpectSameBitsInColumns(const GemmProblem& problem, const ReadyGemm& gemm, Activation activation,
                               const std::vector<float>& whole, const std::string& what) {
    const uint32_t n = problem.weights.shape.n, step = gemm.column_step();
    for (const uint32_t steps : {1u, 3u}) {
      std::vector<float> y(kGuardFloats + whole.size() + kGuardFloats, kGuard);
      std::vector<float> expected = y;
      for (uint32_t begin = 0; begin < n; begin += steps * step) {
        const uint32_t end = std::min(n, begin + steps * step);
        gemm.Run(problem.input, {y.data() + kGuardFloats, begin, end, activation});
        for (size_t r = 0; r < problem.input.rows; ++r) {
          std::copy(whole.begin() + r * n + begin, whole.begin() + r * n + end,
                    expected.begin() + kGuardFloats + r * n + begin);
        }
        ASSERT_EQ(std::memcmp(y.data(), expected.data(), y.size() * 4), 0)
            << what << ": columns " << begin << " to " << end << " differ when computed alone, or wrote elsewhere";
      }
      gemm.Run(problem.input, {y.data() + kGuardFloats, n / step * step, n / step * step, activation});
      ASSERT_EQ(std::memcmp(y.data(), expected.data(), y.size() * 4), 0) << what << ": an empty range wrote";
    }
  }

  const std::vector<Candidate> candidates_ = Candidates();
};

TEST_P(GemmTest, AgreesWithReferenceInEveryShape) {
  uint32_t turn = 0;
  for (uint32_t k : {1, 3, 31, 32, 33, 64, 96, 100, 384, 1536}) {
    if (GetParam() == DType::kI4 && k % kI4Block != 0) continue;
    for (uint32_t n : {1, 2, 5, 31, 64, 65, 384}) {
      for (size_t m : {1, 2, 3, 7, 14, 15, 16, 17, 33, 64, 128}) {
        if (m * n * k > 8000000) continue;
        ++turn;
        Check({GetParam(), n, k}, m, turn % 3 != 0, static_cast<Activation>(turn % kActivationCount));
      }
    }
  }
}

TEST_P(GemmTest, AppliesEveryActivation) {
  for (uint32_t a = 0; a < kActivationCount; ++a) {
    Check({GetParam(), 200, 64}, 19, true, static_cast<Activation>(a));
    Check({GetParam(), 67, 64}, 1, false, static_cast<Activation>(a));
  }
}

TEST_P(GemmTest, EveryRowCount) {
  for (size_t m = 1; m <= 45; ++m) Check({GetParam(), 37, 192}, m, m % 2 == 0, Activation::kNone);
}

TEST_P(GemmTest, EveryColumnCount) {
  for (uint32_t n = 1; n <= 70; ++n) Check({GetParam(), n, 64}, 1 + n % 7, n % 2 == 0, Activation::kNone);
}

class IntegerGemmTest : public GemmTest {};

// The first row is also multiplied alone.
TEST_P(IntegerGemmTest, LargestSumsDoNotOverflow) {
  const bool eight = GetParam() == DType::kI8;
  for (const int weight : {eight ? 0x81 : 0x00, eight ? 0x7f : 0xff}) {
    for (const int first : {127, -128}) {
      // Equal sums of int4 blocks are added up in f32, whose errors go one way: at this depth they are small for -8.
      const uint32_t k = eight || weight == 0 ? 65536 : 4096;
      GemmProblem problem({GetParam(), 5, k}, 3, true, 1);
      auto* w = static_cast<uint8_t*>(const_cast<void*>(problem.weights.rows));
      std::memset(w, weight, 5 * RowBytes(GetParam(), k));
      auto* x = const_cast<int8_t*>(problem.input.quantized);
      std::memset(x, first, k);
      std::memset(x + k, -128, 2 * size_t{k});
      const int32_t zeros[] = {-1 - first, 127, -128};
      for (size_t r = 0; r < 3; ++r) problem.input.params[r].zero_point = zeros[r];
      const ReferenceGemm reference(problem.weights);
      const auto expected = Expected(reference, problem, Activation::kNone);
      for (const Candidate& candidate : candidates_) {
        if (!candidate.backend->supports(problem.weights.shape)) continue;
        const ReadyGemm gemm(*candidate.backend, candidate.kernels, problem.weights);
        const auto y = RunGuarded(gemm, problem.input, 5, Activation::kNone);
        ExpectClose(problem, expected, y, candidate.name);
        ExpectSameBitsInParts(problem, gemm, Activation::kNone, y, candidate.name);
      }
    }
  }
}

TEST_P(GemmTest, RefusesWhatItCannotDo) {
  for (const Candidate& candidate : candidates_) {
    EXPECT_FALSE(candidate.backend->supports({DType::kI32, 8, 8})) << candidate.name;
    EXPECT_FALSE(candidate.backend->supports({DType::kI4, 8, 33})) << candidate.name;
    EXPECT_FALSE(candidate.backend->supports({DType::kI8, 8, 70000})) << candidate.name;
    AlignedBytes storage(candidate.backend->operator_bytes({DType::kI4, 8, 33}));
    fovea_error error{};
    Reporter reporter(&error);
    EXPECT_FALSE(
        candidate.backend->make_operator({DType::kI4, 8, 33}, candidate.kernels, storage.data(), reporter).ok());
    EXPECT_EQ(error.status, FOVEA_E_UNSUPPORTED);
    EXPECT_NE(candidate.backend->packed_layout(), 0u);
  }
}

std::string TypeName(const ::testing::TestParamInfo<DType>& info) {
  const char* names[] = {"f32", "f16", "i8", "i4"};
  return names[static_cast<uint32_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Types, GemmTest, ::testing::ValuesIn(kTypes), TypeName);
INSTANTIATE_TEST_SUITE_P(Types, IntegerGemmTest, ::testing::Values(DType::kI8, DType::kI4), TypeName);

}  // namespace
}  // namespace fovea::testing
