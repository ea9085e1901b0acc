// A record without its steps, from JSON that nobody vouches for.
#ifndef FOVEA_TOOLS_ATTEND_RECORD_READER_H_
#define FOVEA_TOOLS_ATTEND_RECORD_READER_H_

#include "tools/attend/record.h"
#include "tools/base/json.h"

namespace fovea::tools {

// Rows of a space in a file: more than any text, and few enough to hold something for each.
inline constexpr uint32_t kMostRecordRows = 1u << 20;

// Checks what the spaces of a record need to hold together: one segment without a parent, else one for each row of it,
// which comes earlier. `name` begins messages.
void CheckSpace(const std::vector<RecordSpace>& earlier, const RecordSpace& space, const std::string& name);

// Fails with the key of what does not fit.
AttentionRecord RecordFromJson(const JsonView& json);

// Nothing if it is no base64.
std::optional<std::string> FromBase64(const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_RECORD_READER_H_
