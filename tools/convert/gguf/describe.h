// A GGUF file as the architectures know published directories: a configuration, weights by the library's names and a
// tokenizer.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_DESCRIBE_H_
#define FOVEA_TOOLS_CONVERT_GGUF_DESCRIBE_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// `task`: as DescribeDirectory; empty: a decoder generates, an encoder makes what its pooling makes.
Description DescribeGguf(const std::string& path, const std::string& task);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_DESCRIBE_H_
