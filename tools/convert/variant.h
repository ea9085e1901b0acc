// One model for inputs of several sizes: programs that differ in their spaces and in a few constants.
#ifndef FOVEA_TOOLS_CONVERT_VARIANT_H_
#define FOVEA_TOOLS_CONVERT_VARIANT_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// Adds the programs of `variant`, another description of the same directory. What it has in common with `description`
// is there once. Programs, spaces and constants that differ get "." and the label behind their names, metadata that
// differs the program's name and ":" in front.
void AddVariant(const Description& variant, const std::string& label, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_VARIANT_H_
