// What is made of a model's results: how near they are to what a file says of each sample.
#ifndef FOVEA_TOOLS_EVAL_JUDGES_H_
#define FOVEA_TOOLS_EVAL_JUDGES_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/common/print.h"
#include "tools/eval/metrics.h"
#include "tools/eval/sample_runner.h"
#include "tools/eval/samples.h"

namespace fovea::tools {

// The classes of one model or two, by name.
class ClassNames {
 public:
  // Those of a model that chooses one for each sample; fails with what it does instead.
  void Add(const SampleRunner& runner);

  size_t count() const { return names_.size(); }
  const std::string& Name(size_t one) const { return names_[one]; }
  // By name, or by its number in the first model; fails with the sample's place.
  size_t Find(const Samples& samples, const Sample& sample) const;
  size_t CountOf(size_t model) const { return of_model_[model].size(); }
  // By its number in a model.
  size_t Of(size_t model, size_t number) const { return of_model_[model][number]; }
  // Whether all models have the same classes in the same order.
  bool Alike() const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, size_t> index_;
  std::vector<std::vector<size_t>> of_model_;
};

// Of one model.
class Judge {
 public:
  virtual ~Judge() = default;
  // What the model reads for a sample.
  virtual std::vector<Item> ItemsOf(const Samples& samples, const Sample& sample) const;
  // `results`: one of each item.
  virtual void Add(const Samples& samples, const Sample& sample, const Matrix* results) = 0;
  virtual OrderedJson Told() const = 0;
  // The number that the model gave each sample: a score, or its class among all names.
  const std::vector<double>& said() const { return said_; }

 protected:
  std::vector<double> said_;
};

class ClassJudge : public Judge {
 public:
  // `model`: its number in `names`.
  ClassJudge(const ClassNames& names, size_t model) : names_(names), model_(model), confusion_(names.count()) {}
  void Add(const Samples& samples, const Sample& sample, const Matrix* results) override;
  // Of classes that were expected or said.
  OrderedJson Told() const override;

 private:
  const ClassNames& names_;
  const size_t model_;
  Confusion confusion_;
};

class ScoreJudge : public Judge {
 public:
  // Cosines of a model that makes embeddings, dot products of one that makes weights of words, scores of one that reads
  // pairs and gives one number; others are refused.
  explicit ScoreJudge(const SampleRunner& runner);
  std::vector<Item> ItemsOf(const Samples& samples, const Sample& sample) const override;
  void Add(const Samples& samples, const Sample& sample, const Matrix* results) override;
  OrderedJson Told() const override;

 private:
  const std::string model_;
  const bool sparse_, apart_;  // weights of words; both texts by themselves
  std::vector<double> expected_;
};

// Of results that nobody knows the right ones of.
class NoJudge : public Judge {
 public:
  void Add(const Samples&, const Sample&, const Matrix*) override {}
  OrderedJson Told() const override { return OrderedJson::object(); }
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_JUDGES_H_
