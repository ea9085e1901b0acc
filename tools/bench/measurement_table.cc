#include "tools/bench/measurement_table.h"

#include <fmt/format.h>
#include <stdint.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/base/print.h"
#include "tools/base/printable.h"
#include "tools/base/replaced.h"
#include "tools/model/parameters.h"

namespace fovea::tools {
namespace {

// Titles and values. `exact`: numbers for programs.
std::vector<std::pair<std::string, std::string>> Columns(const OrderedJson& measured, bool exact) {
  const auto text = [](const OrderedJson& value) { return Printable(value.get<std::string>()); };
  const auto number = [](const OrderedJson& value, int digits) {
    return fmt::format("{:.{}f}", value.get<double>(), digits);
  };
  const uint64_t parameters = measured["parameters"].get<uint64_t>();
  uint64_t bytes = 0;
  for (const char* block : {"model", "fixed", "state", "scratch"}) bytes += measured["bytes"][block].get<uint64_t>();
  return {{"model", text(measured["model"])},
          {"parameters", exact ? std::to_string(parameters) : ParameterText(parameters)},
          {"weights", WeightText(measured["weights"].get<std::map<std::string, uint64_t>>())},
          {"processor", text(measured["machine"]["processor"])},
          {"vectors", text(measured["vectors"])},
          {"threads", std::to_string(measured["workers"].get<uint32_t>())},
          {"rows", std::to_string(measured["rows"].get<uint64_t>())},
          {"texts", std::to_string(measured["texts"].get<uint64_t>())},
          {"mean ms", number(measured["mean_ms"], 3)},
          {"deviation ms", number(measured["deviation_ms"], 3)},
          {"p50 ms", number(measured["latency_ms"]["p50"], 3)},
          {"rows/s", number(measured["rows_per_second"], 0)},
          {"memory MiB", fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20))}};
}

std::string CsvField(const std::string& text) {
  return text.find_first_of(",\"\n") == std::string::npos ? text : '"' + ReplacedAll(text, "\"", "\"\"") + '"';
}

}  // namespace

std::string MeasurementMarkdown(const OrderedJson& measured) {
  std::string titles = "|", rule = "|", values = "|";
  for (const auto& [title, value] : Columns(measured, false)) {
    titles += " " + title + " |";
    rule += "---|";
    values += " " + ReplacedAll(value, "|", "\\|") + " |";
  }
  return titles + "\n" + rule + "\n" + values + "\n";
}

std::string MeasurementCsv(const OrderedJson& measured) {
  std::vector<std::string> titles, values;
  for (const auto& [title, value] : Columns(measured, true)) {
    titles.push_back(CsvField(title));
    values.push_back(CsvField(value));
  }
  return fmt::format("{}\n{}\n", fmt::join(titles, ","), fmt::join(values, ","));
}

}  // namespace fovea::tools
