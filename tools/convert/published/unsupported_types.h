// Well-known model types that are not converted, each with what is missing.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_UNSUPPORTED_TYPES_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_UNSUPPORTED_TYPES_H_

#include <string>

namespace fovea::tools {

// Why models of a type are not converted; empty: the type is unknown.
std::string WhyUnsupported(const std::string& model_type);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_UNSUPPORTED_TYPES_H_
