// White space of texts.
#ifndef FOVEA_TOOLS_TEXT_WHITE_SPACE_H_
#define FOVEA_TOOLS_TEXT_WHITE_SPACE_H_

#include <string>

namespace fovea::tools {

// Removes leading and trailing Unicode white space.
std::string StripWhiteSpace(const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_WHITE_SPACE_H_
