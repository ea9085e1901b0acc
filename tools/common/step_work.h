// How much work each step of a program does for the rows that a session has.
#ifndef FOVEA_TOOLS_COMMON_STEP_WORK_H_
#define FOVEA_TOOLS_COMMON_STEP_WORK_H_

#include <numeric>
#include <vector>

#include "tools/common/session.h"

namespace fovea::tools {

// Floating point operations of each step with the segments that are bound. Attention counts every key of a segment, also where the
// pattern hides some. Rows that a run selects count from that run on.
inline std::vector<double> StepFlops(const Model& model, const Session& session) {
  const uint32_t program = session.request().program;
  std::vector<double> flops(model.Program(program).step_count);
  for (uint32_t i = 0; i < flops.size(); ++i) {
    const fovea_step_info step = model.Step(program, i);
    const std::vector<uint32_t> rows = session.Lengths(model.Value(program, step.output).space);
    flops[i] = step.flops_per_row * static_cast<double>(std::accumulate(rows.begin(), rows.end(), uint64_t{0}));
    if (step.flops_per_row_key == 0 || step.input_count < 2) continue;
    const std::vector<uint32_t> keys = session.Lengths(model.Value(program, step.inputs[1]).space);
    for (size_t s = 0; s < keys.size(); ++s) {
      const double queries = rows.size() == keys.size() ? rows[s] : rows.empty() ? 0 : 1;
      flops[i] += step.flops_per_row_key * queries * keys[s];
    }
  }
  return flops;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_STEP_WORK_H_
