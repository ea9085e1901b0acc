// Attention of few query rows over many keys, which is what a step of a decoder does. The counter `of_packed` is the
// time relative to the same with keys and values packed, GB/s are of keys and values.
#include <benchmark/benchmark.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "runtime/attention/attention.h"
#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

// Time of this thread on a core, so that other work on the machine counts little.
double Seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Setup {
  Setup(uint32_t queries, uint32_t keys, uint32_t d, uint32_t kv_heads, DType type) : key_type(type) {
    query_offsets[1] = queries;
    key_offsets[1] = keys;
    spec.heads = 12;
    spec.kv_heads = kv_heads;
    spec.d_k = spec.d_v = d;
    spec.score.scale = 1.0f / std::sqrt(static_cast<float>(d));
    std::mt19937 random(1);
    q.resize(size_t{queries} * spec.heads * d);
    out.resize(q.size());
    for (float& x : q) x = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
    // Any two bytes with this exponent are an f16 from 1 to 2, and any four an f32 beside 0.
    for (std::vector<uint16_t>* x : {&k, &v}) {
      x->resize(RowBytes(type, uint64_t{keys} * kv_heads * d) / 2);
      for (uint16_t& half : *x) half = static_cast<uint16_t>(0x3c00 | (random() >> 22));
    }
    layout = LayOutAttention(spec, queries);
    scratch.resize(layout.bytes + 64);
  }

  void Run(const Kernels& kernels) {
    AttentionCall call = {};
    call.spec = &spec;
    call.layout = &layout;
    call.query_segments = {query_offsets, 1};
    call.key_segments = {key_offsets, 1};
    call.row_end = query_offsets[1];
    call.q = DenseHeads<const void>(q.data(), spec.heads, spec.d_k);
    call.out = DenseHeads<void>(out.data(), spec.heads, spec.d_v);
    const size_t head = RowBytes(key_type, spec.d_k);
    call.k = {k.data(), spec.kv_heads * head, head, 0};
    call.v = {v.data(), spec.kv_heads * head, head, 0};
    call.key_type = key_type;
    call.scratch = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
    RunAttention(kernels, call);
  }

  AttentionSpec spec;
  AttentionLayout layout;
  uint32_t query_offsets[2] = {0, 0}, key_offsets[2] = {0, 0};
  DType key_type;
  std::vector<float> q, out;
  std::vector<uint16_t> k, v;
  std::vector<char> scratch;
};

// Arguments: query rows, keys, head size, key/value heads of 12 heads, type of keys and values.
void BM_FewRows(benchmark::State& state) {
  Setup setup(state.range(0), state.range(1), state.range(2), state.range(3), DType(state.range(4)));
  Kernels kernels[2] = {GetKernels(), GetKernels()};
  kernels[1].attention.in_place_rows = 0;
  std::vector<double> times[2];
  int repeat = 1;
  for (auto _ : state) {
    for (int side = 0; side < 2; ++side) {
      const double start = Seconds();
      for (int i = 0; i < repeat; ++i) setup.Run(kernels[side]);
      times[side].push_back((Seconds() - start) / repeat);
    }
    // The clock is coarse beside a short call.
    if (times[0].size() == 1) repeat = static_cast<int>(1 + 1e-4 / times[0][0]);
    benchmark::ClobberMemory();
  }
  for (std::vector<double>& side : times) std::sort(side.begin(), side.end());
  const double time = times[0][times[0].size() / 2];
  state.counters["us"] = time * 1e6;
  state.counters["of_packed"] = time / times[1][times[1].size() / 2];
  state.counters["GB/s"] = static_cast<double>(2 * (setup.k.size() + setup.v.size())) / time * 1e-9;
}
BENCHMARK(BM_FewRows)
    ->ArgNames({"rows", "keys", "d", "kv_heads", "type"})
    ->ArgsProduct({{1}, {1, 16, 128, 1024, 4096}, {32, 64, 80, 128}, {12}, {0, 1}})
    ->ArgsProduct({{2, 3, 4, 5, 8}, {1024}, {64}, {12}, {0, 1}})
    ->ArgsProduct({{1}, {16, 1024}, {64}, {3, 4, 6}, {0, 1}})
    ->MinTime(0.1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fovea
