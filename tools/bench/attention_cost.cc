#include "tools/bench/attention_cost.h"

#include <fmt/format.h>
#include <math.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "ports/thread_runner.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/op_codes.h"
#include "tools/base/clock.h"
#include "tools/blob/blob.h"
#include "tools/model/library_error.h"
#include "tools/model/session.h"

namespace fovea::tools {
namespace {

std::vector<float> RandomFloats(size_t count) {
  std::vector<float> values(count);
  std::minstd_rand random(7);
  for (float& value : values) value = static_cast<float>(random()) / 2147483648.0f - 0.5f;
  return values;
}

// Seconds of the fastest run after a warm-up run, which counts only if it used up the time.
double FastestRun(double seconds, const std::function<void()>& run) {
  double fastest = HUGE_VAL, all = 0;
  for (int i = 0; i < 2 || all < seconds; ++i) {
    const uint64_t start = NanosecondClock();
    run();
    const double took = 1e-9 * static_cast<double>(NanosecondClock() - start);
    all += took;
    if (i > 0 || took > seconds) fastest = std::min(fastest, took);
    if (i == 0 && took > seconds && seconds > 0) break;
  }
  return fastest;
}

void MakeWindow(uint32_t width, uint32_t dilation, CostKeys* keys) {
  fovea_attention_pattern& p = keys->pattern;
  p.window = FOVEA_WINDOW_SIDES;
  p.left = width / 2 * dilation;
  p.right = (width - 1 - width / 2) * dilation;
  p.dilation = dilation;
}

CostPattern WindowPattern(uint32_t width, uint32_t dilation) {
  const std::string name =
      dilation == 1 ? fmt::format("window {}", width) : fmt::format("window {} x {}", width, dilation);
  return {name, "O(n w d)", 1, 4 * width * dilation,
          [=](uint32_t, uint32_t, CostKeys* keys) { MakeWindow(width, dilation, keys); }};
}

CostPattern BlockPattern(uint32_t block) {
  return {fmt::format("block {}", block), "O(n w d)", 1, 4 * block, [=](uint32_t, uint32_t, CostKeys* keys) {
            keys->pattern.window = FOVEA_WINDOW_SIDES;
            keys->pattern.block = block;
          }};
}

// A sliding window, global keys that all rows see, and first rows that also see all keys.
CostPattern GlobalPattern(uint32_t width, uint32_t global_keys, uint32_t first) {
  return {fmt::format("window {} + {} global", width, global_keys + first), "O(n (w + g) d)", 1, 4 * width,
          [=](uint32_t n, uint32_t, CostKeys* keys) {
            MakeWindow(width, 1, keys);
            keys->pattern.global_first = first;
            for (uint32_t i = 0; i < global_keys; ++i) {
              keys->global_keys.push_back(first + (n - first) / global_keys * i);
            }
            keys->pattern.global_keys = keys->global_keys.data();
            keys->pattern.global_key_count = global_keys;
          }};
}

CostPattern TopKPattern(uint32_t keep) {
  return {fmt::format("top-k {}", keep), "O(n^2 d)", 2, 4 * keep,
          [=](uint32_t, uint32_t, CostKeys* keys) { keys->pattern.top_k = keep; }};
}

// A bias for each query-key pair, shared by all heads: it costs reads, and memory of n^2.
CostPattern PairBiasPattern() {
  return {"full, pair bias",
          "O(n^2 d)",
          2,
          0,
          [](uint32_t n, uint32_t, CostKeys* keys) { keys->pair_bias = RandomFloats(size_t{n} * n); },
          8192};
}

// Random permutations: the pattern left by sorting into buckets, without the time of sorting.
CostPattern ClusteredPattern(uint32_t rounds, uint32_t chunk) {
  return {fmt::format("clusters {} x {}", rounds, chunk), "O(n r c d)", 1, 4 * rounds * chunk,
          [=](uint32_t n, uint32_t heads, CostKeys* keys) {
            const size_t columns = size_t{heads} * rounds;
            keys->order.resize(n * columns);
            keys->rank.resize(n * columns);
            std::minstd_rand random(5);
            std::vector<int32_t> rows(n);
            std::iota(rows.begin(), rows.end(), 0);
            for (size_t column = 0; column < columns; ++column) {
              std::shuffle(rows.begin(), rows.end(), random);
              for (uint32_t place = 0; place < n; ++place) {
                keys->order[place * columns + column] = rows[place];
                keys->rank[static_cast<size_t>(rows[place]) * columns + column] = static_cast<int32_t>(place);
              }
            }
            keys->pattern.rounds = rounds;
            keys->pattern.chunk = chunk;
            keys->pattern.chunks_before = 1;
            keys->pattern.order = keys->order.data();
            keys->pattern.rank = keys->rank.data();
          }};
}

std::unique_ptr<ports::ThreadRunner> Threads(uint32_t workers) {
  return workers > 1 ? std::make_unique<ports::ThreadRunner>(workers) : nullptr;
}

CostPoint MeasurePattern(const CostRequest& request, const CostPattern& pattern, uint32_t n, uint32_t heads) {
  CostKeys keys;
  keys.pattern.struct_size = sizeof(keys.pattern);
  pattern.make(n, heads, &keys);
  const size_t width = size_t{heads} * request.head_size;
  const std::vector<float> q = RandomFloats(n * width), k = RandomFloats(n * width), v = RandomFloats(n * width);
  std::vector<float> out(n * width);
  const auto threads = Threads(request.workers);
  fovea_attention_score score = {};
  score.struct_size = sizeof(score);
  score.products = request.products;
  if (!keys.pair_bias.empty()) {
    score.pair_bias = {keys.pair_bias.data(), FOVEA_TYPE_F32, n, n * sizeof(float), 0, 0};
  }
  fovea_attention_options options = {};
  options.struct_size = sizeof(options);
  options.heads = heads;
  options.d_k = request.head_size;
  options.pattern = &keys.pattern;
  options.workers = request.workers;
  options.score = &score;
  if (keys.pattern.rounds > 0) options.tile_rows = std::min(n, 1u << 20);
  if (threads != nullptr) {
    options.runner = &ports::ThreadRunner::Run;
    options.runner_context = threads.get();
  }
  fovea_error error = {};
  uint64_t bytes = 0;
  Check(fovea_attention_scratch_size(&options, &bytes, &error), error, pattern.name);
  const Memory scratch = Allocate(bytes);
  const auto rows = [&](const std::vector<float>& from) {
    fovea_attention_rows view = {};
    view.data = from.data();
    view.rows = n;
    return view;
  };
  const fovea_attention_rows q_rows = rows(q), k_rows = rows(k), v_rows = rows(v);
  const fovea_attention_out out_rows = {out.data(), n, 0, 0, 0};
  const double seconds = FastestRun(request.seconds, [&] {
    Check(fovea_attention_run(&options, &q_rows, &k_rows, &v_rows, &out_rows, scratch.get(), bytes, &error), error,
          pattern.name);
  });
  const size_t tables = 4 * (keys.global_keys.size() + keys.order.size() + keys.rank.size() + keys.pair_bias.size());
  uint64_t pairs = 0;
  Check(fovea_attention_pairs(&options, n, n, &pairs, &error), error, pattern.name);
  const double seen = static_cast<double>(pairs) / heads;
  const double weighted = keys.pattern.top_k == 0 ? seen : std::min(seen, 1.0 * n * keys.pattern.top_k);
  return {static_cast<double>(n), seconds, bytes + tables + 4 * n * width * sizeof(float), seen / n,
          2.0 * (seen + weighted) * static_cast<double>(width)};
}

AttributeRecord AttributeOf(Attribute key, uint32_t value) { return {static_cast<uint32_t>(key), value}; }

// A layer to compare attention with: rows of `width` in and out, in one space.
struct CostLayer {
  BlobContent content;  // inputs: x
  double rows_seen;     // rows read for each row
  double flops_per_row;
};

uint32_t AddWeight(BlobContent* content, uint32_t rows, uint32_t width) {
  BlobTensor weight = {"weight " + std::to_string(content->tensors.size()), DType::kF32, rows, width, {}, {}};
  std::vector<float> values = RandomFloats(size_t{rows} * width);
  for (float& value : values) value /= sqrtf(static_cast<float>(width));
  weight.data.resize(values.size() * sizeof(float));
  memcpy(weight.data.data(), values.data(), weight.data.size());
  content->tensors.push_back(weight);
  return static_cast<uint32_t>(content->tensors.size() - 1);
}

// Values x, an intermediate one of width `wide`, and y.
CostLayer LayerOf(uint32_t width, uint32_t wide) {
  CostLayer layer = {};
  layer.content.spaces.push_back({"rows", kBlobNone, SpaceKind::kInput, kBlobNone, 0});
  BlobProgram program = {"main", {}, {}};
  program.values = {{"x", 0, width, DType::kF32, ValueRole::kInput},
                    {"wide", 0, wide, DType::kF32, ValueRole::kInternal},
                    {"y", 0, width, DType::kF32, ValueRole::kOutput}};
  layer.content.programs.push_back(program);
  return layer;
}

// A convolution over neighbouring rows, with a linear layer of equal input and output width.
CostLayer Convolution(uint32_t taps, uint32_t width) {
  CostLayer layer = LayerOf(width, taps * width);
  layer.rows_seen = taps;
  layer.flops_per_row = 2.0 * taps * width * width;
  const uint32_t weight = AddWeight(&layer.content, width, taps * width);
  layer.content.programs[0].operations = {
      {static_cast<uint32_t>(OpCode::kUnfold),
       "unfold",
       1,
       {0},
       {},
       {AttributeOf(Attribute::kBefore, taps / 2), AttributeOf(Attribute::kAfter, taps - 1 - taps / 2)}},
      {static_cast<uint32_t>(OpCode::kLinear), "linear", 2, {1}, {weight, kBlobNone}, {}}};
  return layer;
}

// The input part of all gates, and the recurrent layer, which runs row by row.
CostLayer RecurrentLayer(uint32_t cell, uint32_t width) {
  const uint32_t gates = (cell == 0 ? 3 : 4) * width;
  CostLayer layer = LayerOf(width, gates);
  layer.rows_seen = 1;
  layer.flops_per_row = 4.0 * gates * width;
  const uint32_t of_input = AddWeight(&layer.content, gates, width), of_state = AddWeight(&layer.content, gates, width);
  layer.content.programs[0].operations = {
      {static_cast<uint32_t>(OpCode::kLinear), "linear", 1, {0}, {of_input, kBlobNone}, {}},
      {static_cast<uint32_t>(OpCode::kRecurrent),
       "recurrent",
       2,
       {1},
       {of_state, kBlobNone},
       {AttributeOf(Attribute::kCell, cell)}}};
  return layer;
}

CostPoint MeasureLayer(const CostRequest& request, const CostLayer& layer, uint32_t n, double at) {
  const std::vector<uint8_t> bytes = WriteBlob(layer.content);
  const Memory blob = Allocate(bytes.size());
  memcpy(blob.get(), bytes.data(), bytes.size());
  const Model model(blob.get(), bytes.size(), "layer", {});
  SessionRequest wanted;
  wanted.workers = request.workers;
  wanted.limits = {{0, n, 0}};
  Session session(model, wanted);
  session.SetSegments(0, {n});
  session.SetInput(0, RandomFloats(size_t{n} * layer.content.programs[0].values[0].width));
  const double seconds = FastestRun(request.seconds, [&] { session.Run(); });
  uint64_t weights = 0;
  for (const BlobTensor& tensor : layer.content.tensors) weights += tensor.data.size();
  return {at, seconds, session.sizes().fixed_size + session.sizes().scratch_size + weights, layer.rows_seen,
          layer.flops_per_row * n};
}

// A layer constructor with the words of its series.
struct NamedLayer {
  std::string name, law;
  std::function<CostLayer(uint32_t width)> make;
};
std::vector<NamedLayer> Layers() {
  constexpr uint32_t kTaps = 3;
  return {{fmt::format("convolution {}", kTaps), "O(k n d^2)", [](uint32_t d) { return Convolution(kTaps, d); }},
          {"gru", "O(n d^2)", [](uint32_t d) { return RecurrentLayer(0, d); }},
          {"lstm", "O(n d^2)", [](uint32_t d) { return RecurrentLayer(1, d); }}};
}

}  // namespace

std::vector<CostPattern> CostPatterns() {
  return {{"full", "O(n^2 d)", 2, 0, [](uint32_t, uint32_t, CostKeys*) {}},
          PairBiasPattern(),
          WindowPattern(64, 1),
          WindowPattern(128, 1),
          WindowPattern(256, 1),
          WindowPattern(512, 1),
          WindowPattern(128, 4),
          BlockPattern(128),
          GlobalPattern(128, 14, 2),
          TopKPattern(32),
          ClusteredPattern(2, 64)};
}

double FitExponent(const std::vector<CostPoint>& points, double from) {
  double count = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const CostPoint& point : points) {
    if (point.at < from) continue;
    const double a = log(point.at), b = log(point.seconds);
    count += 1, x += a, y += b, xx += a * a, xy += a * b;
  }
  return count < 2 ? 0 : (count * xy - x * y) / (count * xx - x * x);
}

