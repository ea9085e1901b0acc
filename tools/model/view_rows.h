// Converts rows of values between their stored type and floats.
#ifndef FOVEA_TOOLS_MODEL_VIEW_ROWS_H_
#define FOVEA_TOOLS_MODEL_VIEW_ROWS_H_

#include "fovea/session.h"

namespace fovea::tools {

// Reads a row of any type as floats.
void ReadRow(const fovea_view& view, uint32_t row, float* to);

// Writes floats as a row of any type but i32, rounded to that type.
void WriteRow(const float* from, const fovea_view& view, uint32_t row);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_VIEW_ROWS_H_
