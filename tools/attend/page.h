// A record as a page of its own that a browser opens, without anything from elsewhere.
#ifndef FOVEA_TOOLS_ATTEND_PAGE_H_
#define FOVEA_TOOLS_ATTEND_PAGE_H_

#include <string>

namespace fovea::tools {

// `record`: JSON. No text in it ends the element that it stands in.
std::string PageOf(const std::string& record);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_PAGE_H_
