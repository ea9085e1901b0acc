#include "tools/eval/judges.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/base/fail.h"
#include "tools/measure/distance.h"
#include "tools/prediction/result_reader.h"

namespace fovea::tools {
namespace {

const char* DoesInstead(OutputTask task) {
  switch (task) {
    case OutputTask::kEmbedding:
      return "it makes embeddings";
    case OutputTask::kTags:
      return "it classifies each token";
    case OutputTask::kMaskedWords:
      return "it is a masked language model";
    case OutputTask::kClasses:
      break;
  }
  return "classifies";
}

}  // namespace

void ClassNames::Add(const SampleRunner& runner) {
  const Model& model = runner.model();
  const char* const task = model.Metadata("task");
  if (task != nullptr && std::string(task) == "causal-lm") {
    Fail("{}: it is a language model; --perplexity FILE measures it", model.name());
  }
  if (runner.task() != OutputTask::kClasses) {
    Fail("{}: {}; labels need a model that classifies whole samples", model.name(), DoesInstead(runner.task()));
  }
  const fovea_result_info info = ResultInfoOf(model, runner.program());
  const uint32_t count = info.width;
  if (info.activation != FOVEA_ACTIVATION_SOFTMAX) {
    Fail("{}: has {}; labels need a model that chooses one class", model.name(),
         count == 1 ? "one output" : "independent outputs (multi-label)");
  }
  std::vector<size_t>& numbers = of_model_.emplace_back();
  for (uint32_t i = 0; i < count; ++i) {
    const auto [known, is_new] = index_.emplace(ClassName(model, i), names_.size());
    if (is_new) names_.push_back(known->first);
    numbers.push_back(known->second);
  }
}

std::optional<size_t> ClassNames::Known(const std::string& label) const {
  const auto found = index_.find(label);
  if (found != index_.end()) return found->second;
  const bool digits = !label.empty() && label.size() < 10 &&
                      std::all_of(label.begin(), label.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && std::stoul(label) < of_model_[0].size()) return of_model_[0][std::stoul(label)];
  return std::nullopt;
}

bool ClassNames::Has(const std::string& label) const { return Known(label).has_value(); }

size_t ClassNames::Find(const Samples& samples, const Sample& sample) const {
  if (const std::optional<size_t> known = Known(sample.label)) return *known;
  std::string some;
  for (size_t i = 0; i < names_.size() && i < 12; ++i) some += (i == 0 ? "" : ", ") + names_[i];
  Fail("{}: the model has no class '{}'; its classes: {}{}", samples.Place(sample), Shortened(sample.label), some,
       names_.size() > 12 ? ", ..." : "");
}

bool ClassNames::Alike() const {
  return std::all_of(of_model_.begin(), of_model_.end(), [&](const auto& numbers) { return numbers == of_model_[0]; });
}

std::vector<Item> Judge::ItemsOf(const Samples& samples, const Sample& sample) const {
  return {{sample.parts, samples.Place(sample)}};
}

void ClassJudge::Add(const Samples& samples, const Sample& sample, const Matrix* results) {
  const std::vector<float>& logits = results->values;
  if (logits.size() != names_.CountOf(model_)) {
    Fail("{}: {} scores for {} classes", samples.Place(sample), logits.size(), names_.CountOf(model_));
  }
  const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
  const size_t said = names_.Of(model_, static_cast<size_t>(best));
  confusion_.Add(names_.Find(samples, sample), said);
  said_.push_back(static_cast<double>(said));
}

OrderedJson ClassJudge::Json() const {
  std::vector<size_t> seen;
  for (size_t i = 0; i < names_.count(); ++i) {
    const Confusion::Scores scores = confusion_.Of(i);
    if (scores.support + scores.predicted != 0) seen.push_back(i);
  }
  OrderedJson classes = OrderedJson::array(), rows = OrderedJson::array();
  for (const size_t i : seen) {
    const Confusion::Scores scores = confusion_.Of(i);
    classes.push_back({{"label", names_.Name(i)},
                       {"precision", scores.precision},
                       {"recall", scores.recall},
                       {"f1", scores.f1},
                       {"support", scores.support},
                       {"said", scores.predicted}});
    std::vector<uint64_t> row;
    for (const size_t j : seen) row.push_back(confusion_.At(i, j));
    rows.push_back(row);
  }
  return {{"accuracy", confusion_.Accuracy()},
          {"macro_f1", confusion_.MacroF1()},
          {"classes", classes},
          {"confusion", rows}};
}

ScoreJudge::ScoreJudge(const SampleRunner& runner)
    : model_(runner.model().name()),
      sparse_(runner.task() == OutputTask::kMaskedWords),
      apart_(sparse_ || runner.task() == OutputTask::kEmbedding) {
  if (apart_) return;
  if (runner.task() != OutputTask::kClasses) {
    Fail("{}: {}; pairs need a model that makes embeddings or scores pairs", model_, DoesInstead(runner.task()));
  }
  const uint32_t count = ResultInfoOf(runner.model(), runner.program()).width;
  if (count != 1) Fail("{}: it chooses one of {} classes; pairs need a model with one output", model_, count);
}

std::vector<Item> ScoreJudge::ItemsOf(const Samples& samples, const Sample& sample) const {
  if (!apart_) return Judge::ItemsOf(samples, sample);
  std::vector<Item> items;
  for (const std::string& text : sample.parts) items.push_back({{text}, samples.Place(sample)});
  return items;
}

void ScoreJudge::Add(const Samples& samples, const Sample& sample, const Matrix* results) {
  const std::vector<float>& first = results[0].values;
  if (apart_ ? results[0].rows != 1 || first.size() != results[1].values.size() : first.size() != 1) {
    Fail("{}: {} gives {} rows", samples.Place(sample), model_, results[0].rows);
  }
  double score = first[0];
  if (sparse_) {
    score = std::inner_product(first.begin(), first.end(), results[1].values.begin(), 0.0);
  } else if (apart_) {
    score = Cosine(first.data(), results[1].values.data(), first.size());
  }
  if (!std::isfinite(score)) Fail("{}: {} gives a score that is not finite", samples.Place(sample), model_);
  said_.push_back(score);
  expected_.push_back(sample.score);
}

OrderedJson ScoreJudge::Json() const {
  return {{"compared", sparse_  ? "dot product of sparse word weights"
                       : apart_ ? "cosine of embeddings"
                                : "score of the pair"},
          {"pearson", Pearson(said_, expected_)},
          {"spearman", Spearman(said_, expected_)}};
}

}  // namespace fovea::tools
