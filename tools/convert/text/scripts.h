// Scripts of characters: \p{Han} and the like.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_SCRIPTS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_SCRIPTS_H_

#include <cstdint>
#include <string>

namespace fovea::tools {

// Whether a script is in the tables: Arabic, Bengali, Cyrillic, Devanagari, Greek, Han, Hangul, Hebrew, Hiragana,
// Katakana, Latin, Thai.
bool IsScript(const std::string& name);
bool IsInScript(const std::string& name, uint32_t code);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_SCRIPTS_H_
