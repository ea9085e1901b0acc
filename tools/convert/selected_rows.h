// Layers that work on the rows which others look at most, in a model that was trained with all of them.
#ifndef FOVEA_TOOLS_CONVERT_SELECTED_ROWS_H_
#define FOVEA_TOOLS_CONVERT_SELECTED_ROWS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/blob/blob.h"

namespace fovea::tools {

// From `layer` on this share of each text's rows, rounded up: those that get the most weight in the layer before,
// summed over its heads and queries, and the first row in any case.
struct RowSelection {
  float share = 1;
  uint32_t layer = 1;
};

// "0.5@4" or "0.7@3,0.5@6": each a share of the rows that are left.
std::vector<RowSelection> ReadSelections(const std::string& text);
std::string TextOf(const RowSelection& selection);

// Layers are counted as LaidPattern has them, up to the last one of the same rows. Rows that are not chosen stay as
// they are at that point; after the last layer all are there again, and what follows works on all. Positions of the
// rows that are left stay what they were, in rotary positions and biases by distance; windows count the rows that are
// left. Fails if no program has such layers, or one has an operation in between that goes by where rows stand.
void SelectRows(const RowSelection& selection, BlobContent& content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SELECTED_ROWS_H_
