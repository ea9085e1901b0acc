// Models that read pairs of texts.
#include "tools/run/pairs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/lines.h"
#include "tools/model/library_error.h"
#include "tools/prediction/result_reader.h"
#include "tools/prediction/task.h"
#include "tools/prediction/zero_shot.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

std::vector<std::string> ClassesOf(const Model& model, uint32_t count) {
  std::vector<std::string> classes;
  for (uint32_t i = 0; i < count; ++i) classes.push_back(ClassName(model, i));
  return classes;
}

// Sorts entries by a number, the greatest first.
void SortBy(const char* key, OrderedJson& entries) {
  std::stable_sort(entries.begin(), entries.end(), [&](const OrderedJson& a, const OrderedJson& b) {
    return a[key].get<double>() > b[key].get<double>();
  });
}

}  // namespace

std::vector<TextPair> MakePairs(const std::vector<std::string>& firsts, const std::vector<std::string>& seconds) {
  if (firsts.size() != 1 && firsts.size() != seconds.size()) {
    Fail("{} texts and {} of --pair: give one text for all of them, or one for each", firsts.size(), seconds.size());
  }
  std::vector<TextPair> pairs;
  for (size_t i = 0; i < seconds.size(); ++i) pairs.push_back({firsts[firsts.size() == 1 ? 0 : i], seconds[i]});
  return pairs;
}

std::vector<TextPair> ReadPairs(const std::string& path) {
  std::vector<TextPair> pairs;
  size_t number = 0;
  for (const std::string& line : ReadLines(path)) {
    ++number;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || line.find('\t', tab + 1) != std::string::npos) {
      Fail("{}: line {} is not two texts with one tab between them", path, number);
    }
    pairs.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  if (pairs.empty()) Fail("{}: has no line", path);
  return pairs;
}

std::vector<OrderedJson> ChooseSeconds(const Model& model, const TextRun& run, const std::vector<TextPair>& pairs) {
  const Matrix logits = ReadLogits(model, *run.session);
  if (logits.width != 1 || logits.rows != pairs.size()) {
    Fail("{}: output 'logits' is [{}, {}], not one score for each of {} pairs", model.name(), logits.rows, logits.width,
         pairs.size());
  }
  std::vector<OrderedJson> entries;
  for (size_t begin = 0; begin < pairs.size();) {
    size_t end = begin + 1;
    while (end < pairs.size() && pairs[end].first == pairs[begin].first) ++end;
    std::vector<float> shares(logits.values.begin() + static_cast<ptrdiff_t>(begin),
                              logits.values.begin() + static_cast<ptrdiff_t>(end));
    Check(fovea_result_activate(FOVEA_ACTIVATION_SOFTMAX, shares.data(), static_cast<uint32_t>(shares.size())), "");
    OrderedJson choices = OrderedJson::array();
    for (size_t i = begin; i < end; ++i) {
      OrderedJson choice = {{"text", pairs[i].second},
                            {"tokens", run.tokens[i].ids.size()},
                            {"probability", shares[i - begin]},
                            {"logit", logits.values[i]}};
      if (run.tokens[i].dropped != 0) choice["dropped_tokens"] = run.tokens[i].dropped;
      choices.push_back(std::move(choice));
    }
    SortBy("logit", choices);
    entries.push_back({{"text", pairs[begin].first}, {"choices", std::move(choices)}});
    begin = end;
  }
  return entries;
}

std::string EntailmentWarning(const Model& model) {
  uint32_t classes = 0;
  while (model.Metadata(fmt::format("label.{}", classes)) != nullptr) ++classes;
  if (EntailmentClass(ClassesOf(model, classes))) return "";
  return fmt::format(
      "{}: no class is named entailment, so the last one{} is taken for it; give the classes' names in id2label of "
      "config.json and convert again",
      model.name(), classes == 0 ? "" : ", " + ClassName(model, classes - 1) + ",");
}

OrderedJson ScoreLabels(const Model& model, const Tokenizer& tokenizer, const std::string& text,
                        const LabelOptions& options, Truncations* truncations) {
  std::vector<TextPair> pairs;
  for (const std::string& label : options.labels) pairs.push_back({text, HypothesisFor(options.hypothesis, label)});
  if (pairs.empty()) Fail("--labels names no label; separate several by commas");
  const uint32_t program = FindTextProgram(model, options.program);
  // The hypothesis must stay whole.
  const TextRun run = RunPairs(model, tokenizer, program, pairs, options.run, PairCut::kFirst);
  const Matrix logits = ReadLogits(model, *run.session);
  if (logits.rows != pairs.size() || logits.width < 2) {
    Fail("{}: --labels needs a classifier of pairs with a class for entailment and another one; its output is [{}, {}]",
         model.name(), logits.rows, logits.width);
  }
  const uint32_t entailment = EntailmentClass(ClassesOf(model, logits.width)).value_or(logits.width - 1);
  const std::vector<float> scores = LabelScores(logits, entailment, options.many);
  OrderedJson labels = OrderedJson::array();
  for (size_t i = 0; i < scores.size(); ++i) labels.push_back({{"label", options.labels[i]}, {"score", scores[i]}});
  SortBy("score", labels);
  OrderedJson entry = {{"text", text}, {"labels", std::move(labels)}};
  uint64_t dropped = 0;
  for (const Tokens& tokens : run.tokens) dropped = std::max(dropped, tokens.dropped);
  truncations->Add(dropped);
  if (dropped != 0) entry["dropped_tokens"] = dropped;
  return entry;
}

void PrintPairs(std::ostream& out, const OrderedJson& entry) {
  const bool chooses = entry.contains("choices");
  out << Printable(entry["text"].get<std::string>()) << "\n";
  for (const OrderedJson& one : entry[chooses ? "choices" : "labels"]) {
    out << fmt::format("  {:<7.4f} {}\n", one[chooses ? "probability" : "score"].get<double>(),
                       Printable(one[chooses ? "text" : "label"].get<std::string>()));
  }
}

}  // namespace fovea::tools
