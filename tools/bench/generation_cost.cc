#include "tools/bench/generation_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "fovea/cache.h"
#include "tools/base/clock.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/generator.h"
#include "tools/measure/percentile.h"

namespace fovea::tools {
namespace {

double SecondsSince(uint64_t start) { return 1e-9 * static_cast<double>(NanosecondClock() - start); }

// Bytes of the weights that the program multiplies for `rows` rows, each tensor once; of experts (MoE), as many as the
// rows can select.
uint64_t WeightBytes(const Model& model, uint32_t program, uint32_t rows) {
  std::map<uint32_t, double> shares;  // share of each tensor that is read
  for (uint32_t step = 0; step < model.Program(program).step_count; ++step) {
    const fovea_step_info info = model.Step(program, step);
    uint32_t tensor = FOVEA_NONE;
    if (info.backend == nullptr) continue;
    if (fovea_program_get_step_tensor(model.get(), program, step, 0, &tensor) != FOVEA_OK) continue;
    const double weights = 1.0 * model.Tensor(tensor).rows * model.Tensor(tensor).width;
    double& share = shares[tensor];
    share = std::max(share, std::min(1.0, rows * info.flops_per_row / 2 / weights));
  }
  double bytes = 0;
  for (const auto& [tensor, share] : shares) bytes += share * static_cast<double>(model.Tensor(tensor).bytes);
  return static_cast<uint64_t>(bytes);
}

// Seconds to read `bytes` with `threads` threads; the best of several times.
double ReadSeconds(uint64_t bytes, uint32_t threads) {
  const std::vector<uint64_t> memory(bytes / sizeof(uint64_t) + 8, 1);
  std::vector<uint64_t> sums(threads);
  const auto read = [&](uint32_t t) {
    uint64_t sum[8] = {};
    for (size_t i = memory.size() * t / threads, end = memory.size() * (t + 1) / threads; i + 8 <= end; i += 8) {
      for (size_t k = 0; k < 8; ++k) sum[k] += memory[i + k];
    }
    sums[t] = std::accumulate(sum, sum + 8, uint64_t{0});
  };
  double best = 1e9;
  for (int turn = 0; turn < 7; ++turn) {
    const uint64_t start = NanosecondClock();
    std::vector<std::thread> others;
    for (uint32_t t = 1; t < threads; ++t) others.emplace_back(read, t);
    read(0);
    for (std::thread& thread : others) thread.join();
    best = std::min(best, SecondsSince(start));
  }
  const uint64_t sum = std::accumulate(sums.begin(), sums.end(), uint64_t{0});
  asm volatile("" : : "r"(sum));  // keeps the loop
  return best;
}

}  // namespace

OrderedJson MeasureGeneration(const Model& model, const GenerationShape& shape, const GenerationRequest& given) {
  GenerationRequest request = given;
  request.stops = false;
  request.max_tokens = shape.new_tokens;
  if (shape.beams > 1) {
    request.beams = Sized<fovea_beams>();
    request.beams->width = shape.beams;
    request.beams->length_penalty = 1;
  }
  const std::vector<uint32_t> lengths(shape.texts, shape.prompt_tokens);
  request.context = shape.prompt_tokens + shape.new_tokens;  // also beyond the length that the model was trained for
  const SessionRequest session_request = ContinueRequest(model, lengths, request);
  const Session decode(model, session_request);
  Generator generator(model, {&decode}, request, shape.texts);
  const uint32_t vocabulary =
      model
          .Value(session_request.program,
                 *model.FindValue(session_request.program, MetadataOr(model, "generate.scores", "")))
          .width;
  std::vector<int32_t> tokens(size_t{shape.texts} * shape.prompt_tokens);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * 2654435761u % vocabulary);
  double first = 0;
  std::vector<double> times;
  for (int turn = 0; turn < 2; ++turn) {
    times.clear();
    generator.Start();
    generator.SetPrompts(tokens, lengths);
    for (uint32_t left = 1; left > 0;) {
      const uint64_t start = NanosecondClock();
      left = generator.Next()->left;
      times.push_back(SecondsSince(start));
    }
    first = times[0];
    times.erase(times.begin());
  }
  if (times.empty()) times.push_back(first);
  fovea_cache_info cache = Sized<fovea_cache_info>();
  fovea_cache_get_info(decode.get(), &cache);
  const double all = std::accumulate(times.begin(), times.end(), 0.0), mean = all / static_cast<double>(times.size());
  // Bytes of the KV cache in the middle of the timed part.
  const uint64_t weights = WeightBytes(model, session_request.program, shape.texts * shape.beams);
  const uint64_t kept =
      uint64_t{shape.texts} * shape.beams * (shape.prompt_tokens + shape.new_tokens / 2) * cache.row_bytes;
  const double read = ReadSeconds(weights + kept, std::max(1u, request.workers));
  const auto rate = [](double count, double seconds) { return seconds == 0 ? 0 : count / seconds; };
  return {{"texts", shape.texts},
          {"beams", shape.beams},
          {"prompt_tokens", shape.prompt_tokens},
          {"new_tokens", shape.new_tokens},
          {"workers", request.workers},
          {"prefill_tokens_per_second", rate(static_cast<double>(tokens.size()), first)},
          {"first_token_ms", 1e3 * first},
          {"tokens_per_second", rate(shape.texts, mean)},
          {"token_ms",
           {{"p50", 1e3 * PercentileOf(times, 50)},
            {"p90", 1e3 * PercentileOf(times, 90)},
            {"p99", 1e3 * PercentileOf(times, 99)}}},
          {"bytes",
           {{"kept_per_token", cache.row_bytes},
            {"state", cache.bytes},
            {"weights_per_step", weights},
            {"kept_per_step", kept}}},
          {"gigabytes_per_second", rate(1e-9 * static_cast<double>(weights + kept), mean)},
          {"of_read_bandwidth", rate(read, mean)}};
}

std::string GenerationText(const OrderedJson& r) {
  const auto number = [&](const char* key) { return r[key].get<double>(); };
  const OrderedJson &ms = r["token_ms"], &bytes = r["bytes"];
  return fmt::format(
      "{} texts, prompts of {} tokens, {} new ones, {} workers\n"
      "prefill     {:.0f} tokens/s, first token after {:.2f} ms\n"
      "decode      {:.1f} tokens/s; a step p50 {:.3f}  p90 {:.3f}  p99 {:.3f} ms\n"
      "KV cache    {} bytes per token, {} in all\n"
      "a step      {:.1f} MB of weights, {:.1f} MB of KV cache: {:.2f} GB/s, {:.2f} of a plain read loop\n",
      r["texts"].get<uint32_t>(), r["prompt_tokens"].get<uint32_t>(), r["new_tokens"].get<uint32_t>(),
      r["workers"].get<uint32_t>(), number("prefill_tokens_per_second"), number("first_token_ms"),
      number("tokens_per_second"), ms["p50"].get<double>(), ms["p90"].get<double>(), ms["p99"].get<double>(),
      bytes["kept_per_token"].get<uint64_t>(), bytes["state"].get<uint64_t>(),
      1e-6 * bytes["weights_per_step"].get<double>(), 1e-6 * bytes["kept_per_step"].get<double>(),
      number("gigabytes_per_second"), number("of_read_bandwidth"));
}

}  // namespace fovea::tools
