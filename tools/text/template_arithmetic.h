// Arithmetic of chat templates (Jinja), as Python's.
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_ARITHMETIC_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_ARITHMETIC_H_

#include <string>

#include "tools/text/template_value.h"

namespace fovea::tools::jinja {

// left SIGN right, for "+", "-", "*", "/", "//", "%" and "**".
Value Computed(const std::string& sign, const Value& left, const Value& right, Budget* budget);

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_ARITHMETIC_H_
