// A decoder that keeps texts: a token at several lengths of what came before, and prompts, by one worker and by two.
// The bytes that a token needs (weights, kept rows) are set against a plain loop that reads as many, in the same run.
// Also in turns: four beams of a text and four texts, int4 and int8 weights.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <thread>
#include <tuple>

#include "fovea/cache.h"
#include "fovea/generate.h"
#include "ports/thread_runner.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

struct Shape {
  uint32_t layers, width, heads, kv_heads, ffn, vocabulary;
};
constexpr Shape kSmall = {5, 64, 8, 4, 172, 512}, kUsual = {12, 768, 12, 12, 2048, 32000};

using Clock = std::chrono::steady_clock;
double Seconds(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// As Llama: rms norms, rotary positions, gated feed-forward; the head is the table of embeddings.
struct Decoder {
  Decoder(const Shape& shape, DType weights, DType stored) {
    ModelBuilder& b = builder;
    texts = b.Space("texts");
    tokens = b.Space("tokens", texts);
    kept = b.CachedSpace("kept", tokens);
    const uint32_t head = shape.width / shape.heads, kv_width = shape.kv_heads * head;
    const auto tensor = [&](uint32_t rows, uint32_t width, DType type) {
      std::vector<float> values(size_t{rows} * width);
      for (float& value : values)
        value = (static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / (1 << 24) - 0.5f) * 0.2f;
      bytes += RowBytes(type, width) * rows;
      return b.Tensor(rows, width, values, type);
    };
    const uint32_t table = tensor(shape.vocabulary, shape.width, weights), turns = tensor(8192, head, DType::kF32);
    bytes -= size_t{8192} * head * sizeof(float);
    b.Input("ids", tokens, 1, DType::kI32);
    uint32_t x = b.Op("embed", {0}, {table}, tokens, shape.width);
    const auto linear = [&](uint32_t in, uint32_t from, uint32_t to) {
      return b.Op("linear", {in}, {tensor(to, from, weights), kBlobNone}, tokens, to);
    };
    const auto norm = [&](uint32_t in, uint32_t space) {
      return b.Op("norm", {in}, {b.Tensor(1, shape.width, std::vector<float>(shape.width, 1.0f))}, space, shape.width,
                  {{Attribute::kKind, 1}, {Attribute::kEpsilon, 1e-5}});
    };
    const auto turned = [&](uint32_t in, uint32_t heads) {
      return b.Op("rotate", {in}, {turns}, tokens, heads * head, {{Attribute::kHeads, heads}});
    };
    const auto appended = [&](uint32_t in) {
      return b.Op("append", {in}, {}, kept, kv_width,
                  {{Attribute::kType, static_cast<double>(stored)}, {Attribute::kHeads, shape.kv_heads}});
    };
    for (uint32_t i = 0; i < shape.layers; ++i) {
      const uint32_t n = norm(x, tokens);
      const uint32_t q = turned(linear(n, shape.width, shape.width), shape.heads);
      const uint32_t k = appended(turned(linear(n, shape.width, kv_width), shape.kv_heads));
      const uint32_t v = appended(linear(n, shape.width, kv_width));
      const uint32_t a =
          b.Op("attention", {q, k, v}, {}, tokens, shape.width,
               {{Attribute::kHeads, shape.heads}, {Attribute::kKvHeads, shape.kv_heads}, {Attribute::kCausal, 1}});
      x = b.Op("add", {x, linear(a, shape.width, shape.width)}, {}, tokens, shape.width);
      const uint32_t m = norm(x, tokens);
      const uint32_t gate = linear(m, shape.width, shape.ffn), up = linear(m, shape.width, shape.ffn);
      const uint32_t wide = b.Op("gate", {gate, up}, {}, tokens, shape.ffn,
                                 {{Attribute::kActivation, static_cast<double>(Activation::kSilu)}});
      x = b.Op("add", {x, linear(wide, shape.ffn, shape.width)}, {}, tokens, shape.width);
    }
    const uint32_t last = b.Op("pool", {norm(x, tokens)}, {}, texts, shape.width,
                               {{Attribute::kKind, static_cast<double>(PoolKind::kLast)}});
    b.Op("linear", {last}, {table, kBlobNone}, texts, shape.vocabulary, {}, "scores", ValueRole::kOutput);
    model = std::make_unique<TestModel>(b.Blob());
  }

  uint32_t state = 1;
  ModelBuilder builder;
  uint32_t texts, tokens, kept;
  size_t bytes = 0;  // weight bytes read per token
  std::unique_ptr<TestModel> model;
};

const Decoder& DecoderOf(const Shape& shape, DType weights, DType stored) {
  static std::map<std::tuple<uint32_t, DType, DType>, std::unique_ptr<Decoder>> made;
  auto& decoder = made[{shape.width, weights, stored}];
  if (decoder == nullptr) {
    made.clear();  // one at a time
    return *(made[{shape.width, weights, stored}] = std::make_unique<Decoder>(shape, weights, stored));
  }
  return *decoder;
}

struct Session {
  // `rows`: of each text.
  Session(const Decoder& d, uint32_t new_rows, uint32_t rows, uint32_t workers, uint32_t texts = 1)
      : decoder(d), threads(workers) {
    const std::vector<fovea_limit> limits = {
        {d.texts, texts, 0}, {d.tokens, new_rows, 0}, {d.kept, texts * rows, rows}};
    fovea_session_options options = Options(limits, workers);
    options.runner = ports::ThreadRunner::Run;
    options.runner_context = &threads;
    if (workers > 1) options.barrier = ports::ThreadRunner::Barrier;
    session = std::make_unique<TestSession>(*d.model, options);
  }
  void Take(uint32_t rows) {
    session->SetSegments(decoder.tokens, {rows});
    fovea_view view = {};
    fovea_session_get_input(session->session, 0, &view, nullptr);
    for (uint32_t i = 0; i < rows; ++i) static_cast<int32_t*>(view.data)[i] = static_cast<int32_t>(i * 7 % 500);
    session->Run();
  }
  const Decoder& decoder;
  ports::ThreadRunner threads;
  std::unique_ptr<TestSession> session;
};

// Reads bytes with as many threads: what memory gives.
double ReadSeconds(const std::vector<uint64_t>& memory, uint32_t threads) {
  const auto start = Clock::now();
  std::vector<std::thread> all;
  std::vector<uint64_t> sums(threads * 16);
  const auto read = [&](uint32_t t) {
    const size_t begin = memory.size() * t / threads, end = memory.size() * (t + 1) / threads;
    uint64_t sum[8] = {};
    for (size_t i = begin; i + 8 <= end; i += 8) {
      for (size_t k = 0; k < 8; ++k) sum[k] += memory[i + k];
    }
    sums[t * 16] = std::accumulate(sum, sum + 8, uint64_t{0});
  };
  for (uint32_t t = 1; t < threads; ++t) all.emplace_back(read, t);
  read(0);
  for (std::thread& t : all) t.join();
  benchmark::DoNotOptimize(sums.data());
  return Seconds(start);
}

// Writes as many texts, or beams of one text, as the session has.
struct Writer {
  Writer(Session& session, uint32_t context, uint32_t steps, uint32_t texts, uint32_t width)
      : prompts(size_t{texts} * context), lengths(texts, context) {
    for (size_t i = 0; i < prompts.size(); ++i) prompts[i] = static_cast<int32_t>(i * 2654435761u % 500);
    fovea_beams beams = Sized<fovea_beams>();
    beams.width = width;
    beams.length_penalty = 1;
    fovea_generate_options options = Sized<fovea_generate_options>();
    options.decode = session.session->session;
    options.token = "ids";
    options.scores = "scores";
    options.max_tokens = steps;
    if (width > 1) options.beams = &beams;
    uint64_t needed = 0;
    fovea_error error = {};
    EXPECT_EQ(fovea_generate_size(&options, &needed, &error), FOVEA_OK) << error.text;
    memory = AlignedBytes(needed);
    EXPECT_EQ(fovea_generate_init(&options, memory.data(), needed, &generator, &error), FOVEA_OK) << error.text;
    EXPECT_EQ(fovea_generate_start(generator, &error), FOVEA_OK) << error.text;
    EXPECT_EQ(fovea_generate_set_prompts(generator, prompts.data(), lengths.data(), texts, 0, &error), FOVEA_OK)
        << error.text;
    Step();
  }
  double Step() {
    fovea_generated step = Sized<fovea_generated>();
    fovea_error error = {};
    const auto start = Clock::now();
    EXPECT_EQ(fovea_generate_next(generator, nullptr, &step, &error), FOVEA_OK) << error.text;
    return Seconds(start);
  }
  std::vector<int32_t> prompts;
  std::vector<uint32_t> lengths;
  AlignedBytes memory;
  fovea_generator* generator = nullptr;
};

double Fastest(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

double Median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// One token after `context` earlier tokens. read_ratio: share of the read rate of a plain loop.
void Token(benchmark::State& state, Shape shape, DType weights, DType stored) {
  const Decoder& d = DecoderOf(shape, weights, stored);
  const auto workers = static_cast<uint32_t>(state.range(0)), context = static_cast<uint32_t>(state.range(1));
  Session s(d, 512, context + 64, workers);
  for (uint32_t at = 0; at < context; at += 512) s.Take(std::min(512u, context - at));
  fovea_cache_info info = Sized<fovea_cache_info>();
  fovea_cache_get_info(s.session->session, &info);
  const size_t bytes = d.bytes + context * info.row_bytes;
  const std::vector<uint64_t> memory(bytes / 8, 1);
  std::vector<double> times, reads;
  for (auto _ : state) {
    fovea_cache_rewind(s.session->session, 0, context, nullptr);
    const auto start = Clock::now();
    s.Take(1);
    times.push_back(Seconds(start));
    reads.push_back(ReadSeconds(memory, workers));
  }
  const double median = Median(times);
  state.counters["us"] = median * 1e6;
  state.counters["fastest_us"] = Fastest(times) * 1e6;
  state.counters["fastest_read_ratio"] = Fastest(reads) / Fastest(times);
  state.counters["tokens/s"] = 1 / median;
  state.counters["MB"] = static_cast<double>(bytes) * 1e-6;
  state.counters["GB/s"] = static_cast<double>(bytes) * 1e-9 / median;
  state.counters["read_ratio"] = Median(reads) / median;
}

void Prompt(benchmark::State& state, Shape shape, DType weights, DType stored) {
  const Decoder& d = DecoderOf(shape, weights, stored);
  const auto workers = static_cast<uint32_t>(state.range(0)), rows = static_cast<uint32_t>(state.range(1));
  Session s(d, rows, rows, workers);
  std::vector<double> times;
  for (auto _ : state) {
    fovea_cache_rewind(s.session->session, 0, 0, nullptr);
    const auto start = Clock::now();
    s.Take(rows);
    times.push_back(Seconds(start));
  }
  state.counters["ms"] = Median(times) * 1e3;
  state.counters["fastest_ms"] = Fastest(times) * 1e3;
  state.counters["tokens/s"] = rows / Median(times);
}

// Four beams of a text and four texts, a step of each in turns.
void Beams(benchmark::State& state, Shape shape, DType weights, DType stored) {
  constexpr uint32_t kTexts = 4, kSteps = 64;
  const Decoder& d = DecoderOf(shape, weights, stored);
  const auto context = static_cast<uint32_t>(state.range(0));
  Session of_texts(d, 512, context + kSteps, 1, kTexts), of_beams(d, 512, context + kSteps, 1, kTexts);
  Writer texts(of_texts, context, kSteps, kTexts, 1), beams(of_beams, context, kSteps, 1, kTexts);
  std::vector<double> with_texts, with_beams;
  for (auto _ : state) {
    with_texts.push_back(texts.Step());
    with_beams.push_back(beams.Step());
  }
  state.counters["texts_ms"] = Fastest(with_texts) * 1e3;
  state.counters["beams_ms"] = Fastest(with_beams) * 1e3;
  state.counters["fastest"] = Fastest(with_beams) / Fastest(with_texts);
  state.counters["medians"] = Median(with_beams) / Median(with_texts);
}

// A token with int8 weights and one with int4 weights, in turns.
void Int4(benchmark::State& state, Shape shape, DType stored) {
  const Decoder eight(shape, DType::kI8, stored), four(shape, DType::kI4, stored);
  const auto workers = static_cast<uint32_t>(state.range(0));
  Session of_eight(eight, 1, 64, workers), of_four(four, 1, 64, workers);
  std::vector<double> with_eight, with_four;
  for (auto _ : state) {
    for (auto [session, times] : {std::pair(&of_eight, &with_eight), {&of_four, &with_four}}) {
      fovea_cache_rewind(session->session->session, 0, 0, nullptr);
      const auto start = Clock::now();
      session->Take(1);
      times->push_back(Seconds(start));
    }
  }
  state.counters["int8_ms"] = Fastest(with_eight) * 1e3;
  state.counters["int4_ms"] = Fastest(with_four) * 1e3;
  state.counters["fastest"] = Fastest(with_eight) / Fastest(with_four);
  state.counters["medians"] = Median(with_eight) / Median(with_four);
}

#define FOVEA_SHAPES(name, shape, weights, stored)                      \
  BENCHMARK_CAPTURE(Token, name, shape, DType::weights, DType::stored)  \
      ->ArgNames({"workers", "context"})                                \
      ->ArgsProduct({{1, 2}, {0, 512, 1024, 4096}})                     \
      ->Iterations(20);                                                 \
  BENCHMARK_CAPTURE(Prompt, name, shape, DType::weights, DType::stored) \
      ->ArgNames({"workers", "rows"})                                   \
      ->ArgsProduct({{1, 2}, {3, 5, 7, 512}})                           \
      ->Iterations(5)
BENCHMARK_CAPTURE(Beams, 12x768_int8_f16, kUsual, DType::kI8, DType::kF16)
    ->ArgName("context")
    ->Arg(16)
    ->Arg(512)
    ->Iterations(40);
BENCHMARK_CAPTURE(Int4, 12x768_f16, kUsual, DType::kF16)->ArgName("workers")->Arg(1)->Arg(2)->Iterations(40);
FOVEA_SHAPES(12x768_int8_f16, kUsual, kI8, kF16);
FOVEA_SHAPES(12x768_int4_f16, kUsual, kI4, kF16);
FOVEA_SHAPES(12x768_int8_int8, kUsual, kI8, kI8);
FOVEA_SHAPES(5x64_f32_f32, kSmall, kF32, kF32);

}  // namespace
}  // namespace fovea::test
