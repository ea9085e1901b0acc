// GFLOP/s of the attention engine on one core beside the measured peak of fused multiply-adds, and what a window costs
// against full attention. Counters: GFLOPS (2 * queries * keys seen * (d_k + d_v) per head), peak_share.
#include <benchmark/benchmark.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "runtime/attention/attention.h"
#include "runtime/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/attention_bench.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Independent chains of multiply-adds in registers; returns the number of floating-point operations.
double MultiplyAdds(size_t steps, float* out) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, out[0]), b = hn::Set(d, out[1]);
  // Different starts: equal chains would be merged by the compiler.
  auto s0 = hn::Iota(d, 0), s1 = hn::Iota(d, 1), s2 = hn::Iota(d, 2), s3 = hn::Iota(d, 3), s4 = hn::Iota(d, 4);
  auto s5 = hn::Iota(d, 5), s6 = hn::Iota(d, 6), s7 = hn::Iota(d, 7), s8 = hn::Iota(d, 8), s9 = hn::Iota(d, 9);
  auto s10 = hn::Iota(d, 10), s11 = hn::Iota(d, 11);
  for (size_t i = 0; i < steps; ++i) {
    s0 = hn::MulAdd(s0, a, b), s1 = hn::MulAdd(s1, a, b), s2 = hn::MulAdd(s2, a, b), s3 = hn::MulAdd(s3, a, b);
    s4 = hn::MulAdd(s4, a, b), s5 = hn::MulAdd(s5, a, b), s6 = hn::MulAdd(s6, a, b), s7 = hn::MulAdd(s7, a, b);
    s8 = hn::MulAdd(s8, a, b), s9 = hn::MulAdd(s9, a, b), s10 = hn::MulAdd(s10, a, b), s11 = hn::MulAdd(s11, a, b);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  out[2] = hn::ReduceSum(d, hn::Add(sum, hn::Add(hn::Add(s8, s9), hn::Add(s10, s11))));
  return 24.0 * static_cast<double>(steps * hn::Lanes(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {
HWY_EXPORT(MultiplyAdds);

// Time of this thread on a core, so that other work on the machine counts little.
double Seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The median of many short runs: thread time has outliers either way when the core is shared.
double PeakFlops() {
  float values[3] = {0.999f, 0.001f, 0.0f};
  std::vector<double> runs(201);
  for (double& run : runs) {
    const double start = Seconds();
    const double flops = HWY_DYNAMIC_DISPATCH(MultiplyAdds)(20000, values);
    run = flops / (Seconds() - start);
    benchmark::DoNotOptimize(values[2]);
  }
  std::nth_element(runs.begin(), runs.begin() + 100, runs.end());
  return runs[100];
}

struct Setup {
  Setup(uint32_t n, uint32_t heads, uint32_t d, uint32_t tile, Pattern pattern)
      : rows(n), tile_rows(std::min(tile, n)), offsets{0, n} {
    spec.heads = spec.kv_heads = heads;
    spec.d_k = spec.d_v = d;
    spec.score.scale = 1.0f / std::sqrt(static_cast<float>(d));
    spec.pattern = pattern;
    std::mt19937 random(1);
    for (std::vector<float>* x : {&q, &k, &v}) {
      x->resize(size_t{n} * heads * d);
      for (float& value : *x) value = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
    }
    out.resize(q.size());
    SetTypes(Products::kF32, DType::kF32);
  }

  // Shorter keys and values: int8 reuses the bytes of the f32 ones, the 16-bit types hold numbers from 1 to 2.
  void SetTypes(Products products, DType type) {
    spec.score.products = products;
    key_type = type;
    scales.assign(size_t{rows} * spec.heads, 0.01f);
    if (type == DType::kF16 || type == DType::kBf16) {
      for (std::vector<float>* x : {&k, &v}) {
        const uint32_t one = type == DType::kF16 ? 0x3c003c00 : 0x3f803f80;
        for (float& value : *x) {
          uint32_t bits;
          memcpy(&bits, &value, 4);
          bits = one | (bits & 0x007f007f);
          memcpy(&value, &bits, 4);
        }
      }
    }
    scratch.resize(AttentionScratchBytes(spec, tile_rows) + 64);
  }

  void Run(const Kernels& kernels) {
    AttentionCall call = {};
    call.spec = &spec;
    call.query_segments = call.key_segments = {offsets, 1};
    const size_t vector = spec.d_k * (key_type == DType::kF32 ? 4 : key_type == DType::kI8 ? 1 : 2);
    call.k = {k.data(), spec.heads * vector, vector, 0};
    call.v = {v.data(), spec.heads * vector, vector, 0};
    call.key_type = key_type;
    call.k_scales = call.v_scales = DenseHeads<const void>(scales.data(), spec.heads, 1);
    call.scratch = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
    const size_t width = size_t{spec.heads} * spec.d_k;
    for (uint32_t row = 0; row < rows; row += tile_rows) {
      call.row_begin = row;
      call.row_end = std::min(row + tile_rows, rows);
      call.q = DenseHeads<const void>(q.data() + row * width, spec.heads, spec.d_k);
      call.out = DenseHeads<void>(out.data() + row * width, spec.heads, spec.d_v);
      RunAttention(kernels, call);
    }
  }

  double Flops() const {
    double keys = 0.0;
    for (uint32_t row = 0; row < rows; ++row) {
      const uint32_t first = row > spec.pattern.left ? row - spec.pattern.left : 0;
      const uint64_t end = std::min<uint64_t>(rows, uint64_t{row} + spec.pattern.right + 1);
      keys += static_cast<double>(end - first);
    }
    return 2.0 * keys * spec.heads * (spec.d_k + spec.d_v);
  }

  AttentionSpec spec{};
  uint32_t rows, tile_rows;
  uint32_t offsets[2];
  DType key_type = DType::kF32;
  std::vector<float> q, k, v, out, scales;
  std::vector<char> scratch;
};

Pattern WindowOf(uint32_t left, uint32_t right) {
  Pattern pattern;
  pattern.left = left;
  pattern.right = right;
  return pattern;
}

void Measure(benchmark::State& state, Setup* setup) {
  const Kernels kernels = GetKernels();
  const double peak = PeakFlops();
  double best = 1e30;
  constexpr int kRepeat = 10;  // the clock is coarse beside a short sentence
  setup->Run(kernels);
  for (auto _ : state) {
    const double start = Seconds();
    for (int i = 0; i < kRepeat; ++i) setup->Run(kernels);
    best = std::min(best, (Seconds() - start) / kRepeat);
    benchmark::ClobberMemory();
  }
  state.counters["peak_GFLOPS"] = peak * 1e-9;
  state.counters["GFLOPS"] = setup->Flops() / best * 1e-9;  // best iteration
  state.counters["peak_share"] = setup->Flops() / best / peak;
}

// Arguments: rows, heads, head size, rows per tile.
void BM_Full(benchmark::State& state) {
  Setup setup(state.range(0), state.range(1), state.range(2), state.range(3), {});
  Measure(state, &setup);
}
BENCHMARK(BM_Full)
    ->ArgNames({"n", "heads", "d", "tile"})
    ->Args({20, 12, 32, 128})
    ->Args({128, 12, 32, 32})
    ->Args({128, 12, 32, 64})
    ->Args({128, 12, 32, 128})
    ->Args({128, 6, 64, 128})
    ->Args({128, 3, 128, 128})
    ->Args({512, 12, 32, 256})
    ->Args({512, 6, 64, 256})
    ->Args({512, 3, 128, 256})
    ->Args({4096, 2, 32, 256})
    ->Args({4096, 1, 64, 256})
    ->Args({4096, 1, 128, 256})
    ->Unit(benchmark::kMicrosecond);

void BM_Causal(benchmark::State& state) {
  Setup setup(state.range(0), state.range(1), state.range(2), state.range(3), WindowOf(kUnbounded, 0));
  Measure(state, &setup);
}
BENCHMARK(BM_Causal)->ArgNames({"n", "heads", "d", "tile"})->Args({512, 12, 32, 256})->Unit(benchmark::kMicrosecond);

// The least time of a setup's run over that of another's, in turns.
double TimeOver(const Kernels& kernels, Setup* setup, Setup* other) {
  Setup* runs[2] = {setup, other};
  double times[2] = {1e30, 1e30};
  for (int i = 0; i < 6; ++i) {
    const double start = Seconds();
    runs[i % 2]->Run(kernels);
    times[i % 2] = std::min(times[i % 2], Seconds() - start);
  }
  return times[0] / times[1];
}

// Arguments: rows, keys on either side, rows per tile. The counter `of_full` is the time relative to full attention,
// `ideal` the share of keys seen.
void BM_Window(benchmark::State& state) {
  const uint32_t n = state.range(0), side = state.range(1), tile = state.range(2);
  Setup setup(n, 12, 32, tile, WindowOf(side, side));
  Setup full(n, 12, 32, tile, {});
  Measure(state, &setup);
  state.counters["of_full"] = TimeOver(GetKernels(), &setup, &full);
  state.counters["ideal"] = setup.Flops() / full.Flops();
}
BENCHMARK(BM_Window)
    ->ArgNames({"n", "side", "tile"})
    ->Args({4096, 128, 128})
    ->Args({4096, 128, 64})
    ->Args({4096, 32, 128})
    ->Args({4096, 256, 128})
    ->Unit(benchmark::kMicrosecond);

// Arguments: rows, head size (of 384 columns), keys on either side (0: all), type of products, type of keys and values.
// `of_f32` is the time relative to products in f32 over the same keys.
void BM_Products(benchmark::State& state) {
  const uint32_t n = state.range(0), d = state.range(1), side = state.range(2);
  const Pattern pattern = side == 0 ? Pattern() : WindowOf(side, side);
  Setup setup(n, 384 / d, d, 128, pattern), f32(n, 384 / d, d, 128, pattern);
  setup.SetTypes(Products(state.range(3)), DType(state.range(4)));
  f32.SetTypes(Products::kF32, DType(state.range(4)));
  Measure(state, &setup);
  state.counters["of_f32"] = TimeOver(GetKernels(), &setup, &f32);
}
BENCHMARK(BM_Products)
    ->ArgNames({"n", "d", "side", "products", "keys"})
    ->ArgsProduct({{512, 4096}, {32, 64, 128}, {0}, {1, 2}, {0}})
    ->ArgsProduct({{4096}, {32, 64}, {128}, {1, 2}, {0}})
    ->ArgsProduct({{512}, {64}, {0}, {1}, {2}})
    ->ArgsProduct({{512}, {64}, {0}, {2}, {3}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fovea

#endif  // HWY_ONCE
