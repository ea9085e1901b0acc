// Attention that sees less than its model was trained with.
#ifndef FOVEA_TOOLS_CONVERT_LAID_PATTERN_H_
#define FOVEA_TOOLS_CONVERT_LAID_PATTERN_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/blob/blob.h"
#include "tools/convert/selected_rows.h"

namespace fovea::tools {

// Laid over layers in which the rows of a text look at each other: what they saw before bounds what they see.
struct LaidPattern {
  uint32_t window = 0;  // rows around each one, half on either side, or up to it where attention is causal; 0: all
  uint32_t global_first = 0;  // so many rows at the beginning of a text see all, and all see them
  uint32_t top_k = 0;         // only so many keys of each row and head, those with the highest scores; 0: all
  std::vector<std::pair<uint32_t, uint32_t>> layers = {};  // first and last ones; empty: all
  std::vector<RowSelection> selections = {};               // layers with fewer rows, in ascending order

  bool narrows() const { return window != 0 || global_first != 0 || top_k != 0; }
  bool any() const { return narrows() || !selections.empty(); }
};

// "2-11" or "0,2-11", as in LaidPattern.
std::vector<std::pair<uint32_t, uint32_t>> ReadLayers(const std::string& text);

// Attention of rows that look at each other, also at those that a text had before.
bool IsLayer(const BlobContent& content, const BlobProgram& program, const BlobOperation& operation);

// Layers are counted in each program, by its attentions of rows over rows of the same space and those kept of it, of
// which no more is kept than windows see. Says in the metadata "attention.laid" what was done. Fails if there is
// nothing to lay the pattern over, or a layer has one of another kind.
void LayPattern(const LaidPattern& pattern, BlobContent& content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_LAID_PATTERN_H_
