// Series of numbers as tokens: each number, divided by the mean magnitude of the series, is the number of its bin
// (Chronos, Ansari et al., arXiv 2403.07815). The original: amazon-science/chronos-forecasting,
// src/chronos/chronos.py: MeanScaleUniformBins.
#ifndef FOVEA_TOOLS_GENERATE_SERIES_BINS_H_
#define FOVEA_TOOLS_GENERATE_SERIES_BINS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/model/model.h"

namespace fovea::tools {

struct SeriesTokens {
  std::vector<int32_t> ids;
  float scale = 1;     // the number of a bin is multiplied by it
  size_t dropped = 0;  // numbers before the longest context
};

// The bins of a model, from its metadata "series.*".
class SeriesBins {
 public:
  // Whether the model reads series.
  static bool Fits(const Model& model);
  // Fails if the model reads no series, or with the key and value of an entry that is not valid.
  explicit SeriesBins(const Model& model);
  // `special`: ids below it are no bins; `end`: the id after a series, -1: none.
  SeriesBins(double low, double high, uint32_t tokens, uint32_t special, uint32_t context, int32_t end);

  uint32_t context() const { return context_; }
  uint32_t steps() const { return steps_; }      // that the model was trained to continue a series by
  uint32_t samples() const { return samples_; }  // drawn continuations
  float temperature() const { return temperature_; }
  uint32_t top_k() const { return top_k_; }
  float top_p() const { return top_p_; }
  int32_t end() const { return end_; }

  // The tokens of a series; missing numbers (NaN) at its beginning are left out, and fails for later ones.
  SeriesTokens TokensOf(const std::vector<float>& series) const;
  // The number of a token's bin, before it is multiplied by the scale.
  float ValueOf(int32_t token) const;

 private:
  void Fill(double low, double high);

  std::vector<float> centers_, boundaries_;
  uint32_t tokens_ = 0, special_ = 0, context_ = 0, steps_ = 64, samples_ = 20, top_k_ = 50;
  float temperature_ = 1, top_p_ = 1;
  int32_t end_ = -1;
};

// Numbers separated by spaces, commas, semicolons or ends of lines; "nan" and "null" are missing ones. Fails with
// `name` and the word that is no number, or if there is none.
std::vector<float> ReadSeries(std::string_view text, const std::string& name);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SERIES_BINS_H_
