// Determines the samples that a program with clips of fixed length reads.
#ifndef FOVEA_TOOLS_CONVERT_CLIP_LENGTHS_H_
#define FOVEA_TOOLS_CONVERT_CLIP_LENGTHS_H_

#include "tools/blob/blob.h"

namespace fovea::tools {

// Adds metadata "clip_length.<input>" for audio inputs (metadata "sampling_rate.<input>") that are only read as a fixed
// number of frames of a spectrum: later samples have no effect.
void AddClipLengths(BlobContent* content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CLIP_LENGTHS_H_
