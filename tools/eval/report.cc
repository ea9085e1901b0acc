#include "tools/eval/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/eval/report_rows.h"
#include "tools/measure/alternating_runs.h"

namespace fovea::tools {
namespace {

std::string Line(const std::string& name, size_t width, const std::vector<std::string>& cells, size_t cell) {
  std::string line = fmt::format("{:<{}}", name, width);
  for (const std::string& text : cells) line += fmt::format("  {:>{}}", text, cell);
  return line + "\n";
}

// Precision, recall and F1 of each model in columns.
std::string ClassTable(const OrderedJson& models, const std::vector<std::string>& names) {
  std::vector<std::string> labels;
  std::vector<std::map<std::string, const OrderedJson*>> of_model(models.size());
  std::map<std::string, uint64_t> support;
  for (size_t i = 0; i < models.size(); ++i) {
    for (const OrderedJson& one : models[i]["classes"]) {
      const std::string label = Printable(one["label"].get<std::string>());
      if (support.emplace(label, one["support"].get<uint64_t>()).second) labels.push_back(label);
      of_model[i][label] = &one;
    }
  }
  size_t width = 5;
  for (const std::string& label : labels) width = std::max(width, label.size());
  std::string text = fmt::format("{:<{}}  {:>7}", "", width, "");
  for (const std::string& name : names) text += fmt::format("  | {:<25}", names.size() == 1 ? "" : name);
  text += fmt::format("\n{:<{}}  support", "class", width);
  for (size_t i = 0; i < models.size(); ++i) text += "  | precision  recall      F1";
  for (const std::string& label : labels) {
    text += fmt::format("\n{:<{}}  {:>7}", label, width, support[label]);
    for (const auto& classes : of_model) {
      const auto found = classes.find(label);
      if (found == classes.end()) {
        text += fmt::format("  | {:>9}  {:>6}  {:>6}", "-", "-", "-");
        continue;
      }
      const auto number = [&](const char* key) { return (*found->second)[key].get<double>(); };
      text += fmt::format("  | {:>9.4f}  {:>6.4f}  {:>6.4f}", number("precision"), number("recall"), number("f1"));
    }
  }
  return text + "\n";
}

// Columns have numbers, since class names would not fit as headers.
std::string ConfusionTable(const OrderedJson& model) {
  const OrderedJson &classes = model["classes"], &rows = model["confusion"];
  uint64_t most = rows.size();
  for (const OrderedJson& row : rows) {
    for (const OrderedJson& count : row) most = std::max(most, count.get<uint64_t>());
  }
  size_t width = 0;
  for (const OrderedJson& one : classes) width = std::max(width, Printable(one["label"].get<std::string>()).size());
  const size_t cell = std::to_string(most).size() + 1;
  const size_t number = std::to_string(rows.size()).size();
  std::string text = fmt::format("{:>{}} {:<{}} ", "", number, "", width);
  for (size_t i = 0; i < rows.size(); ++i) text += fmt::format("{:>{}}", i + 1, cell);
  text += "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("{:>{}} {:<{}} ", i + 1, number, Printable(classes[i]["label"].get<std::string>()), width);
    for (const OrderedJson& count : rows[i]) {
      const uint64_t times = count.get<uint64_t>();
      text += times == 0 ? fmt::format("{:>{}}", ".", cell) : fmt::format("{:>{}}", times, cell);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string ReportText(const OrderedJson& told) {
  const OrderedJson& models = told["models"];
  std::vector<std::string> names;
  for (const OrderedJson& model : models) names.push_back(Printable(model["blob"].get<std::string>()));
  const std::vector<ReportRow> rows = ModelRows(told);
  size_t cell = 0, width = 0;
  for (const std::string& name : names) cell = std::max(cell, name.size());
  for (const ReportRow& row : rows) {
    width = std::max(width, row.name.size());
    for (const std::string& text : row.cells) cell = std::max(cell, text.size());
  }
  std::string text = Caption(told) + "\n" + Line("", width, names, cell);
  for (const ReportRow& row : rows) text += Line(row.name, width, row.cells, cell);
  if (models[0].contains("classes")) text += "\n" + ClassTable(models, names);
  for (size_t i = 0; i < models.size(); ++i) {
    if (!models[i].contains("classes")) continue;
    text += fmt::format("\nRows: labels; columns: predictions of {}\n{}", names[i], ConfusionTable(models[i]));
  }
  const auto agreement = AgreementRows(told);
  if (!agreement.empty()) text += "\nAgreement\n";
  for (const auto& [name, number] : agreement) text += fmt::format("  {:<30}  {}\n", name, number);
  if (told.contains("time"))
    text += "\nTimes, alternating runs\n" + AlternatingRunsText(told["time"], names[0], names[1]);
  return text;
}

}  // namespace fovea::tools
