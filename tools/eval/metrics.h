// Metrics of predictions against labels, independent of models.
#ifndef FOVEA_TOOLS_EVAL_METRICS_H_
#define FOVEA_TOOLS_EVAL_METRICS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace fovea::tools {

// Both lists have equal length. NaN if one is constant or has fewer than two numbers.
double Pearson(const std::vector<double>& a, const std::vector<double>& b);
// Pearson correlation of the ranks.
double Spearman(const std::vector<double>& a, const std::vector<double>& b);
// Ranks from 1; ties have their mean rank.
std::vector<double> AverageRanks(const std::vector<double>& numbers);

// Confusion matrix: how often each class was expected, by predicted class.
class Confusion {
 public:
  explicit Confusion(size_t classes) : classes_(classes), counts_(classes * classes) {}

  void Add(size_t expected, size_t predicted) { ++counts_[expected * classes_ + predicted]; }

  size_t classes() const { return classes_; }
  uint64_t At(size_t expected, size_t predicted) const { return counts_[expected * classes_ + predicted]; }
  uint64_t Count() const;
  double Accuracy() const;

  // A metric with denominator 0 is 0, as in scikit-learn.
  struct Scores {
    double precision, recall, f1;
    uint64_t support;  // number of samples with the class as label
    uint64_t predicted;
  };
  Scores Of(size_t one) const;
  // Mean F1 over classes that were expected or predicted at least once.
  double MacroF1() const;

 private:
  size_t classes_;
  std::vector<uint64_t> counts_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_METRICS_H_
