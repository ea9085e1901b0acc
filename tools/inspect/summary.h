// The first lines of a report: what a model is, and what it takes to run it.
#ifndef FOVEA_TOOLS_INSPECT_SUMMARY_H_
#define FOVEA_TOOLS_INSPECT_SUMMARY_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/model/model.h"

namespace fovea::tools {

// Names and texts of six lines: kind, parameters, attention layers, tokenizer, weights, memory. `report`: what
// "fovea inspect --json" prints of the blob, its program and its plan.
std::vector<std::pair<std::string, std::string>> SummaryLines(const Model& model, const nlohmann::ordered_json& report);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_INSPECT_SUMMARY_H_
