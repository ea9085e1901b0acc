// Reads a record without its steps from untrusted JSON.
#ifndef FOVEA_TOOLS_ATTEND_RECORD_READER_H_
#define FOVEA_TOOLS_ATTEND_RECORD_READER_H_

#include "tools/attend/record.h"
#include "tools/base/json.h"

namespace fovea::tools {

// Most rows of a space in a file: far more than in any text, but few enough to allocate entries for each.
inline constexpr uint32_t kMostRecordRows = 1u << 20;

// Checks the segments of a space: one for a space without a parent, else one for each row of the parent, which must be
// earlier in the list. `name` begins messages.
void CheckSpace(const std::vector<RecordSpace>& earlier, const RecordSpace& space, const std::string& name);

// Fails with the key of an invalid value.
AttentionRecord RecordFromJson(const JsonView& json);

// Nothing if the text is not base64.
std::optional<std::string> FromBase64(const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_RECORD_READER_H_
