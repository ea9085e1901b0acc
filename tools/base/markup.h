// Foreign strings within XML and HTML.
#ifndef FOVEA_TOOLS_BASE_MARKUP_H_
#define FOVEA_TOOLS_BASE_MARKUP_H_

#include <string>

namespace fovea::tools {

// As printable text (printable.h) whose characters stand for themselves in an element or an attribute.
std::string Markup(const std::string& raw);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_MARKUP_H_
