// Inputs for measurements that need no data.
#ifndef FOVEA_TOOLS_MEASURE_SYNTHETIC_BATCH_H_
#define FOVEA_TOOLS_MEASURE_SYNTHETIC_BATCH_H_

#include <stdint.h>

#include <vector>

#include "tools/model/batch.h"

namespace fovea::tools {

// A synthetic batch for measurements. Segments have the given lengths in every input space that has a parent (a space
// without one gets their sum); spaces with segments of fixed length get that number of segments, sounds 10 ms a row.
// Ids and numbers come from a fixed sequence; marks (ids without a limit) are set on the first row of each segment.
// If the parent is itself nested, its rows are divided among as few segments as possible.
Batch SyntheticBatch(const Model& model, uint32_t program, const std::vector<uint32_t>& lengths);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEASURE_SYNTHETIC_BATCH_H_
