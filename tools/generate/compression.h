// How much shorter a text becomes by compression: a text that repeats itself becomes much shorter.
#ifndef FOVEA_TOOLS_GENERATE_COMPRESSION_H_
#define FOVEA_TOOLS_GENERATE_COMPRESSION_H_

#include <stdint.h>

#include <string>

namespace fovea::tools {

// The bytes of the text as one block of a zlib stream (RFC 1950, 1951), as zlib makes it by its usual settings or nearly.
uint64_t CompressedBytes(const std::string& text);

// How many times as long the text is as that.
double CompressionRatio(const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_COMPRESSION_H_
