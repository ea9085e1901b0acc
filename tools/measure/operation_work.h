// Amount of work of each operation of a program for the rows of a session.
#ifndef FOVEA_TOOLS_MEASURE_OPERATION_WORK_H_
#define FOVEA_TOOLS_MEASURE_OPERATION_WORK_H_

#include <vector>

#include "ports/bench.h"
#include "tools/model/session.h"

namespace fovea::tools {

// For each operation, the query-key pairs whose score is computed, in all heads (fovea_session_get_step_pairs); 0 for
// operations other than attention, and while the rows are unknown.
inline std::vector<uint64_t> OperationPairs(const Model& model, const Session& session) {
  std::vector<uint64_t> pairs(model.Program(session.request().program).step_count);
  for (uint32_t i = 0; i < pairs.size(); ++i) fovea_session_get_step_pairs(session.get(), i, &pairs[i]);
  return pairs;
}

// Floating point operations of each operation for the bound segments. Rows that a run selects are counted after that
// run.
inline std::vector<double> OperationFlops(const Model& model, const Session& session) {
  const uint32_t program = session.request().program;
  std::vector<double> flops(model.Program(program).step_count);
  for (uint32_t i = 0; i < flops.size(); ++i) {
    flops[i] = fovea_bench_step_flops(model.get(), session.get(), program, i);
  }
  return flops;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEASURE_OPERATION_WORK_H_