std::vector<CostSeries> MeasureAttentionCost(const CostRequest& request,
                                             const std::function<void(const std::string&)>& progress) {
  std::vector<CostSeries> all;
  const uint32_t width = request.heads * request.head_size;
  const auto add = [&](CostSeries series) {
    series.fitted = FitExponent(series.points, series.fitted_from);
    all.push_back(std::move(series));
  };
  CostSeries windows = {"window", "O(n w d)", "w", request.max_n, 1, 0, 0, {}};
  for (const CostPattern& pattern : CostPatterns()) {
    CostSeries series = {pattern.name, pattern.law, "n", 0, pattern.predicted, 0, double(pattern.narrow_from), {}};
    for (uint64_t n = 128; n <= std::min(request.max_n, pattern.most_rows); n *= 2) {
      progress(fmt::format("{}, {} rows", pattern.name, n));
      series.points.push_back(MeasurePattern(request, pattern, static_cast<uint32_t>(n), request.heads));
    }
    for (const uint32_t w : {64, 128, 256, 512}) {
      if (pattern.name != fmt::format("window {}", w) || 2 * w > request.max_n) continue;
      windows.points.push_back(series.points.back());
      windows.points.back().at = w;
      windows.rows = static_cast<uint32_t>(series.points.back().at);
    }
    add(std::move(series));
  }
  for (const NamedLayer& layer : Layers()) {
    CostSeries series = {layer.name, layer.law, "n", 0, 1, 0, 0, {}};
    for (uint64_t n = 128; n <= request.max_n; n *= 2) {
      progress(fmt::format("{}, {} rows", layer.name, n));
      series.points.push_back(
          MeasureLayer(request, layer.make(width), static_cast<uint32_t>(n), static_cast<double>(n)));
    }
    add(std::move(series));
  }
  add(std::move(windows));

  const uint32_t rows = std::min(request.max_n, 1024u);
  CostSeries full_d = {"full", "O(n^2 d)", "d", rows, 1, 0, 0, {}};
  const auto for_widths = [&](const std::function<void(uint32_t heads, uint32_t d)>& measure) {
    for (const uint32_t heads : {1, 2, 4, 8}) {
      progress(fmt::format("width {}", heads * request.head_size));
      measure(heads, heads * request.head_size);
    }
  };
  for_widths([&](uint32_t heads, uint32_t d) {
    full_d.points.push_back(MeasurePattern(request, CostPatterns()[0], rows, heads));
    full_d.points.back().at = d;
  });
  add(std::move(full_d));
  for (const NamedLayer& layer : Layers()) {
    CostSeries series = {layer.name, layer.law, "d", rows, 2, 0, 0, {}};
    for_widths([&](uint32_t, uint32_t d) { series.points.push_back(MeasureLayer(request, layer.make(d), rows, d)); });
    add(std::move(series));
  }
  CostSeries convolution_k = {"convolution", "O(k n d^2)", "k", rows, 1, 0, 0, {}};
  for (const uint32_t taps : {3, 5, 9, 17}) {
    progress(fmt::format("convolution over {} rows", taps));
    convolution_k.points.push_back(MeasureLayer(request, Convolution(taps, width), rows, taps));
  }
  add(std::move(convolution_k));
  return all;
}

}  // namespace fovea::tools
