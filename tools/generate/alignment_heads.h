// The decoder's alignment heads (cross-attention heads that follow the audio), and their weights.
#ifndef FOVEA_TOOLS_GENERATE_ALIGNMENT_HEADS_H_
#define FOVEA_TOOLS_GENERATE_ALIGNMENT_HEADS_H_

#include <vector>

#include "tools/generate/generation.h"
#include "tools/generate/word_times.h"

namespace fovea::tools {

class AlignmentHeads {
 public:
  // The heads of metadata transcribe.alignment_heads, or else of the later half of the layers. Fails if the decoder
  // lacks one of them.
  explicit AlignmentHeads(const Model& model);

  // The taps for the decoder's session, which must have no other taps.
  const std::vector<fovea_tap>& taps() const { return taps_; }
  // Weights of the last run: `rows` rows from `first` on, and the first `frames` keys.
  HeadWeights Weights(const Session& decode, size_t first, size_t rows, size_t frames) const;

 private:
  std::vector<fovea_tap> taps_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_ALIGNMENT_HEADS_H_
