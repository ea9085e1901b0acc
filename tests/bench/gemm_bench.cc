// GEMM backends at encoder shapes, in GOPS, and XNNPACK's bare operators (its own loop order) beside them.
#include <benchmark/benchmark.h>

#include <string>

#include "runtime/kernels/kernels.h"
#include "tests/gemm/gemm_problem.h"
#if defined(FOVEA_WITH_XNNPACK)
#include "runtime/gemm/xnnpack_operator.h"
#include "runtime/gemm/xnnpack_pthreadpool.h"
#endif

namespace fovea::testing {
namespace {

constexpr const char* kTypeNames[] = {"f32", "f16", "i8", "i4"};

void CountOperations(benchmark::State& state, GemmShape shape, size_t rows) {
  state.counters["GOPS"] = benchmark::Counter(2e-9 * static_cast<double>(rows) * shape.n * shape.k,
                                              benchmark::Counter::kIsIterationInvariantRate);
}

void RunBackend(benchmark::State& state, const GemmBackend* backend, GemmShape shape, size_t rows,
                Activation activation) {
  const Kernels kernels = GetKernels();
  GemmProblem problem(shape, rows, true, 1);
  const ReadyGemm gemm(*backend, kernels, problem.weights);
  std::vector<float> y(rows * shape.n);
  for (auto _ : state) {
    gemm.Run(problem.input, activation, y.data());
    benchmark::ClobberMemory();
  }
  CountOperations(state, shape, rows);
}

#if defined(FOVEA_WITH_XNNPACK)
// One tile of all columns: every tile of rows reads all weights before the next, as XNNPACK does on one thread.
void RunBare(benchmark::State& state, GemmShape shape, size_t rows) {
  XnnpackGemm();
  GemmProblem problem(shape, rows, true, 1);
  AlignedBytes packed(XnnpackGemm()->packed_bytes(shape));
  auto object = std::make_unique<XnnpackObject>();
  size_t used = 0;
  if (PackWithXnnpack(problem.weights, packed.data(), packed.size(), object.get(), &used) != xnn_status_success) {
    state.SkipWithError("cannot pack");
    return;
  }
  xnn_weights_cache_provider provider = {};
  provider.context = packed.data();
  provider.look_up = [](void*, const xnn_weights_cache_look_up_key*) { return size_t{0}; };
  provider.is_finalized = [](void*) { return true; };
  provider.offset_to_addr = [](void* context, size_t) { return context; };
  xnn_operator_t op = nullptr;
  if (MakeXnnpackOperator(shape, &provider, object.get(), &op) != xnn_status_success) {
    state.SkipWithError("cannot make the operator");
    return;
  }
  pthreadpool pool = {rows, 0, shape.n, shape.n, nullptr};
  std::vector<float> y(rows * shape.n);
  for (size_t i = 0; i < kGemmExtraParams; ++i) problem.input.params[rows + i] = problem.input.params[rows - 1];
  for (auto _ : state) {
    if (RunXnnpackOperator(op, shape.type, rows, problem.input, y.data(), &pool) != xnn_status_success) {
      state.SkipWithError("cannot run");
      return;
    }
    benchmark::ClobberMemory();
  }
  CountOperations(state, shape, rows);
}
#endif

const bool registered = [] {
  constexpr uint32_t kShapes[][2] = {{384, 1536}, {768, 768}, {768, 3072}, {3072, 768}};  // k, n
  for (auto [k, n] : kShapes) {
    for (size_t rows : {1, 64, 128}) {
      for (uint32_t type = 0; type < 4; ++type) {
        const GemmShape shape = {static_cast<DType>(type), n, k};
        const std::string name = std::string("/") + kTypeNames[type] + "/" + std::to_string(k) + "x" +
                                 std::to_string(n) + "/rows:" + std::to_string(rows);
        benchmark::RegisterBenchmark(("gemm/highway" + name).c_str(), RunBackend, &HighwayGemm(), shape, rows,
                                     Activation::kNone);
        const GemmBackend* xnnpack = XnnpackGemm();
        if (xnnpack == nullptr || !xnnpack->supports(shape)) continue;
        benchmark::RegisterBenchmark(("gemm/xnnpack" + name).c_str(), RunBackend, xnnpack, shape, rows,
                                     Activation::kNone);
        if (n == 3072 && rows > 1) {
          benchmark::RegisterBenchmark(("gemm/xnnpack+gelu" + name).c_str(), RunBackend, xnnpack, shape, rows,
                                       Activation::kGelu);
        }
#if defined(FOVEA_WITH_XNNPACK)
        benchmark::RegisterBenchmark(("gemm/bare" + name).c_str(), RunBare, shape, rows);
#endif
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace fovea::testing
