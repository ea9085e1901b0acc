// The original: amazon-science/chronos-forecasting, src/chronos/chronos.py: ChronosConfig.
#include "tools/convert/arch/series.h"

#include "tools/base/fail.h"

namespace fovea::tools {

bool ReadsSeries(const Config& config) { return config.Get("chronos_config").is_object(); }

void DescribeSeries(const Config& config, Description& description) {
  const JsonView series = config.View("chronos_config");
  const std::string kind = series["tokenizer_class"].Text("MeanScaleUniformBins");
  if (kind != "MeanScaleUniformBins") {
    Fail("config.json: chronos_config: tokenizer_class {} is not supported: MeanScaleUniformBins is", kind);
  }
  const std::string model = series["model_type"].Text("seq2seq");
  if (model != "seq2seq") {
    Fail("config.json: chronos_config: model_type {} is not supported: seq2seq is", model);
  }
  constexpr WholeRange kCounts = {1, 1 << 20};
  constexpr RealRange kLimits = {-1e6, 1e6};
  const JsonView limits = series["tokenizer_kwargs"];
  const auto limit = [&](const char* key, double absent) {
    return limits.IsNull() ? absent : limits[key].Real(kLimits, absent);
  };
  const double low = limit("low_limit", -15), high = limit("high_limit", 15);
  if (!(low < high)) Fail("config.json: chronos_config: low_limit {} is not below high_limit {}", low, high);
  const uint32_t words = config.Number("vocab_size");
  const uint32_t tokens = series["n_tokens"].Number({4, 1 << 20}, words);
  if (tokens > words) {
    Fail("config.json: chronos_config: n_tokens {} is above vocab_size {}: the model scores fewer", tokens, words);
  }
  const uint32_t special = series["n_special_tokens"].Number({0, tokens - 3}, 2);
  const bool ends = series["use_eos_token"].Flag(true);
  const auto set = [&](const char* key, const auto& value) {
    description.SetMetadata(std::string("series.") + key, fmt::format("{}", value));
  };
  set("tokens", tokens);
  set("special_tokens", special);
  set("low", low);
  set("high", high);
  set("context", series["context_length"].Number(kCounts, 512));
  set("steps", series["prediction_length"].Number(kCounts, 64));
  set("samples", series["num_samples"].Number({1, 1 << 16}, 20));
  set("temperature", series["temperature"].Real({0, 1e6}, 1));
  set("top_k", series["top_k"].Number({0, 1 << 20}, 50));
  set("top_p", series["top_p"].Real({0, 1}, 1));
  description.findings.push_back(
      {Topic::kFiles,
       fmt::format("config.json: chronos_config: tokens are {} bins of a series of numbers; fovea forecast "
                   "continues one",
                   tokens - special - 1)});
  if (ends) set("end", series["eos_token_id"].Number({0, tokens - 1}, 1));
}

}  // namespace fovea::tools
