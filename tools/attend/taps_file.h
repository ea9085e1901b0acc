// Safetensors files of taps (include/fovea/tap.h), recorded on a device or to be plotted.
#ifndef FOVEA_TOOLS_ATTEND_TAPS_FILE_H_
#define FOVEA_TOOLS_ATTEND_TAPS_FILE_H_

#include <string>

#include "tools/attend/record.h"

namespace fovea::tools {

// Fails with the tensor or key of an invalid value. If the file has no record (see below), rows have no labels.
AttentionRecord ReadTapsFile(const std::string& path);
AttentionRecord ParseTapsFile(const uint8_t* data, uint64_t size, const std::string& where);

// Writes the same tensors and metadata, and in addition metadata "record" (its JSON without steps), tap.N.layer and
// tap.N.part.
std::string TapsFileOf(const AttentionRecord& record);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_TAPS_FILE_H_
