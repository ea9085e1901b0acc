// Attention maps of a decoder while it generates.
#ifndef FOVEA_TOOLS_ATTEND_WRITTEN_H_
#define FOVEA_TOOLS_ATTEND_WRITTEN_H_

#include "tools/attend/attend.h"

namespace fovea::tools {

// Generates as `fovea generate` does, after prompts or for an encoder's input (sources, sounds, images), and records
// the attention maps. If the model has program `score`, it reads the finished texts at once, with the same weights as
// step by step. Otherwise the decoder's cross-attention is recorded step by step.
AttentionRecord AttendWritten(const Model& model, const AttendRequest& request, bool only_bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_WRITTEN_H_
