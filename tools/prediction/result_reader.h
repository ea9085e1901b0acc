// Results of a run, read by the library (fovea/result.h).
#ifndef FOVEA_TOOLS_PREDICTION_RESULT_READER_H_
#define FOVEA_TOOLS_PREDICTION_RESULT_READER_H_

#include <stdint.h>

#include <optional>
#include <vector>

#include "fovea/result.h"
#include "tools/model/model.h"
#include "tools/model/session.h"

namespace fovea::tools {

// How the results of a program are read; nothing if its outputs are no results of a text alone (it generates
// text, or answers questions).
std::optional<fovea_result_info> FindResultInfo(const Model& model, uint32_t program);
// The same, or fails.
fovea_result_info ResultInfoOf(const Model& model, uint32_t program);

// Results `first` to `first + count - 1` of the last run, or all.
Matrix ReadResults(const Model& model, const Session& session, const fovea_result_info& info, uint32_t first,
                   uint32_t count);
Matrix ReadAllResults(const Model& model, const Session& session, const fovea_result_info& info);

// The indices of the `top` largest scores, the largest first.
std::vector<uint32_t> Best(const float* scores, uint32_t count, uint32_t top);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_RESULT_READER_H_
