// Model descriptions written as JSON; README.md beside this file explains them.
#ifndef FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_
#define FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// Files that it names lie in `source`, if that is not empty, or beside the description.
Description ReadGraph(const std::string& path, const std::string& source);
// The same from the text itself, which is said to lie in `directory`. `where` begins messages.
Description ParseGraph(const std::string& text, const std::string& directory, const std::string& where,
                       const std::string& source = "");

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_
