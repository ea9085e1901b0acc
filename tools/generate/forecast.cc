#include "tools/generate/forecast.h"

#include <algorithm>
#include <cmath>

#include "tools/generate/generation.h"
#include "tools/model/interrupt.h"

namespace fovea::tools {

std::vector<float> SortedStep(const Forecast& forecast, size_t step) {
  std::vector<float> values;
  for (const std::vector<float>& sample : forecast.samples) values.push_back(sample[step]);
  std::sort(values.begin(), values.end());
  return values;
}

float QuantileOf(const std::vector<float>& sorted, double quantile) {
  const double place = quantile * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = place - static_cast<double>(below), low = static_cast<double>(sorted[below]);
  return static_cast<float>(low + part * (static_cast<double>(sorted[below + 1]) - low));
}

Forecast ForecastSeries(const Model& model, const SeriesBins& bins, std::vector<float> series,
                        const ForecastRequest& request) {
  const uint32_t steps = request.steps != 0 ? request.steps : bins.steps();
  const uint32_t samples = request.samples != 0 ? request.samples : bins.samples();
  GenerationRequest generation;
  generation.workers = request.workers;
  generation.stops = false;
  if (bins.end() >= 0) generation.rules.forbid = {{bins.end()}};
  generation.sampling.temperature = request.temperature;
  generation.sampling.top_k = request.top_k;
  generation.sampling.top_p = request.top_p;
  generation.sampling.seed = request.seed;
  Forecast forecast;
  forecast.samples.resize(samples);
  for (uint32_t made = 0; made < steps && !Interrupt::Happened(); made += bins.steps()) {
    const SeriesTokens tokens = bins.TokensOf(series);
    if (made == 0) forecast.dropped = tokens.dropped;
    generation.max_tokens = std::min(bins.steps(), steps - made);
    const std::vector<Generation> drawn =
        Generate(model, std::vector<std::vector<int32_t>>(samples, tokens.ids), generation);
    generation.number += samples;
    size_t shortest = generation.max_tokens;  // after an interrupt
    for (const Generation& one : drawn) shortest = std::min(shortest, one.tokens.size());
    for (uint32_t i = 0; i < samples; ++i) {
      for (size_t step = 0; step < shortest; ++step) {
        forecast.samples[i].push_back(bins.ValueOf(drawn[i].tokens[step]) * tokens.scale);
      }
    }
    for (size_t step = 0; step < shortest; ++step) {
      series.push_back(QuantileOf(SortedStep(forecast, made + step), 0.5));
    }
  }
  return forecast;
}

}  // namespace fovea::tools
