// Whether a selection of rows drops the rest.
#ifndef FOVEA_TOOLS_ATTEND_DROPPED_ROWS_H_
#define FOVEA_TOOLS_ATTEND_DROPPED_ROWS_H_

#include "tools/common/model.h"

namespace fovea::tools {

// Whether the model continues with the rows that step `step` (select or expand) chooses, and without the others: not if
// the others are read again, as beside the global rows of Longformer, nor if a row is taken as the result of a text, as
// the last token in CLIP.
bool DropsRows(const Model& model, uint32_t program, uint32_t step);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_DROPPED_ROWS_H_
