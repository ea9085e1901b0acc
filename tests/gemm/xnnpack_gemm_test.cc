// Promises of the XNNPACK backend beyond right results: no heap, no writes outside its memory, weights shared by
// operators and threads, the caller's floating-point state left alone.
#if defined(FOVEA_WITH_XNNPACK)
#include <gtest/gtest.h>

#include <cfenv>
#include <string>
#include <thread>

#include "runtime/gemm/xnnpack_operator.h"
#include "runtime/kernels/kernels.h"
#include "tests/gemm/gemm_problem.h"
#include "tests/support/heap_trap.h"
#include "tests/support/reference_gemm.h"

namespace fovea::testing {
namespace {

#if defined(__wasm__)
constexpr DType kTypes[] = {DType::kF32, DType::kI8};
#else
constexpr DType kTypes[] = {DType::kF32, DType::kI8, DType::kI4, DType::kF16};
#endif

class XnnpackGemmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    backend_ = XnnpackGemm();
    if (backend_ == nullptr) GTEST_SKIP() << "XNNPACK does not run on this machine";
  }

  const GemmBackend* backend_ = nullptr;
  const Kernels kernels_ = GetKernels();
};

TEST_F(XnnpackGemmTest, NeverUsesTheHeap) {
  if (!HeapTrap::Works()) GTEST_SKIP() << "the heap cannot be watched in this build";
  for (DType type : kTypes) {
    const GemmShape shape = {type, 200, 128};
    if (!backend_->supports(shape)) continue;
    GemmProblem problem(shape, 33, true, 1);
    AlignedBytes packed(backend_->packed_bytes(shape)), storage(backend_->operator_bytes(shape));
    std::vector<float> y(33 * shape.n);
    Reporter reporter(nullptr);
    const HeapTrap trap;
    ASSERT_TRUE(backend_->pack(problem.weights, packed.data(), reporter).ok());
    EXPECT_EQ(trap.calls(), 0u) << "pack";
    ASSERT_TRUE(backend_->make_operator(shape, kernels_, storage.data(), reporter).ok());
    EXPECT_EQ(trap.calls(), 0u) << "make_operator";
    for (size_t rows : {33, 1, 20}) {
      problem.input.rows = rows;
      ASSERT_TRUE(backend_
                      ->run(storage.data(), problem.weights, packed.data(), problem.input,
                            {y.data(), 0, 200, Activation::kGelu})
                      .ok());
    }
    EXPECT_EQ(trap.calls(), 0u) << "run";
    EXPECT_NE(backend_->packed_layout(), 0u);
    EXPECT_EQ(trap.calls(), 0u) << "packed_layout";
  }
  const HeapTrap trap;
  int* volatile kept = new int;
  delete kept;
  EXPECT_EQ(trap.calls(), 2u) << "the trap itself";
}

// The sizes are bounds for every CPU; on this one they hold, and one byte less than needed is refused without a write.
TEST_F(XnnpackGemmTest, PacksWithinItsBytesOrNotAtAll) {
  for (DType type : kTypes) {
    for (uint32_t n : {1, 7, 31, 64, 65, 200}) {
      for (uint32_t k : {1, 31, 32, 33, 64, 96, 100, 384}) {
        const GemmShape shape = {type, n, k};
        if (!backend_->supports(shape) || type == DType::kF16) continue;
        const GemmProblem problem(shape, 1, true, n + k);
        AlignedBytes packed(backend_->packed_bytes(shape));
        XnnpackObject object;
        size_t used = 0;
        ASSERT_EQ(PackWithXnnpack(problem.weights, packed.data(), packed.size(), &object, &used), xnn_status_success)
            << n << " " << k << " needs " << used << " has " << packed.size();
        AlignedBytes small(used - 1, 0xab);
        EXPECT_NE(PackWithXnnpack(problem.weights, small.data(), small.size(), &object, &used), xnn_status_success);
        Reporter reporter(nullptr);
        EXPECT_TRUE(backend_->check_layout(problem.weights, reporter).ok()) << n << " " << k;
        EXPECT_EQ(small.data()[0], 0xab);
        EXPECT_EQ(small.data()[small.size() - 1], 0xab);
      }
    }
  }
}

TEST_F(XnnpackGemmTest, PackingIsRepeatable) {
  for (DType type : kTypes) {
    const GemmProblem problem({type, 70, 192}, 1, true, 3);
    if (!backend_->supports(problem.weights.shape)) continue;
    const size_t size = backend_->packed_bytes(problem.weights.shape);
    AlignedBytes a(size, 0), b(size, 0);
    Reporter reporter(nullptr);
    ASSERT_TRUE(backend_->pack(problem.weights, a.data(), reporter).ok());
    ASSERT_TRUE(backend_->pack(problem.weights, b.data(), reporter).ok());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), size), 0);
  }
  EXPECT_EQ(backend_->packed_layout(), backend_->packed_layout());
}

TEST_F(XnnpackGemmTest, RefusesScalesThatAreNoPositiveNumbers) {
  const GemmShape shape = {DType::kI4, 64, 64};
  for (uint16_t bad : {0x0000, 0x8000, 0x7f80, 0x7fc0, 0xbf80, 0x0001}) {
    GemmProblem problem(shape, 1, true, 3);
    static_cast<uint16_t*>(const_cast<void*>(problem.weights.scales))[77] = bad;
    AlignedBytes packed(backend_->packed_bytes(shape));
    fovea_error error{};
    Reporter reporter(&error);
    EXPECT_FALSE(backend_->pack(problem.weights, packed.data(), reporter).ok());
    EXPECT_EQ(FOVEA_STATUS_CLASS(error.status), FOVEA_E_BLOB) << error.text;
    EXPECT_EQ(FOVEA_STATUS_CLASS(backend_->check_layout(problem.weights, reporter).code), FOVEA_E_BLOB);
  }
}

