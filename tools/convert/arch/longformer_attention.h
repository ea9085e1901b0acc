// Attention of Longformer and its descendants: tokens see a window and the global tokens; these have separate
// projections, see all tokens and are seen by all.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LONGFORMER_ATTENTION_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LONGFORMER_ATTENTION_H_

#include <string>
#include <vector>

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

// Keys to each side, for each layer: half of attention_window.
std::vector<uint32_t> LongformerSides(const Config& config, uint32_t layers);

// Sets the attention of a stack. `sides`: the keys on each side of a layer's window. The global tokens are the first
// one of each text, or marked by input global_attention_mask.
void SeeWindows(const std::vector<uint32_t>& sides, bool first_is_global, Description& description, LayerStack& stack);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LONGFORMER_ATTENTION_H_
