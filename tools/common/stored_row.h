// Rows of values as a session stores them, from and to floats.
#ifndef FOVEA_TOOLS_COMMON_STORED_ROW_H_
#define FOVEA_TOOLS_COMMON_STORED_ROW_H_

#include "fovea/session.h"

namespace fovea::tools {

// A row of any type as floats.
void ReadRow(const fovea_view& view, uint32_t row, float* to);

// Floats as a row of any type but i32, rounded to what it can hold.
void WriteRow(const float* from, const fovea_view& view, uint32_t row);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_STORED_ROW_H_
