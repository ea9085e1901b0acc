// Attention of Longformer and of what descends from it: rows see a window and the global rows; these have projections
// of their own, see all and are seen by all.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LONGFORMER_ATTENTION_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LONGFORMER_ATTENTION_H_

#include <string>
#include <vector>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// Keys to each side, for each layer: half of attention_window.
std::vector<uint32_t> LongformerSides(const Config& config, uint32_t layers);

// The space of the global rows: `first`: the first of each text, else those that input global_attention_mask marks.
Space GlobalRowsSpace(bool first);
// Chooses them.
void AddGlobalRows(ProgramBuilder& builder, bool first);

struct LongformerAttention {
  uint32_t heads, side;
  std::string in;                 // what the projections read
  std::string query, key, value;  // layers as they are stored; those of global rows end with _global
  std::string at;                 // what names of values begin with: <at>query, <at>key and <at>value are there
  std::string prefix;  // of the names of steps: <prefix>attentions.<layer>, <prefix>global_attentions.<layer>
  uint32_t layer;
};
// The rows that were attended.
std::string AddLongformerAttention(const LongformerAttention& attention, ProgramBuilder& builder,
                                   Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LONGFORMER_ATTENTION_H_
