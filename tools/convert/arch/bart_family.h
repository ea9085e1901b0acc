// Stacks whose layers are named as BART's: learned or sinusoidal positions, pre-norm or post-norm.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_BART_FAMILY_H_
#define FOVEA_TOOLS_CONVERT_ARCH_BART_FAMILY_H_

#include <optional>
#include <string>

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

struct BartLike {
  std::string prefix = "model.";     // stored names begin with it
  bool norms_before = false;         // pre-norm, and one more norm after the last layer
  uint32_t first_position = 0;       // row of the position table for the first token
  bool sinusoidal = false;           // the table is not stored: sines, then cosines
  bool inclusive = false;            // its last frequency is 1 / 10000
  uint32_t first_angle = 0;          // the position of row 0
  bool decoder_norms_words = false;  // before positions are added, and does not scale them
  bool windows = false;              // the encoder attends as Longformer does
  bool starts_with_last = false;     // a decoder that reads the text itself starts with its last token
  // Keys of config.json with the number of positions.
  std::string encoder_positions = "max_position_embeddings", decoder_positions = "max_position_embeddings";
  std::optional<uint32_t> positions = {};  // their default
};

// `side`: "encoder" or "decoder".
LayerStack BartStack(const BartLike& family, const std::string& side, const Config& config, Description& description);
// Sets metadata max_positions from the table of positions of a stack.
void SetPositions(const LayerStack& stack, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_BART_FAMILY_H_
