// Queries and keys of the rows of a record, by a second run that keeps them.
#ifndef FOVEA_TOOLS_ATTEND_VECTORS_H_
#define FOVEA_TOOLS_ATTEND_VECTORS_H_

#include "tools/attend/subject.h"

namespace fovea::tools {

// Most numbers of all vectors: they add 2 bytes each to a record, before base64.
inline constexpr uint64_t kMostVectorNumbers = 2u << 20;

// For the steps of a plan, which the record has in the same order. Notes steps whose queries are not one vector for
// each head; fails if there are too many numbers.
void AddVectors(const Model& model, const Batch& batch, SessionRequest request, const TapPlan& plan,
                AttentionRecord* record);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_VECTORS_H_
