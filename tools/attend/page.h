// Writes a record as a self-contained HTML page.
#ifndef FOVEA_TOOLS_ATTEND_PAGE_H_
#define FOVEA_TOOLS_ATTEND_PAGE_H_

#include <string>

namespace fovea::tools {

// `record`: JSON. It is escaped so that no text in it can end the element that contains it.
std::string PageOf(const std::string& record);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_PAGE_H_
