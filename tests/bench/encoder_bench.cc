// Whole int8 encoders against the bare XNNPACK calls of their linear layers, workers against workers, and ragged
// batches against padded ones. The two sides of every ratio take turns within one run, so that a noisy machine disturbs
// both alike.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "ports/thread_runner.h"
#include "runtime/blob/attributes.h"
#include "tests/gemm/gemm_problem.h"
#include "tests/support/model_builder.h"
#if defined(FOVEA_WITH_XNNPACK)
#include "runtime/gemm/xnnpack_operator.h"
#include "runtime/gemm/xnnpack_pthreadpool.h"
#endif

namespace fovea::test {
namespace {

struct EncoderShape {
  const char* name;
  uint32_t layers, width, heads, ffn;
};
constexpr EncoderShape kShapes[] = {{"6x384", 6, 384, 12, 1536}, {"12x768", 12, 768, 12, 3072}};

double Milliseconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

struct Encoder {
  explicit Encoder(const EncoderShape& shape)
      : encoder(BuildTinyEncoder(builder, DType::kI8, shape.layers, shape.width, shape.heads, shape.ffn, 1000, 4096)),
        model(builder.Blob()) {}
  ModelBuilder builder;
  TinyEncoder encoder;
  TestModel model;
};

struct Bound {
  Bound(const Encoder& e, const std::vector<uint32_t>& lengths, uint32_t workers, uint32_t tile_rows = 0)
      : threads(workers) {
    uint32_t rows = 0;
    for (uint32_t length : lengths) rows += length;
    const std::vector<fovea_limit> limits = {{e.encoder.texts, static_cast<uint32_t>(lengths.size()), 0},
                                             {e.encoder.tokens, rows, 0}};
    fovea_session_options options = Options(limits, workers, tile_rows);
    options.runner = ports::ThreadRunner::Run;
    options.runner_context = &threads;
    if (workers > 1) options.barrier = ports::ThreadRunner::Barrier;
    session = std::make_unique<TestSession>(e.model, options);
    session->SetSegments(e.encoder.tokens, lengths);
    session->SetInput(e.encoder.ids, RandomIds(rows, 1000, 1));
  }
  void Run() { session->Run(); }
  ports::ThreadRunner threads;
  std::unique_ptr<TestSession> session;
};

// Alternates a and b while the benchmark lasts; counters: the fastest and the median of each, and their ratios.
void Compare(benchmark::State& state, const std::function<void()>& a, const std::function<void()>& b) {
  std::vector<double> times_a, times_b;
  a();
  b();
  for (auto _ : state) {
    times_a.push_back(Milliseconds(a));
    times_b.push_back(Milliseconds(b));
  }
  std::sort(times_a.begin(), times_a.end());
  std::sort(times_b.begin(), times_b.end());
  const double median_a = times_a[times_a.size() / 2], median_b = times_b[times_b.size() / 2];
  state.counters["ms"] = median_a;
  state.counters["fastest_ms"] = times_a[0];
  state.counters["other_ms"] = median_b;
  state.counters["ratio"] = median_a / median_b;
  state.counters["ratio_of_fastest"] = times_a[0] / times_b[0];
}

#if defined(FOVEA_WITH_XNNPACK)
// A linear layer as XNNPACK runs it alone: all rows, one tile of all columns, its input already quantized.
struct BareLinear {
  BareLinear(uint32_t n, uint32_t k, size_t row_count)
      : shape{DType::kI8, n, k},
        problem(shape, row_count, true, 1),
        packed(XnnpackGemm()->packed_bytes(shape)),
        y(row_count * n),
        pool{row_count, 0, n, n, nullptr},
        rows(row_count) {
    size_t used = 0;
    if (PackWithXnnpack(problem.weights, packed.data(), packed.size(), object.get(), &used) != xnn_status_success)
      abort();
    provider.context = packed.data();
    provider.look_up = [](void*, const xnn_weights_cache_look_up_key*) { return size_t{0}; };
    provider.is_finalized = [](void*) { return true; };
    provider.offset_to_addr = [](void* context, size_t) { return context; };
    if (MakeXnnpackOperator(shape, &provider, object.get(), &op) != xnn_status_success) abort();
    for (size_t i = 0; i < kGemmExtraParams; ++i) problem.input.params[rows + i] = problem.input.params[rows - 1];
  }
  void Run() {
    if (RunXnnpackOperator(op, shape.type, rows, problem.input, y.data(), &pool) != xnn_status_success) abort();
  }
  GemmShape shape;
  testing::GemmProblem problem;
  testing::AlignedBytes packed;
  std::unique_ptr<XnnpackObject> object = std::make_unique<XnnpackObject>();
  xnn_weights_cache_provider provider = {};
  xnn_operator_t op = nullptr;
  std::vector<float> y;
  pthreadpool pool;
  size_t rows;
};

void AgainstBareGemm(benchmark::State& state, EncoderShape shape) {
  XnnpackGemm();
  const size_t rows = 128;
  const Encoder encoder(shape);
  Bound bound(encoder, {rows}, 1, static_cast<uint32_t>(state.range(0)));
  std::vector<std::unique_ptr<BareLinear>> linears;  // each layer its own weights, as in the model
  for (uint32_t layer = 0; layer < shape.layers; ++layer) {
    for (int i = 0; i < 4; ++i) linears.push_back(std::make_unique<BareLinear>(shape.width, shape.width, rows));
    linears.push_back(std::make_unique<BareLinear>(shape.ffn, shape.width, rows));
    linears.push_back(std::make_unique<BareLinear>(shape.width, shape.ffn, rows));
  }
  Compare(
      state, [&] { bound.Run(); },
      [&] {
        for (auto& linear : linears) linear->Run();
      });
}
#endif

void Workers(benchmark::State& state, EncoderShape shape) {
  const Encoder encoder(shape);
  Bound one(encoder, {128}, 1), two(encoder, {128}, 2);
  Compare(
      state, [&] { one.Run(); }, [&] { two.Run(); });
}

// Reads memory once, split evenly over the threads of a runner.
struct ReadLoop {
  ReadLoop(size_t bytes, uint32_t workers) : words(bytes / 8, 1), threads(workers), sums(workers * 8) {}
  void Run() { ports::ThreadRunner::Run(&threads, threads.threads(), Read, this); }
  static void Read(void* context, uint32_t worker) {
    ReadLoop& self = *static_cast<ReadLoop*>(context);
    const size_t count = self.words.size() / self.threads.threads();
    const uint64_t* first = self.words.data() + worker * count;
    uint64_t sums[8] = {};
    for (size_t i = 0; i + 8 <= count; i += 8) {
      for (size_t j = 0; j < 8; ++j) sums[j] += first[i + j];
    }
    for (size_t j = 0; j < 8; ++j) self.sums[worker * 8] += sums[j];
  }
  std::vector<uint64_t> words;
  ports::ThreadRunner threads;
  std::vector<uint64_t> sums;
};

// So few rows that workers share columns: one worker against two, and the rates at which weights are read beside those
// of a plain loop over as many bytes, in GB/s.
void FewRows(benchmark::State& state, EncoderShape shape) {
  const auto rows = static_cast<uint32_t>(state.range(0));
  const Encoder encoder(shape);
  Bound one(encoder, {rows}, 1), two(encoder, {rows}, 2);
  const double width = shape.width, bytes = shape.layers * (4 * width * width + 2 * width * shape.ffn);
  ReadLoop read_one(static_cast<size_t>(bytes), 1), read_two(static_cast<size_t>(bytes), 2);
  std::vector<double> reads[2];
  for (int i = 0; i < 15; ++i) {
    reads[0].push_back(Milliseconds([&] { read_one.Run(); }));
    reads[1].push_back(Milliseconds([&] { read_two.Run(); }));
  }
  Compare(
      state, [&] { one.Run(); }, [&] { two.Run(); });
  const auto rate = [bytes](double milliseconds) { return bytes * 1e-6 / milliseconds; };
  state.counters["GBps"] = rate(state.counters["ms"]);
  state.counters["other_GBps"] = rate(state.counters["other_ms"]);
  for (int i = 0; i < 2; ++i) {
    std::sort(reads[i].begin(), reads[i].end());
    state.counters[i == 0 ? "read_GBps" : "other_read_GBps"] = rate(reads[i][reads[i].size() / 2]);
  }
}

void RaggedAgainstPadded(benchmark::State& state, EncoderShape shape) {
  const Encoder encoder(shape);
  Bound padded(encoder, std::vector<uint32_t>(8, 64), 1), ragged(encoder, {64, 8, 16, 5, 30, 22, 11, 40}, 1);
  Compare(
      state, [&] { padded.Run(); }, [&] { ragged.Run(); });
  state.counters["rows_ratio"] = 512.0 / 196.0;
}

// A long text in a window of 128 rows on either side against a quarter of it: `ratio` is 4 if time is linear. The
// argument is the type of products.
void LongText(benchmark::State& state, EncoderShape shape) {
  ModelBuilder builder;
  const TinyEncoder e =
      BuildTinyEncoder(builder, DType::kI8, shape.layers, shape.width, shape.heads, shape.ffn, 1000, 4096,
                       {{Attribute::kPattern, 1},
                        {Attribute::kLeft, 128},
                        {Attribute::kRight, 128},
                        {Attribute::kProducts, static_cast<double>(state.range(0))}});
  const TestModel model(builder.Blob());
  const auto bind = [&](uint32_t rows) {
    auto session = std::make_unique<TestSession>(model, Options({{e.texts, 1, 0}, {e.tokens, rows, 0}}));
    session->SetSegments(e.tokens, {rows});
    session->SetInput(e.ids, RandomIds(rows, 1000, 1));
    return session;
  };
  const auto full = bind(4096), quarter = bind(1024);
  Compare(
      state, [&] { full->Run(); }, [&] { quarter->Run(); });
}

const bool registered = [] {
  for (const EncoderShape& shape : kShapes) {
    const std::string name = shape.name;
#if defined(FOVEA_WITH_XNNPACK)
    benchmark::RegisterBenchmark(("encoder/bare_gemm/" + name).c_str(), AgainstBareGemm, shape)
        ->ArgName("tile_rows")
        ->Arg(0)
        ->Arg(16)
        ->Arg(32)
        ->Arg(64)
        ->Arg(128)
        ->MinTime(3);
#endif
    benchmark::RegisterBenchmark(("encoder/workers_1_to_2/" + name).c_str(), Workers, shape)->MinTime(3);
    benchmark::RegisterBenchmark(("encoder/few_rows_1_to_2/" + name).c_str(), FewRows, shape)
        ->ArgName("rows")
        ->Arg(1)
        ->Arg(16)
        ->Arg(32)
        ->Arg(48)
        ->Arg(63)
        ->Arg(64)
        ->MinTime(1);
    benchmark::RegisterBenchmark(("encoder/padded_to_ragged/" + name).c_str(), RaggedAgainstPadded, shape)->MinTime(3);
    benchmark::RegisterBenchmark(("encoder/window_4096_to_1024/" + name).c_str(), LongText, shape)
        ->ArgName("products")
        ->DenseRange(0, 2)
        ->MinTime(3);
  }
  return true;
}();

}  // namespace
}  // namespace fovea::test
