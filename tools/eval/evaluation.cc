#include "tools/eval/evaluation.h"

#include <algorithm>
#include <filesystem>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/eval/agreement.h"
#include "tools/eval/judges.h"
#include "tools/measure/alternating_runs.h"
#include "tools/measure/distance.h"
#include "tools/model/interrupt.h"

namespace fovea::tools {
namespace {

// A model with its runner and the judge of its outputs.
struct Contender {
  std::unique_ptr<SampleRunner> runner;
  std::unique_ptr<Judge> judge;
  std::vector<size_t> first;  // first item of each sample of a batch, and the end
};

std::unique_ptr<Judge> JudgeOf(const EvaluationRequest& request, const ClassNames& names, size_t model,
                               const SampleRunner& runner) {
  if (request.measure == Measure::kClasses) return std::make_unique<ClassJudge>(names, model);
  if (request.measure == Measure::kScores) return std::make_unique<ScoreJudge>(runner);
  return std::make_unique<NoJudge>();
}

void Prepare(const Samples& samples, size_t begin, size_t end, Contender& contender) {
  std::vector<Item> items;
  contender.first = {0};
  for (size_t i = begin; i < end; ++i) {
    for (Item& item : contender.judge->ItemsOf(samples, samples.list[i])) items.push_back(std::move(item));
    contender.first.push_back(items.size());
  }
  contender.runner->Prepare(items);
}

// Files have the class in the last column or in the first: the latter is moved if that makes a class of each line.
bool SwapColumns(const ClassNames& names, Samples* samples) {
  const auto first_only = [&](const Sample& sample) { return !names.Has(sample.label) && names.Has(sample.parts[0]); };
  const auto either = [&](const Sample& sample) { return names.Has(sample.parts[0]); };
  const std::vector<Sample>& list = samples->list;
  if (!std::any_of(list.begin(), list.end(), first_only) || !std::all_of(list.begin(), list.end(), either))
    return false;
  for (Sample& sample : samples->list) {
    sample.parts.push_back(sample.label);
    sample.label = sample.parts[0];
    sample.parts.erase(sample.parts.begin());
  }
  return true;
}

// Outputs of masked language models have the vocabulary's width for every token: such texts run one by one.
size_t BatchSize(const EvaluationRequest& request, const std::vector<Contender>& contenders) {
  const auto wide = [](const Contender& one) { return one.runner->task() == OutputTask::kMaskedWords; };
  return std::any_of(contenders.begin(), contenders.end(), wide) ? 1 : request.batch_size;
}

// Agreement of the models' predictions, by sample.
OrderedJson AgreementOf(Measure measure, const std::vector<double>& a, const std::vector<double>& b) {
  OrderedJson told = OrderedJson::object();
  if (measure == Measure::kClasses) {
    size_t same = 0;
    for (size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
    told["same_class"] = a.empty() ? 0 : static_cast<double>(same) / static_cast<double>(a.size());
  } else if (measure == Measure::kScores) {
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, Difference(a[i], b[i]));
    told["pearson"] = Pearson(a, b);
    told["spearman"] = Spearman(a, b);
    told["largest_difference"] = largest;
  }
  return told;
}

}  // namespace

OrderedJson AboutBlobs(const std::vector<const Model*>& models) {
  OrderedJson about = OrderedJson::array();
  for (const Model* model : models) {
    about.push_back({{"blob", model->name()}, {"bytes", std::filesystem::file_size(Utf8Path(model->name()))}});
  }
  return about;
}

OrderedJson Evaluate(const std::vector<const Model*>& models, const EvaluationRequest& request,
                     const ShowProgress& show) {
  Samples samples = request.samples;
  std::vector<Contender> contenders(models.size());
  ClassNames names;
  for (size_t i = 0; i < models.size(); ++i) {
    RunnerOptions options = request.runner;
    options.sparse = request.measure == Measure::kScores;
    contenders[i].runner = std::make_unique<SampleRunner>(*models[i], request.kind, options);
    if (request.measure == Measure::kClasses) names.Add(*contenders[i].runner);
  }
  for (size_t i = 0; i < models.size(); ++i) contenders[i].judge = JudgeOf(request, names, i, *contenders[i].runner);
  const bool swapped = request.measure == Measure::kClasses && SwapColumns(names, &samples);
  // Reports a label that the model does not have before the long run.
  for (const Sample& sample : samples.list) {
    if (request.measure == Measure::kClasses) names.Find(samples, sample);
  }

  const OutputTask task = contenders[0].runner->task();
  const bool alike =
      contenders.back().runner->task() == task && (request.measure != Measure::kClasses || names.Alike());
  Agreement outputs(request.measure == Measure::kNothing && task != OutputTask::kEmbedding);
  AlternatingRuns turns;
  const size_t batch = BatchSize(request, contenders), total = samples.list.size();
  size_t done = 0;
  while (done < total && !Interrupt::Happened()) {
    show(done, total);
    const size_t end = std::min(total, done + batch);
    for (Contender& one : contenders) Prepare(samples, done, end, one);
    if (models.size() == 1) {
      contenders[0].runner->Run();
    } else {
      turns.RunBoth([&] { return contenders[0].runner->Run(); }, [&] { return contenders[1].runner->Run(); });
    }
    for (size_t i = done; i < end; ++i) {
      for (Contender& one : contenders) {
        one.judge->Add(samples, samples.list[i], &one.runner->results()[one.first[i - done]]);
      }
    }
    if (models.size() == 2 && alike) {
      const std::vector<Matrix>&a = contenders[0].runner->results(), &b = contenders[1].runner->results();
      for (size_t i = 0; i < a.size(); ++i) outputs.Add(a[i], b[i]);
    }
    done = end;
  }

  OrderedJson told = {{"file", samples.file}, {"samples", done}};
  if (done < total) told["interrupted"] = true;
  std::vector<std::string> notes = contenders[0].runner->notes();
  if (swapped) notes.insert(notes.begin(), fmt::format("{}: the class is the first column of its lines", samples.file));
  if (!notes.empty()) told["notes"] = notes;
  told["models"] = AboutBlobs(models);
  for (size_t i = 0; i < models.size() && done != 0; ++i) {
    told["models"][i].update(contenders[i].judge->Json());
    const std::string prompt = NoteOf(contenders[i].runner->prompt());
    if (!prompt.empty()) told["models"][i]["prompt"] = prompt;
    const Truncations& cuts = contenders[i].runner->cuts();
    if (cuts.any()) told["models"][i]["cut"] = cuts.Json();
  }
  if (models.size() == 1 || done == 0) return told;
  told["agreement"] = AgreementOf(request.measure, contenders[0].judge->said(), contenders[1].judge->said());
  told["agreement"]["outputs"] = outputs.Json();
  told["time"] = turns.Json();
  return told;
}

}  // namespace fovea::tools
