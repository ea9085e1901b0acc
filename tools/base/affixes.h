// How strings begin and end.
#ifndef FOVEA_TOOLS_BASE_AFFIXES_H_
#define FOVEA_TOOLS_BASE_AFFIXES_H_

#include <string>

namespace fovea::tools {

inline bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

inline bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_AFFIXES_H_
