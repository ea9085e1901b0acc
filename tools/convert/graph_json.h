// Model descriptions written as JSON; README.md beside this file explains them.
#ifndef FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_
#define FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// `source`: where the weights' and tokenizer's files lie; empty: beside the description.
Description ReadGraph(const std::string& path, const std::string& source);
// The same from the text itself. `where` begins messages.
Description ParseGraph(const std::string& text, const std::string& source, const std::string& where);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GRAPH_JSON_H_
