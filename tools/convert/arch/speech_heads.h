// The end of encoders of speech: an adapter that shortens the sequence, and heads for frames and clips.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_SPEECH_HEADS_H_
#define FOVEA_TOOLS_CONVERT_ARCH_SPEECH_HEADS_H_

#include <string>
#include <vector>

#include "tools/convert/arch/convolution.h"

namespace fovea::tools {

// A convolution half of whose channels are gates of the other half. `space`: the space of the result; that of `in` if
// the convolution keeps the length.
std::string AddGatedConvolution(Convolution convolution, Weights& weights, ProgramBuilder& builder,
                                const std::string& in, const std::string& out, const std::string& space);

// The strided spaces of convolutions that follow each other over rows of `of`: "adapted.0", ..
std::vector<Space> AdaptedSpaces(const std::vector<Convolution>& convolutions, const Weights& weights,
                                 const std::string& of);

// Half of the columns, by the sigmoid of the other half.
std::string AddGatedHalf(ProgramBuilder& builder, const std::string& in, uint32_t width, const std::string& out);

// Ends the program: of `last`, in space `space`, CTC scores of each frame (lm_head), classes of each frame
// (classifier) or of a clip (projector, mean, classifier), or the rows as they are. `states`: all hidden states, which
// classes may be a weighted sum of.
struct SpeechHeads {
  std::string last, space;
  std::vector<std::string> states;
};
void FinishSpeech(const SpeechHeads& heads, const Checkpoint& checkpoint, Description& description,
                  ProgramBuilder& builder);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_SPEECH_HEADS_H_
