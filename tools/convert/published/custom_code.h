// Models that are published with code (`auto_map`), which is never run.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_CUSTOM_CODE_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_CUSTOM_CODE_H_

#include <functional>
#include <string>

#include "tools/convert/arch/config.h"
#include "tools/convert/description.h"

namespace fovea::tools {

// Describes a model whose config.json names code, as its model_type `type` does. If the class in `architectures` is one
// of the original library's, which reads the model without that code, or if an architecture describes that code, a
// finding reports it. Any other class is refused, with --as as the way out if the tensors fit.
Description DescribeWithoutCode(const Config& config, const std::string& type,
                                const std::function<Description()>& describe);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_CUSTOM_CODE_H_