// One set of packed weights per layer, an operator per thread for all layers of the shape, layers in different order.
TEST_F(XnnpackGemmTest, OperatorsAndThreadsSharePackedWeights) {
  constexpr size_t kLayers = 3, kThreads = 4, kRows = 29;
  for (DType type : kTypes) {
    const GemmShape shape = {type, 150, 128};
    if (!backend_->supports(shape)) continue;
    std::vector<std::unique_ptr<GemmProblem>> layers;
    std::vector<std::unique_ptr<AlignedBytes>> packed;
    std::vector<std::vector<float>> expected;
    Reporter reporter(nullptr);
    for (size_t i = 0; i < kLayers; ++i) {
      layers.push_back(std::make_unique<GemmProblem>(shape, kRows, i != 1, i));
      packed.push_back(std::make_unique<AlignedBytes>(backend_->packed_bytes(shape)));
      ASSERT_TRUE(backend_->pack(layers[i]->weights, packed[i]->data(), reporter).ok());
      expected.emplace_back(kRows * shape.n);
      ReadyGemm(*backend_, kernels_, layers[i]->weights).Run(layers[i]->input, Activation::kSilu, expected[i].data());
    }
    std::vector<std::thread> threads;
    std::vector<size_t> wrong(kThreads, 0);
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        AlignedBytes storage(backend_->operator_bytes(shape));
        Reporter none(nullptr);
        if (!backend_->make_operator(shape, kernels_, storage.data(), none).ok()) ++wrong[t];
        std::vector<float> y(kRows * shape.n);
        for (size_t turn = 0; turn < 60; ++turn) {
          const size_t i = (turn * (t + 1)) % kLayers;
          std::vector<QuantParams> params(layers[i]->input.params, layers[i]->input.params + kRows);
          params.resize(kRows + kGemmExtraParams);
          AlignedBytes rows(0);
          GemmInput input = AsTaken(backend_->takes_pairs(shape), layers[i]->input, shape.k, &rows);
          input.params = params.data();
          const Status status = backend_->run(storage.data(), layers[i]->weights, packed[i]->data(), input,
                                              {y.data(), 0, 150, Activation::kSilu});
          if (!status.ok() || y != expected[i]) ++wrong[t];
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (size_t t = 0; t < kThreads; ++t) EXPECT_EQ(wrong[t], 0u) << "thread " << t;
  }
}

// Denormals survive, and rounding mode and flags of the caller are as before.
TEST_F(XnnpackGemmTest, KeepsDenormalsAndFloatingPointState) {
  const GemmShape shape = {DType::kF32, 3, 4};
  GemmProblem problem(shape, 2, false, 1);
  auto* w = static_cast<float*>(const_cast<void*>(problem.weights.rows));
  auto* x = const_cast<float*>(problem.input.x);
  for (size_t i = 0; i < 12; ++i) w[i] = i % 4 == 0 ? 1e-20f : 0.0f;
  for (size_t i = 0; i < 8; ++i) x[i] = i % 4 == 0 ? 1e-20f : 0.0f;
  const ReadyGemm gemm(*backend_, kernels_, problem.weights);
  std::vector<float> y(6);
  const int rounding = std::fegetround();
  gemm.Run(problem.input, Activation::kNone, y.data());
  EXPECT_EQ(std::fegetround(), rounding);
#if defined(__arm__)
  const float expected = 0;  // vectors of 32-bit Arm have no denormals
#else
  const float expected = 1e-40f;
#endif
  for (float v : y) EXPECT_FLOAT_EQ(v, expected);
  volatile float tiny = 1e-20f;
  const float product = tiny * tiny;
  EXPECT_GT(product, 0.0f) << "flush-to-zero leaked to the caller";
}

// Every row count over the int4 kernel of 14 rows, which spoils the last row when the parameters after it differ.
TEST_F(XnnpackGemmTest, LastRowOfInt4IsRight) {
  const GemmShape shape = {DType::kI4, 96, 192};
#if defined(__wasm__)
  ASSERT_FALSE(backend_->supports(shape));
  GTEST_SKIP() << "Highway multiplies int4 weights in WebAssembly";
#endif
  for (size_t rows = 1; rows <= 45; ++rows) {
    GemmProblem problem(shape, rows, true, static_cast<uint32_t>(rows));
    for (size_t i = 0; i < kGemmExtraParams; ++i) problem.input.params[rows + i] = {99, 1e30f};
    const ReferenceGemm reference(problem.weights);
    std::vector<float> y(rows * shape.n);
    ReadyGemm(*backend_, kernels_, problem.weights).Run(problem.input, Activation::kNone, y.data());
    for (size_t c = 0; c < shape.n; ++c) {
      const ReferenceValue expected = reference.At(problem.input, Activation::kNone, rows - 1, c);
      ASSERT_NEAR(y[(rows - 1) * shape.n + c], expected.y, expected.tolerance) << rows << " rows, column " << c;
    }
  }
}

}  // namespace
}  // namespace fovea::testing
#endif  // FOVEA_WITH_XNNPACK
