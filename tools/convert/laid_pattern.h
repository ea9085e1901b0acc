// Applies sparse attention to models that were trained without it.
#ifndef FOVEA_TOOLS_CONVERT_LAID_PATTERN_H_
#define FOVEA_TOOLS_CONVERT_LAID_PATTERN_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/blob/blob.h"
#include "tools/convert/selected_rows.h"

namespace fovea::tools {

// Applied to self-attention layers; a row sees the keys that both its former pattern and this one allow.
struct LaidPattern {
  uint32_t window = 0;        // rows around each one, half on either side, or before it if causal; 0: all
  uint32_t global_first = 0;  // global attention for the first N rows of a text
  uint32_t top_k = 0;         // most keys of each row and head, by score; 0: all
  std::vector<std::pair<uint32_t, uint32_t>> layers = {};  // first and last layers of ranges; empty: all
  std::vector<RowSelection> selections = {};               // layers with fewer rows, ascending

  bool narrows() const { return window != 0 || global_first != 0 || top_k != 0; }
  bool any() const { return narrows() || !selections.empty(); }
};

// Parses "2-11" or "0,2-11", as in LaidPattern.
std::vector<std::pair<uint32_t, uint32_t>> ReadLayers(const std::string& text);

// Whether an attention is self-attention, including over cached rows.
bool IsLayer(const BlobContent& content, const BlobProgram& program, const BlobOperation& operation);

// Layers are counted in each program, by its attentions over rows of the same space and over cached rows; the cache
// keeps only rows within the windows. Records the pattern in metadata "attention.laid". Fails if there is no such
// layer, or if a layer has an incompatible pattern.
void LayPattern(const LaidPattern& pattern, BlobContent& content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_LAID_PATTERN_H_
