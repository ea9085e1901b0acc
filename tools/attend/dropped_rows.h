// Whether the rows that a selection does not choose are dropped.
#ifndef FOVEA_TOOLS_ATTEND_DROPPED_ROWS_H_
#define FOVEA_TOOLS_ATTEND_DROPPED_ROWS_H_

#include "tools/model/model.h"

namespace fovea::tools {

// Whether the model continues with the rows that operation `step` (select or expand) chooses and never reads the rest:
// false if the rest is read again, as next to the global rows of Longformer, or if the chosen row is the result of a
// text, as the last token in CLIP.
bool DropsRows(const Model& model, uint32_t program, uint32_t step);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_DROPPED_ROWS_H_
