#include "tools/generate/series_bins.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>

#include "tools/base/fail.h"
#include "tools/generate/defaults.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kMostTokens = 1 << 20, kMostContext = 1 << 20;
constexpr float kOutermost = 1e20f;  // as in the original

}  // namespace

bool SeriesBins::Fits(const Model& model) { return !MetadataOr(model, "series.tokens", "").empty(); }

SeriesBins::SeriesBins(const Model& model) {
  if (!Fits(model)) {
    Fail("{}: reads no series of numbers; fovea forecast is for models that do (chronos-t5)", model.name());
  }
  tokens_ = MetadataNumber(model, "series.tokens", {4, kMostTokens});
  special_ = MetadataNumber(model, "series.special_tokens", {0, tokens_ - 3});
  context_ = MetadataNumber(model, "series.context", {1, kMostContext});
  steps_ = MetadataNumber(model, "series.steps", {1, kMostContext}, 64);
  samples_ = MetadataNumber(model, "series.samples", {1, 1 << 16}, 20);
  temperature_ = static_cast<float>(MetadataReal(model, "series.temperature", {0, 1e6}, 1));
  top_k_ = MetadataNumber(model, "series.top_k", {0, kMostTokens}, 50);
  top_p_ = static_cast<float>(MetadataReal(model, "series.top_p", {0, 1}, 1));
  end_ = static_cast<int32_t>(MetadataReal(model, "series.end", {-1, static_cast<double>(tokens_ - 1)}, -1));
  Fill(MetadataReal(model, "series.low", {-1e6, 1e6}), MetadataReal(model, "series.high", {-1e6, 1e6}));
}

SeriesBins::SeriesBins(double low, double high, uint32_t tokens, uint32_t special, uint32_t context, int32_t end)
    : tokens_(tokens), special_(special), context_(context), end_(end) {
  Fill(low, high);
}

// Centers at equal distances, as torch.linspace has them: from both ends, in f32.
void SeriesBins::Fill(double low, double high) {
  const uint32_t count = tokens_ - special_ - 1;
  const auto first = static_cast<float>(low), last = static_cast<float>(high);
  const float step = (last - first) / static_cast<float>(count - 1);
  for (uint32_t i = 0; i < count; ++i) {
    centers_.push_back(i < count / 2 ? first + step * static_cast<float>(i)
                                     : last - step * static_cast<float>(count - 1 - i));
  }
  boundaries_.push_back(-kOutermost);
  for (uint32_t i = 0; i + 1 < count; ++i) boundaries_.push_back((centers_[i + 1] + centers_[i]) / 2);
  boundaries_.push_back(kOutermost);
}

SeriesTokens SeriesBins::TokensOf(const std::vector<float>& series) const {
  const auto missing = [](float value) { return std::isnan(value); };
  auto first = std::find_if_not(series.begin(), series.end(), missing);
  if (first == series.end()) Fail("the series has no numbers");
  const auto hole = std::find_if(first, series.end(), missing);
  if (hole != series.end()) {
    Fail("number {} of the series is missing: series with holes are not supported; fill it in",
         hole - series.begin() + 1);
  }
  SeriesTokens made;
  const auto count = static_cast<size_t>(series.end() - first);
  if (count > context_) made.dropped = count - context_;
  first += static_cast<long>(made.dropped);
  double sum = 0;
  for (auto value = first; value != series.end(); ++value) sum += std::fabs(static_cast<double>(*value));
  const auto scale = static_cast<float>(sum / static_cast<double>(series.end() - first));
  if (!std::isfinite(scale)) Fail("the series has numbers that are not finite; leave them out");
  if (scale > 0) made.scale = scale;
  for (auto value = first; value != series.end(); ++value) {
    const auto above = std::upper_bound(boundaries_.begin(), boundaries_.end(), *value / made.scale);
    const auto bin = static_cast<int64_t>(above - boundaries_.begin()) + special_;
    made.ids.push_back(static_cast<int32_t>(std::clamp<int64_t>(bin, 0, tokens_ - 1)));
  }
  if (end_ >= 0) made.ids.push_back(end_);
  return made;
}

float SeriesBins::ValueOf(int32_t token) const {
  const int64_t bin = int64_t{token} - special_ - 1;
  return centers_[static_cast<size_t>(std::clamp<int64_t>(bin, 0, static_cast<int64_t>(centers_.size()) - 1))];
}

std::vector<float> ReadSeries(std::string_view text, const std::string& name) {
  std::vector<float> series;
  static constexpr char kBetween[] = " \t\r\n,;";
  for (size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const size_t after = std::min(text.find_first_of(kBetween, at), text.size());
    const std::string word(text.substr(at, after - at));
    char* end = nullptr;
    const float value = word == "null" ? NAN : strtof(word.c_str(), &end);
    if (end != nullptr && *end != '\0') {
      Fail("{}: '{}' is not a number; a series is numbers separated by spaces, commas or ends of lines", name, word);
    }
    series.push_back(value);
    at = text.find_first_not_of(kBetween, after);
  }
  if (series.empty()) Fail("{}: has no numbers", name);
  return series;
}

}  // namespace fovea::tools
