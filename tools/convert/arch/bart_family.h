// Stacks whose layers are named as BART's: learned or sinusoidal positions, norms in front or after the sums.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_BART_FAMILY_H_
#define FOVEA_TOOLS_CONVERT_ARCH_BART_FAMILY_H_

#include <optional>
#include <string>

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

struct BartLike {
  std::string prefix = "model.";     // of stored names
  bool norms_before = false;         // in front of attention and feed-forward, and one more at the end
  uint32_t first_position = 0;       // row of the position table that the first token gets
  bool sinusoidal = false;           // the table is not stored: sines, then cosines
  bool inclusive = false;            // its last frequency is 1 / 10000
  uint32_t first_angle = 0;          // the position that row 0 stands for
  bool decoder_norms_words = false;  // before positions are added, and does not scale them
  bool windows = false;              // the encoder attends as Longformer does
  // Where config.json has the number of positions.
  std::string encoder_positions = "max_position_embeddings", decoder_positions = "max_position_embeddings";
  std::optional<uint32_t> positions = {};  // where it does not say
};

// `side`: "encoder" or "decoder".
LayerStack BartStack(const BartLike& family, const std::string& side, const Config& config, Description& description);
// Positions of a stack, as metadata and tables have them.
void SetPositions(const LayerStack& stack, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_BART_FAMILY_H_
