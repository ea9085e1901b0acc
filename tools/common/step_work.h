// How much work each step of a program does for the rows that a session has.
#ifndef FOVEA_TOOLS_COMMON_STEP_WORK_H_
#define FOVEA_TOOLS_COMMON_STEP_WORK_H_

#include <numeric>
#include <vector>

#include "tools/common/session.h"

namespace fovea::tools {

// Of each step, pairs of a query and a key whose score it makes, all heads together (fovea_session_step_pairs); 0 for
// other steps than attention, and where nothing is known of the rows yet.
inline std::vector<uint64_t> StepPairs(const Model& model, const Session& session) {
  std::vector<uint64_t> pairs(model.Program(session.request().program).step_count);
  for (uint32_t i = 0; i < pairs.size(); ++i) fovea_session_step_pairs(session.get(), i, &pairs[i]);
  return pairs;
}

// Floating point operations of each step with the segments that are bound. Rows that a run selects count from that run
// on.
inline std::vector<double> StepFlops(const Model& model, const Session& session) {
  const uint32_t program = session.request().program;
  const std::vector<uint64_t> pairs = StepPairs(model, session);
  std::vector<double> flops(pairs.size());
  for (uint32_t i = 0; i < flops.size(); ++i) {
    const fovea_step_info step = model.Step(program, i);
    const std::vector<uint32_t> rows = session.Lengths(model.Value(program, step.output).space);
    flops[i] = step.flops_per_row * static_cast<double>(std::accumulate(rows.begin(), rows.end(), uint64_t{0}));
    if (step.heads != 0) flops[i] += step.flops_per_row_key / step.heads * static_cast<double>(pairs[i]);
  }
  return flops;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_STEP_WORK_H_
