// Runs the statements of a chat template (Jinja).
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_STATEMENT_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_STATEMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/text/template_parser.h"

namespace fovea::tools::jinja {

// The text that a template writes with these variables. `seconds`: the time of strftime_now. Fails for what the
// renderer does not have, and where the limits of template_value.h are exceeded.
std::string Rendered(const Program& program, const std::vector<std::pair<std::string, Value>>& variables,
                     int64_t seconds);

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_STATEMENT_H_
