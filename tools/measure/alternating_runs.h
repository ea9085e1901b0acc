// Times of runs, and of two contenders that alternate, so that other load on the machine affects both alike.
#ifndef FOVEA_TOOLS_MEASURE_ALTERNATING_RUNS_H_
#define FOVEA_TOOLS_MEASURE_ALTERNATING_RUNS_H_

#include <stddef.h>

#include <functional>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/measure/percentile.h"
#include "tools/model/session.h"

namespace fovea::tools {

// Seconds of one run.
double SecondsToRun(Session& session);

class AlternatingRuns {
 public:
  // Runs each once; each returns its seconds. The order alternates by turns, so that neither benefits more often
  // from the caches of the other.
  void RunBoth(const std::function<double()>& first, const std::function<double()>& second);
  // Runs the first one alone.
  void RunFirst(const std::function<double()>& run) { first_.push_back(run()); }
  void RunSecond(const std::function<double()>& run) { second_.push_back(run()); }

  size_t count() const { return first_.size(); }
  double seconds() const;  // the sum for both
  // Medians of their runs, in seconds.
  double first_median() const { return PercentileOf(first_, 50); }
  double second_median() const { return PercentileOf(second_, 50); }

  // Runs, seconds and milliseconds of each; "ratio": the second's median divided by the first's, and percentiles of the
  // ratios within turns. If the runs of a turn are of different work, the ratio is that of the total seconds, without
  // percentiles.
  OrderedJson Json(bool same_work = true) const;

 private:
  std::vector<double> first_, second_;
};

// Formats the result of Json() for people, with the names of both.
std::string AlternatingRunsText(const OrderedJson& told, const std::string& first, const std::string& second);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEASURE_ALTERNATING_RUNS_H_
