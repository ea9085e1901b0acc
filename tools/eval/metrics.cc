#include "tools/eval/metrics.h"

#include <math.h>

#include <algorithm>
#include <numeric>

namespace fovea::tools {
namespace {

double Mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double Pearson(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2) return NAN;
  const double mean_a = Mean(a), mean_b = Mean(b);
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i] - mean_a, y = b[i] - mean_b;
    ab += x * y, aa += x * x, bb += y * y;
  }
  return aa == 0 || bb == 0 ? NAN : std::clamp(ab / (sqrt(aa) * sqrt(bb)), -1.0, 1.0);
}

std::vector<double> AverageRanks(const std::vector<double>& numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> ranks(numbers.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && numbers[order[end]] == numbers[order[first]]) ++end;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = 0.5 * static_cast<double>(first + 1 + end);
  }
  return ranks;
}

double Spearman(const std::vector<double>& a, const std::vector<double>& b) {
  return Pearson(AverageRanks(a), AverageRanks(b));
}

uint64_t Confusion::Count() const { return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0}); }

double Confusion::Accuracy() const {
  uint64_t right = 0;
  for (size_t i = 0; i < classes_; ++i) right += At(i, i);
  return Share(right, Count());
}

Confusion::Scores Confusion::Of(size_t one) const {
  Scores scores = {};
  for (size_t i = 0; i < classes_; ++i) scores.support += At(one, i), scores.predicted += At(i, one);
  const uint64_t right = At(one, one);
  scores.precision = Share(right, scores.predicted);
  scores.recall = Share(right, scores.support);
  scores.f1 = Share(2 * right, scores.predicted + scores.support);
  return scores;
}

double Confusion::MacroF1() const {
  double sum = 0;
  uint64_t seen = 0;
  for (size_t i = 0; i < classes_; ++i) {
    const Scores scores = Of(i);
    if (scores.support + scores.predicted == 0) continue;
    sum += scores.f1;
    ++seen;
  }
  return seen == 0 ? 0 : sum / static_cast<double>(seen);
}

}  // namespace fovea::tools
