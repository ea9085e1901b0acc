// Rows of token ids that a model is measured and calibrated on, where nobody can make them of texts.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLE_IDS_H_
#define FOVEA_TOOLS_CONVERT_SAMPLE_IDS_H_

#include <stdint.h>

#include <optional>
#include <vector>

#include "tools/common/batch.h"

namespace fovea::tools {

using IdRows = std::vector<std::vector<int32_t>>;

// As a program reads them; nothing if it needs more than the ids of texts. Fails, with the row, at ids and lengths that
// it cannot take.
std::optional<Batch> BatchOfIds(const Model& model, uint32_t program, const IdRows& rows);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLE_IDS_H_
