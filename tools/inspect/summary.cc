#include "tools/inspect/summary.h"

#include <fmt/format.h>
#include <stdint.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/text.h"
#include "tools/base/print.h"
#include "tools/base/printable.h"
#include "tools/model/parameters.h"

namespace fovea::tools {
namespace {

std::string KindLine(const OrderedJson& report) {
  const OrderedJson& metadata = report["metadata"];
  const auto value = [&](const char* key) {
    return metadata.contains(key) ? Printable(metadata[key].get<std::string>()) : std::string();
  };
  std::vector<std::string> parts;
  for (const std::string& part : {value("architecture"), value("task"), value("name")}) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts.empty() ? "not stated" : fmt::format("{}", fmt::join(parts, ", "));
}

// "1 row", "2 rows".
std::string Counted(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", Grouped(count), noun, count == 1 ? "" : "s");
}

// "12 of width 768 with 12 heads": layers of one shape together, in the order of their first.
std::string AttentionLine(const OrderedJson& report) {
  std::vector<std::pair<std::string, uint32_t>> shapes;
  for (const OrderedJson& step : report["program"]["steps"]) {
    if (!step.contains("heads")) continue;
    const std::string shape = fmt::format("of width {} with {}", step["width"].get<uint32_t>(),
                                          Counted(step["heads"].get<uint32_t>(), "head"));
    const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const auto& s) { return s.first == shape; });
    if (found == shapes.end()) {
      shapes.emplace_back(shape, 1);
    } else {
      ++found->second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [shape, count] : shapes) texts.push_back(fmt::format("{} {}", count, shape));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string TokenizerLine(const Model& model) {
  fovea_text_info info = FOVEA_TEXT_INFO_INIT;
  if (fovea_text_get_info(model.get(), &info, nullptr) != FOVEA_OK) return "none";
  const char* const kind = info.kind == FOVEA_TEXT_WORD_PIECE ? "WordPiece"
                           : info.kind == FOVEA_TEXT_UNIGRAM  ? "Unigram"
                                                              : "BPE";
  return fmt::format(
      "{}, {} tokens, {}", kind, Grouped(info.vocabulary),
      info.max_length == 0 ? "texts of any length" : fmt::format("texts of up to {}", Grouped(info.max_length)));
}

std::string WeightsLine(const Model& model) {
  return fmt::format("{}; blob of {}", WeightText(WeightBytes(model)), ShortBytes(model.Info().blob_bytes));
}

std::string MemoryLine(const OrderedJson& report) {
  const OrderedJson& plan = report["plan"];
  uint64_t bytes = 0;
  for (const OrderedJson& block : plan["bytes"]) bytes += block.get<uint64_t>();
  std::vector<std::string> limits;
  for (const OrderedJson& limit : plan["limits"]) {
    limits.push_back(Counted(limit["rows"].get<uint64_t>(), "row") + " of " +
                     Printable(limit["space"].get<std::string>()));
  }
  return fmt::format("{} beside the blob, for {}, {}, {}", ShortBytes(bytes), fmt::join(limits, ", "),
                     Counted(plan["workers"].get<uint32_t>(), "thread"), Printable(plan["backend"].get<std::string>()));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> SummaryLines(const Model& model, const OrderedJson& report) {
  return {{"kind", KindLine(report)},           {"parameters", ParameterText(ParameterCount(model))},
          {"attention", AttentionLine(report)}, {"tokenizer", TokenizerLine(model)},
          {"weights", WeightsLine(model)},      {"memory", MemoryLine(report)}};
}

}  // namespace fovea::tools
