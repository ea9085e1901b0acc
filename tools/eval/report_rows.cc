#include "tools/eval/report_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace fovea::tools {
namespace {

// A key of the JSON with its label and number of decimals; -1: an integer.
struct Field {
  const char* key;
  const char* name;
  int digits;
};
constexpr Field kModelFields[] = {{"bytes", "bytes", -1},
                                  {"accuracy", "accuracy", 4},
                                  {"macro_f1", "macro F1", 4},
                                  {"pearson", "Pearson", 4},
                                  {"spearman", "Spearman", 4},
                                  {"texts", "texts", -1},
                                  {"window", "window, tokens", -1},
                                  {"stride", "stride, tokens", -1},
                                  {"tokens", "counted tokens", -1},
                                  {"text_bytes", "bytes of counted tokens", -1},
                                  {"perplexity", "perplexity", 4},
                                  {"bits_per_token", "bits per token", 4},
                                  {"bits_per_byte", "bits per byte", 4}};
constexpr Field kAgreementFields[] = {{"same_class", "same class", 4},
                                      {"pearson", "Pearson of the scores", 4},
                                      {"spearman", "Spearman of the scores", 4},
                                      {"largest_difference", "largest difference of a score", 6}};

// NaN and infinities are null in JSON.
std::string Shown(const OrderedJson& value, int digits) {
  if (digits < 0) return Grouped(value.get<uint64_t>());
  const std::string text = value.is_null() ? "nan" : fmt::format("{:.{}f}", value.get<double>(), digits);
  return text == "nan" ? "undefined" : text;
}

}  // namespace

std::vector<ReportRow> ModelRows(const OrderedJson& told) {
  std::vector<ReportRow> rows;
  const OrderedJson& models = told["models"];
  if (models[0].contains("compared")) {
    rows.push_back({"compared", {}});
    for (const OrderedJson& model : models) rows.back().cells.push_back(model["compared"].get<std::string>());
  }
  for (const Field& field : kModelFields) {
    if (!models[0].contains(field.key)) continue;
    rows.push_back({field.name, {}});
    for (const OrderedJson& model : models) rows.back().cells.push_back(Shown(model[field.key], field.digits));
  }
  return rows;
}

std::vector<std::pair<std::string, std::string>> AgreementRows(const OrderedJson& told) {
  std::vector<std::pair<std::string, std::string>> rows;
  if (!told.contains("agreement")) return rows;
  const OrderedJson& agreement = told["agreement"];
  for (const Field& field : kAgreementFields) {
    if (agreement.contains(field.key)) rows.emplace_back(field.name, Shown(agreement[field.key], field.digits));
  }
  const OrderedJson& outputs = agreement["outputs"];
  if (outputs.is_null()) {
    rows.emplace_back("outputs", "not comparable (other tokens, classes or widths)");
    return rows;
  }
  if (outputs.contains("same_choice")) rows.emplace_back("rows with the same choice", Shown(outputs["same_choice"], 4));
  std::string cosines;
  for (const auto& [name, cosine] : outputs["cosine"].items()) {
    cosines += fmt::format("{}{} {}", cosines.empty() ? "" : "  ", name, Shown(cosine, 6));
  }
  rows.emplace_back("cosine of outputs",
                    fmt::format("{}  ({} rows)", cosines, Grouped(outputs["rows"].get<uint64_t>())));
  return rows;
}

std::string Caption(const OrderedJson& told) {
  std::string caption = Printable(told["file"].get<std::string>());
  if (told.contains("samples"))
    caption = fmt::format("{} samples of {}", Grouped(told["samples"].get<uint64_t>()), caption);
  return caption + (told.contains("interrupted") ? " (interrupted, incomplete)" : "");
}

}  // namespace fovea::tools
