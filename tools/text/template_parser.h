// Parses chat templates (Jinja).
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_PARSER_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_PARSER_H_

#include <string>
#include <vector>

#include "tools/text/template_tree.h"

namespace fovea::tools::jinja {

struct Program {
  Block body;
  std::vector<std::string> unknown;  // filters, tests and functions that the renderer does not have: "filter x"
};

// Fails for statements that are unknown, with the line of the fault.
Program Parse(const std::string& source);

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_PARSER_H_
