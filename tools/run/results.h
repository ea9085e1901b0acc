// The results that `fovea run --input` writes: outputs, and requested values and attention maps.
#ifndef FOVEA_TOOLS_RUN_RESULTS_H_
#define FOVEA_TOOLS_RUN_RESULTS_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/model/model.h"

namespace fovea::tools {

struct Results {
  // Result name, and index of the value or attention operation.
  std::vector<std::pair<std::string, uint32_t>> values, attentions;
  // Requested names that are not written, with the reason.
  std::vector<std::string> left_out;
};

// Outputs by the names of published libraries. `trace`: also hidden_states.N and attentions.N. `patterns`: names of
// additional values and attention operations, with * as wildcard; an operation with the same name as a value is written
// as <name>.weights. Fails for a pattern that matches nothing.
Results ResultsOf(const Model& model, uint32_t program, bool trace, const std::vector<std::string>& patterns);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_RUN_RESULTS_H_
