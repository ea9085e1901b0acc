// How much shorter a text becomes by compression: a text that repeats itself becomes much shorter.
#ifndef FOVEA_TOOLS_GENERATE_COMPRESSION_H_
#define FOVEA_TOOLS_GENERATE_COMPRESSION_H_

#include <string>

namespace fovea::tools {

// How many times as long the text is as what zlib makes of it by its usual settings.
double CompressionRatio(const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_COMPRESSION_H_
