// What `fovea run` writes of a program: outputs, and values and attention steps that are asked for.
#ifndef FOVEA_TOOLS_RUN_RESULTS_H_
#define FOVEA_TOOLS_RUN_RESULTS_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/common/model.h"

namespace fovea::tools {

struct Results {
  // Names under which they are written, with the value or attention step of each.
  std::vector<std::pair<std::string, uint32_t>> values, attentions;
  // What was asked for and is not written, and why.
  std::vector<std::string> left_out;
};

// Outputs, and what models of published libraries call their results. `trace`: hidden_states.N and attentions.N too.
// `patterns`: names of other values and attention steps, in which * stands for anything; a step that is called like a
// value is written as <name>.weights. Fails where one of them names nothing.
Results ResultsOf(const Model& model, uint32_t program, bool trace, const std::vector<std::string>& patterns);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_RUN_RESULTS_H_
