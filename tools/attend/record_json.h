// The attention record as JSON, version 1.
#ifndef FOVEA_TOOLS_ATTEND_RECORD_JSON_H_
#define FOVEA_TOOLS_ATTEND_RECORD_JSON_H_

#include <string>

#include "tools/attend/record.h"
#include "tools/base/print.h"

namespace fovea::tools {

// Weights are written as f32 up to this total size, beyond it as f16.
inline constexpr uint64_t kMostExactBytes = 8u << 20;
inline constexpr uint64_t kMostExactSoundBytes = 3'300'000;

uint64_t WeightCount(const AttentionRecord& record);

OrderedJson RecordJson(const AttentionRecord& record);

// JSON on one line, without a line end.
std::string RecordText(const AttentionRecord& record);

std::string Base64(const void* bytes, size_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_RECORD_JSON_H_
