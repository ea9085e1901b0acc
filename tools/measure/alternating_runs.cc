#include "tools/measure/alternating_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/base/clock.h"

namespace fovea::tools {
namespace {

double Sum(const std::vector<double>& seconds) { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

OrderedJson TimesOf(const std::vector<double>& seconds) {
  OrderedJson ms;
  for (const auto& [name, percent] : {std::pair{"p25", 25u}, {"p50", 50u}, {"p75", 75u}})
    ms[name] = 1e3 * PercentileOf(seconds, percent);
  return {{"runs", seconds.size()}, {"seconds", Sum(seconds)}, {"ms", ms}};
}

}  // namespace

double SecondsToRun(Session& session) {
  const uint64_t start = NanosecondClock();
  session.Run();
  return 1e-9 * static_cast<double>(NanosecondClock() - start);
}

void AlternatingRuns::RunBoth(const std::function<double()>& first, const std::function<double()>& second) {
  const bool swapped = first_.size() % 2 == 1;
  double of_second = swapped ? second() : 0;
  first_.push_back(first());
  if (!swapped) of_second = second();
  second_.push_back(of_second);
}

double AlternatingRuns::seconds() const { return Sum(first_) + Sum(second_); }

OrderedJson AlternatingRuns::Json(bool same_work) const {
  OrderedJson told = {{"first", TimesOf(first_)}, {"second", TimesOf(second_)}};
  if (!same_work) {
    told["ratio"] = Sum(second_) / Sum(first_);
    return told;
  }
  std::vector<double> ratios;
  for (size_t i = 0; i < first_.size(); ++i) ratios.push_back(second_[i] / first_[i]);
  told["ratio"] = second_median() / first_median();
  OrderedJson& spread = told["turns"];
  for (const auto& [name, percent] : {std::pair{"p25", 25u}, {"p50", 50u}, {"p75", 75u}})
    spread[name] = PercentileOf(ratios, percent);
  return told;
}

std::string AlternatingRunsText(const OrderedJson& told, const std::string& first, const std::string& second) {
  std::string text;
  const size_t width = std::max(first.size(), second.size());
  for (const auto& [key, name] : {std::pair{"first", &first}, {"second", &second}}) {
    const OrderedJson& times = told[key];
    text += fmt::format("{:<{}}  {:>6} runs, {:.3f} s; p25 {:.3f}  p50 {:.3f}  p75 {:.3f} ms\n", *name, width,
                        times["runs"].get<size_t>(), times["seconds"].get<double>(), times["ms"]["p25"].get<double>(),
                        times["ms"]["p50"].get<double>(), times["ms"]["p75"].get<double>());
  }
  text += fmt::format("{} takes {:.3f} times as long as {}", second, told["ratio"].get<double>(), first);
  if (!told.contains("turns")) return text + " (totals; the runs are not of the same work)\n";
  const OrderedJson& turns = told["turns"];
  return text + fmt::format(" (medians); in single turns p25 {:.3f}  p50 {:.3f}  p75 {:.3f}\n",
                            turns["p25"].get<double>(), turns["p50"].get<double>(), turns["p75"].get<double>());
}

}  // namespace fovea::tools
