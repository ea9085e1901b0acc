// Every row kernel on data resident in L1: nanoseconds per call and elements per second, beside memcpy.
#include <benchmark/benchmark.h>
#include <string.h>

#include <random>
#include <vector>

#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

constexpr size_t kRows = 4, kWidth = 384, kCount = kRows * kWidth;

struct Data {
  std::vector<float> a, b, y;
  std::vector<int8_t> q;
  std::vector<QuantParams> params;
  Kernels k = GetKernels();
  Data() : a(kCount), b(kCount), y(kCount), q(kCount), params(kRows) {
    std::mt19937 engine(1);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < kCount; ++i) {
      a[i] = normal(engine);
      b[i] = normal(engine);
    }
  }
};

template <class F>
void Register(const char* name, F call) {
  benchmark::RegisterBenchmark(name, [call](benchmark::State& state) {
    Data data;
    for (auto _ : state) {
      call(data);
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kCount));
  });
}

const bool registered = [] {
  Register("memcpy", [](Data& d) { memcpy(d.y.data(), d.a.data(), kCount * sizeof(float)); });
  Register("add", [](Data& d) { d.k.elementwise.add(d.a.data(), d.b.data(), kCount, d.y.data()); });
  Register("layer_norm", [](Data& d) {
    d.k.norm.layer_norm(d.a.data(), nullptr, d.b.data(), d.b.data(), 1e-5f, kRows, kWidth, nullptr, d.y.data());
  });
  Register("layer_norm, residual", [](Data& d) {
    d.k.norm.layer_norm(d.a.data(), d.b.data(), d.b.data(), d.b.data(), 1e-5f, kRows, kWidth, nullptr, d.y.data());
  });
  Register("rms_norm", [](Data& d) {
    d.k.norm.rms_norm(d.a.data(), nullptr, d.b.data(), 0, 1e-5f, kRows, kWidth, nullptr, d.y.data());
  });
  Register("l2_normalize",
           [](Data& d) { d.k.norm.l2_normalize(d.a.data(), NormClamp::kLength, 1e-12f, kRows, kWidth, d.y.data()); });
  const char* names[] = {"none", "relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"};
  for (size_t i = 0; i < kActivationCount; ++i) {
    Register(names[i], [i](Data& d) { d.k.activation.apply[i](d.a.data(), kCount, d.y.data()); });
  }
  Register("silu gate", [](Data& d) {
    d.k.activation.gate[static_cast<size_t>(Activation::kSilu)](d.a.data(), d.b.data(), kCount, d.y.data());
  });
  Register("softmax", [](Data& d) { d.k.softmax.softmax(d.a.data(), kRows, kWidth, d.y.data()); });
  Register("quantize_rows",
           [](Data& d) { d.k.quantize.quantize_rows(d.a.data(), kRows, kWidth, d.q.data(), d.params.data()); });
  Register("i8 row to f32", [](Data& d) {
    const float scale = 0.1f;
    d.k.dequantize.set[static_cast<size_t>(DType::kI8)](d.q.data(), &scale, kCount, 1.0f, d.y.data());
  });
  Register("i4 row to f32", [](Data& d) {
    d.k.dequantize.set[static_cast<size_t>(DType::kI4)](d.q.data(), d.b.data(), kCount, 1.0f, d.y.data());
  });
  Register("mean pool", [](Data& d) { d.k.pool.mean(d.a.data(), 0, kRows, kWidth, d.y.data()); });
  Register("rotary, halves", [](Data& d) {
    d.k.rotary.rotate(d.a.data(), kCount / 64, 64, 64, d.b.data(), d.b.data() + 32, false, d.y.data());
  });
  Register("rotary, interleaved", [](Data& d) {
    d.k.rotary.rotate(d.a.data(), kCount / 64, 64, 64, d.b.data(), d.b.data() + 32, true, d.y.data());
  });
  return true;
}();

}  // namespace
}  // namespace fovea
