// Safetensors files of taps, as include/fovea/tap.h describes them: what a device recorded, or what is to be plotted.
#ifndef FOVEA_TOOLS_ATTEND_TAPS_FILE_H_
#define FOVEA_TOOLS_ATTEND_TAPS_FILE_H_

#include <string>

#include "tools/attend/record.h"

namespace fovea::tools {

// Fails with the tensor or key of what does not fit. Where the file has no record (see below), rows have no labels.
AttentionRecord ReadTapsFile(const std::string& path);
AttentionRecord ParseTapsFile(const uint8_t* data, uint64_t size, const std::string& where);

// The same tensors and metadata of a record, and beside them metadata "record": its JSON without steps, and
// tap.N.layer, tap.N.part.
std::string TapsFileOf(const AttentionRecord& record);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_TAPS_FILE_H_
