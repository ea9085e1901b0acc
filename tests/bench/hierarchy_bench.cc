// Savings of selection and cost of levels: an encoder of words and sentences over documents of growing length, and an
// encoder behind a predictor that keeps one row in ten, against all rows and against the predictor alone.
#include <benchmark/benchmark.h>

#include "runtime/blob/attributes.h"
#include "tests/support/two_levels.h"

namespace fovea::test {
namespace {

constexpr EncoderSize kSize = {128, 4, 512};

uint64_t SessionBytes(const TestSession& session) { return session.memory.fixed_size + session.memory.scratch_size; }

// A document of the given number of sentences of 32 words.
void TwoLevelsOfWords(benchmark::State& state) {
  const auto sentences = static_cast<uint32_t>(state.range(0)), words = sentences * 32;
  ModelBuilder b;
  const TwoLevels t = BuildTwoLevels(b, DType::kI8, kSize);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{t.documents, 1, 0}, {t.sentences, sentences, 0}, {t.tokens, words, 32}};
  TestSession session(model, Options(limits));
  session.SetSegments(t.sentences, {sentences});
  session.SetSegments(t.tokens, Lengths(sentences, 32));
  session.SetInput(t.ids, RandomIds(words, 1000, 1));
  for (auto _ : state) session.Run();
  state.counters["words_per_s"] = benchmark::Counter(words, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes"] = static_cast<double>(SessionBytes(session));
  state.counters["bytes_per_word"] = static_cast<double>(SessionBytes(session)) / words;
}

enum Depth : int64_t { kPredictor, kKept, kAll };

// 8192 rows: relevance by a narrow MLP; four layers over the tenth that it keeps, or over all.
void KeepOneRowInTen(benchmark::State& state) {
  const uint32_t rows = 8192, kept = 819;
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts);
  const uint32_t some = b.SelectedSpace("some", tokens, kept), x = b.Input("x", tokens, kSize.width);
  const uint32_t middle =
      b.Op("linear", {x}, {b.RandomTensor(32, kSize.width, DType::kI8)}, tokens, 32, {{Attribute::kActivation, 1}});
  const uint32_t relevance = b.Op("linear", {middle}, {b.RandomTensor(1, 32)}, tokens, 1);
  uint32_t space = tokens, y = x;
  if (state.range(0) != kAll) {
    const uint32_t chosen = b.Op("select", {relevance}, {}, some, 1, {{Attribute::kKind, 2}});
    y = b.Op("gather", {x, chosen}, {}, some, kSize.width);
    space = some;
  } else {
    b.SetOutput(relevance);
  }
  for (uint32_t layer = 0; layer < 4 && state.range(0) != kPredictor; ++layer) {
    y = EncoderLayer(b, y, space, DType::kI8, kSize);
  }
  b.SetOutput(b.Op("pool", {y}, {}, texts, kSize.width, {{Attribute::kKind, 2}}));
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{texts, 1, 0}, {tokens, rows, 0}};
  TestSession session(model, Options(limits));
  session.SetSegments(tokens, {rows});
  session.SetInput(x, b.RandomFloats(size_t{rows} * kSize.width));
  for (auto _ : state) session.Run();
  state.counters["bytes"] = static_cast<double>(SessionBytes(session));
}

BENCHMARK(TwoLevelsOfWords)->RangeMultiplier(2)->Range(32, 512)->Unit(benchmark::kMillisecond);
BENCHMARK(KeepOneRowInTen)->ArgName("depth")->Arg(kPredictor)->Arg(kKept)->Arg(kAll)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fovea::test
