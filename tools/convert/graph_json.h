// Model descriptions written as JSON; README.md beside this file explains them.
#ifndef FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_
#define FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// Reads a description. Files that it names are in `source`, or if that is empty in the description's directory.
Description ReadGraph(const std::string& path, const std::string& source);
// Parses a description from `text`, as if it were a file in `directory`. Messages begin with `where`.
Description ParseGraph(const std::string& text, const std::string& directory, const std::string& where,
                       const std::string& source = "");

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_
