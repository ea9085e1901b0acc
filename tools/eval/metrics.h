// How well numbers and classes agree. Nothing here knows of models.
#ifndef FOVEA_TOOLS_EVAL_METRICS_H_
#define FOVEA_TOOLS_EVAL_METRICS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace fovea::tools {

// Of as many numbers each. NaN where one of them does not vary, or where there are fewer than two.
double Pearson(const std::vector<double>& a, const std::vector<double>& b);
// The same of their ranks.
double Spearman(const std::vector<double>& a, const std::vector<double>& b);
// From 1 on; equal numbers have the mean of their ranks.
std::vector<double> AverageRanks(const std::vector<double>& numbers);

// How often each class was expected, and which was said then.
class Confusion {
 public:
  explicit Confusion(size_t classes) : classes_(classes), counts_(classes * classes) {}

  void Add(size_t expected, size_t said) { ++counts_[expected * classes_ + said]; }

  size_t classes() const { return classes_; }
  uint64_t At(size_t expected, size_t said) const { return counts_[expected * classes_ + said]; }
  uint64_t Count() const;
  double Accuracy() const;

  // What has no denominator is 0, as scikit-learn has it.
  struct Scores {
    double precision, recall, f1;
    uint64_t support;  // how often the class was expected
    uint64_t said;
  };
  Scores Of(size_t one) const;
  // The mean over classes that were expected or said at least once.
  double MacroF1() const;

 private:
  size_t classes_;
  std::vector<uint64_t> counts_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_METRICS_H_
