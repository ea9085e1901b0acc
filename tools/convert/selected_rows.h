// Layers that compute only the rows with the most attention, in a model that was trained with all rows.
#ifndef FOVEA_TOOLS_CONVERT_SELECTED_ROWS_H_
#define FOVEA_TOOLS_CONVERT_SELECTED_ROWS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/blob/blob.h"

namespace fovea::tools {

// From `layer` on: this share of each text's rows, rounded up: the rows with the largest attention weight in the layer
// before, summed over its heads and queries, and always the first row.
struct RowSelection {
  float share = 1;
  uint32_t layer = 1;
};

// Parses "0.5@4" or "0.7@3,0.5@6", each a share of the remaining rows.
std::vector<RowSelection> ReadSelections(const std::string& text);
std::string TextOf(const RowSelection& selection);

// Layers are counted as in LaidPattern, up to the last one with the same rows. Dropped rows keep their values at that
// point; after the last layer all rows are present again. Remaining rows keep their positions, for RoPE and for biases
// by distance; windows count the remaining rows. Fails if no program has such layers, or if an operation in between
// depends on neighbouring rows.
void SelectRows(const RowSelection& selection, BlobContent& content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SELECTED_ROWS_H_
