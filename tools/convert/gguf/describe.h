// Converts a GGUF file to the form of published directories that the architectures read: a configuration, weights by
// the library's names, and a tokenizer.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_DESCRIBE_H_
#define FOVEA_TOOLS_CONVERT_GGUF_DESCRIBE_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// `task`: as for DescribeDirectory; empty: generation for a decoder, its pooling for an encoder.
Description DescribeGguf(const std::string& path, const std::string& task);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_DESCRIBE_H_
