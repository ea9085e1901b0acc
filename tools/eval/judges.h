// Scores a model's outputs against the labels of a file.
#ifndef FOVEA_TOOLS_EVAL_JUDGES_H_
#define FOVEA_TOOLS_EVAL_JUDGES_H_

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/eval/metrics.h"
#include "tools/eval/sample_runner.h"
#include "tools/eval/samples.h"

namespace fovea::tools {

// The class names of one model or two.
class ClassNames {
 public:
  // Adds the classes of a classifier; fails for other models, with their task.
  void Add(const SampleRunner& runner);

  size_t count() const { return names_.size(); }
  const std::string& Name(size_t one) const { return names_[one]; }
  // Finds a class by name, or by its number in the first model; fails with the sample's location.
  size_t Find(const Samples& samples, const Sample& sample) const;
  // Whether Find succeeds.
  bool Has(const std::string& label) const;
  size_t CountOf(size_t model) const { return of_model_[model].size(); }
  // By its number in a model.
  size_t Of(size_t model, size_t number) const { return of_model_[model][number]; }
  // Whether all models have the same classes in the same order.
  bool Alike() const;

 private:
  std::optional<size_t> Known(const std::string& label) const;

  std::vector<std::string> names_;
  std::map<std::string, size_t> index_;
  std::vector<std::vector<size_t>> of_model_;
};

// The judge of one model.
class Judge {
 public:
  virtual ~Judge() = default;
  // The inputs of a sample: by default its parts as one item.
  virtual std::vector<Item> ItemsOf(const Samples& samples, const Sample& sample) const;
  // `results`: the output for each item.
  virtual void Add(const Samples& samples, const Sample& sample, const Matrix* results) = 0;
  virtual OrderedJson Json() const = 0;
  // The model's prediction for each sample: a score, or the class as an index among all names.
  const std::vector<double>& said() const { return said_; }

 protected:
  std::vector<double> said_;
};

class ClassJudge : public Judge {
 public:
  // `model`: its number in `names`.
  ClassJudge(const ClassNames& names, size_t model) : names_(names), model_(model), confusion_(names.count()) {}
  void Add(const Samples& samples, const Sample& sample, const Matrix* results) override;
  // Per-class scores for classes that were expected or predicted.
  OrderedJson Json() const override;

 private:
  const ClassNames& names_;
  const size_t model_;
  Confusion confusion_;
};

class ScoreJudge : public Judge {
 public:
  // Cosines for a model that makes embeddings, dot products for sparse word weights, scores for a model that reads
  // pairs and has one output; other models are refused.
  explicit ScoreJudge(const SampleRunner& runner);
  std::vector<Item> ItemsOf(const Samples& samples, const Sample& sample) const override;
  void Add(const Samples& samples, const Sample& sample, const Matrix* results) override;
  OrderedJson Json() const override;

 private:
  const std::string model_;
  const bool sparse_, apart_;  // sparse word weights; texts embedded separately
  std::vector<double> expected_;
};

// For samples without labels.
class NoJudge : public Judge {
 public:
  void Add(const Samples&, const Sample&, const Matrix*) override {}
  OrderedJson Json() const override { return OrderedJson::object(); }
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_JUDGES_H_
