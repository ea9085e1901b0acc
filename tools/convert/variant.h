// A model for inputs of several sizes: programs that differ in their spaces and in a few constants.
#ifndef FOVEA_TOOLS_CONVERT_VARIANT_H_
#define FOVEA_TOOLS_CONVERT_VARIANT_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// Adds the programs of `variant`, another description of the same directory. Common parts are stored once. Programs,
// spaces and constants that differ get "." and the label as suffix, metadata that differs gets the program's name and
// ":" as prefix.
void AddVariant(const Description& variant, const std::string& label, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_VARIANT_H_
