// Attention of a decoder while it writes.
#ifndef FOVEA_TOOLS_ATTEND_WRITTEN_H_
#define FOVEA_TOOLS_ATTEND_WRITTEN_H_

#include "tools/attend/attend.h"

namespace fovea::tools {

// What `fovea generate` writes after prompts, or for what an encoder reads (sources, sounds, pictures), and where the
// model looked. Program `score` reads the finished texts at once: its weights are those of the steps. A decoder without
// that program is looked at step by step, and shows its attention to what the encoder made.
AttentionRecord AttendWritten(const Model& model, const AttendRequest& request, bool only_bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_WRITTEN_H_
