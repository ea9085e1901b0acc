// Scripts of characters: \p{Han} and the like.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_SCRIPTS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_SCRIPTS_H_

#include <string>

#include "tools/convert/text/code_ranges.h"

namespace fovea::tools {

// Whether a script is in the tables: Arabic, Bengali, Cyrillic, Devanagari, Greek, Han, Hangul, Hebrew, Hiragana,
// Katakana, Latin, Thai.
bool IsScript(const std::string& name);
CodeRanges Script(const std::string& name);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_SCRIPTS_H_
