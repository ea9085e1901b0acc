// Escapes foreign strings for XML and HTML.
#ifndef FOVEA_TOOLS_BASE_MARKUP_H_
#define FOVEA_TOOLS_BASE_MARKUP_H_

#include <string>

namespace fovea::tools {

// Printable text (printable.h), escaped for use in an element or an attribute.
std::string Markup(const std::string& raw);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_MARKUP_H_
