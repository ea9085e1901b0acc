// Compression ratio of a text: high for texts that repeat themselves.
#ifndef FOVEA_TOOLS_GENERATE_COMPRESSION_H_
#define FOVEA_TOOLS_GENERATE_COMPRESSION_H_

#include <string>

namespace fovea::tools {

// Bytes of the text divided by its bytes after compression by zlib with default settings.
double CompressionRatio(const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_COMPRESSION_H_
