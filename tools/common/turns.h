// Times of runs, and of two that take turns, so that what else the machine does meets both alike.
#ifndef FOVEA_TOOLS_COMMON_TURNS_H_
#define FOVEA_TOOLS_COMMON_TURNS_H_

#include <stddef.h>

#include <functional>
#include <string>
#include <vector>

#include "tools/common/percentile.h"
#include "tools/common/print.h"
#include "tools/common/session.h"

namespace fovea::tools {

// What a run takes.
double SecondsToRun(Session& session);

class Turns {
 public:
  // Each runs once and returns the seconds that it counts. In every second turn the second one runs first, so that
  // neither has the other's traces in the caches more often.
  void Take(const std::function<double()>& first, const std::function<double()>& second);
  // A run of one of them that no run of the other stands beside.
  void TakeFirst(const std::function<double()>& run) { first_.push_back(run()); }
  void TakeSecond(const std::function<double()>& run) { second_.push_back(run()); }

  size_t count() const { return first_.size(); }
  double seconds() const;  // of both together
  // Medians of their runs, in seconds.
  double first_median() const { return PercentileOf(first_, 50); }
  double second_median() const { return PercentileOf(second_, 50); }

  // Runs, seconds and milliseconds of each; "ratio": the second's median by the first's, and percentiles of the ratios
  // of the two runs of a turn. If the runs of a turn are not of the same work, the ratio is that of all seconds,
  // without percentiles.
  OrderedJson Told(bool same_work = true) const;

 private:
  std::vector<double> first_, second_;
};

// For people: what Told() says of `first` and `second`.
std::string TurnsText(const OrderedJson& told, const std::string& first, const std::string& second);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_TURNS_H_
