// How much of a sound programs read that hear clips of one length.
#ifndef FOVEA_TOOLS_CONVERT_CLIP_LENGTHS_H_
#define FOVEA_TOOLS_CONVERT_CLIP_LENGTHS_H_

#include "tools/blob/blob.h"

namespace fovea::tools {

// Adds metadata "clip_length.<input>" for inputs of sound (metadata "sampling_rate.<input>") of which nothing is read
// but the frames of a spectrum, and always as many of these: then what comes after the last frame has no effect.
void AddClipLengths(BlobContent* content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CLIP_LENGTHS_H_
