// The heads of a decoder that look at what they write down, and their weights.
#ifndef FOVEA_TOOLS_GENERATE_ALIGNMENT_HEADS_H_
#define FOVEA_TOOLS_GENERATE_ALIGNMENT_HEADS_H_

#include <vector>

#include "tools/generate/generation.h"
#include "tools/generate/word_times.h"

namespace fovea::tools {

class AlignmentHeads {
 public:
  // As metadata transcribe.alignment_heads says, else all of the later half of the layers. Fails where the decoder
  // lacks one.
  explicit AlignmentHeads(const Model& model);

  // For the decoder's session, as its only ones.
  const std::vector<fovea_tap>& taps() const { return taps_; }
  // Of so many rows of the last run from `first` on, and of the first `frames` keys.
  HeadWeights Weights(const Session& decode, size_t first, size_t rows, size_t frames) const;

 private:
  std::vector<fovea_tap> taps_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_ALIGNMENT_HEADS_H_
