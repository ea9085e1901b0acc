// English names of languages, as Whisper's original takes them where its tokens have codes.
#ifndef FOVEA_TOOLS_TEXT_SPEECH_LANGUAGES_H_
#define FOVEA_TOOLS_TEXT_SPEECH_LANGUAGES_H_

#include <string>

namespace fovea::tools {

// The code of a language, given its name or code in any case ("hi" for "Hindi" and "HI"); empty for any other text.
std::string LanguageCodeOf(const std::string& name);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_SPEECH_LANGUAGES_H_
