// Continues series of numbers with an encoder and a decoder of tokens.
#ifndef FOVEA_TOOLS_GENERATE_FORECAST_H_
#define FOVEA_TOOLS_GENERATE_FORECAST_H_

#include <cstdint>
#include <vector>

#include "tools/generate/series_bins.h"
#include "tools/model/model.h"

namespace fovea::tools {

struct ForecastRequest {
  uint32_t steps = 0;    // 0: as the model was trained
  uint32_t samples = 0;  // continuations to draw; 0: as the model specifies
  float temperature = 1;
  uint32_t top_k = 0;
  float top_p = 1;
  uint64_t seed = 0;
  uint32_t workers = 1;
};

struct Forecast {
  std::vector<std::vector<float>> samples;  // [samples][steps]
  size_t dropped = 0;                       // numbers of the series before the longest context
};

// Draws continuations. For more steps than the model was trained for, the median of what was drawn continues the series
// and the model runs again, as in the original. After an interrupt there are fewer steps.
Forecast ForecastSeries(const Model& model, const SeriesBins& bins, std::vector<float> series,
                        const ForecastRequest& request);

// The numbers of all samples at a step, sorted.
std::vector<float> SortedStep(const Forecast& forecast, size_t step);

// Between the two nearest of sorted values where no value is exactly at that place (as numpy and torch by default).
float QuantileOf(const std::vector<float>& sorted, double quantile);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_FORECAST_H_
