// Rows of a finished run as results: pooled, activated, normalised.
#ifndef FOVEA_RUNTIME_RESULT_READ_H_
#define FOVEA_RUNTIME_RESULT_READ_H_

#include "fovea/result.h"
#include "runtime/session/session.h"

namespace fovea {

// Checks that the info fits the session, and counts its results.
Status CountResults(const Session& session, const fovea_result_info& info, Reporter& reporter, uint32_t* count);
Status ReadResults(const Session& session, const fovea_result_info& info, uint32_t first, uint32_t count, float* out,
                   uint64_t capacity, Reporter& reporter);

// Divides a row by its length; zeros remain.
void Normalize(float* row, uint32_t width);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_READ_H_
