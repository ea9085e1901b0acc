// Escapes foreign strings for terminals.
#ifndef FOVEA_TOOLS_BASE_PRINTABLE_H_
#define FOVEA_TOOLS_BASE_PRINTABLE_H_

#include <stddef.h>

#include <string>

namespace fovea::tools {

// Escapes control characters and invalid UTF-8 ("\n", "\x00", "\u202e"). Text that is already escaped is unchanged.
std::string Printable(const std::string& raw);
// Same, shortened to about `bytes` bytes.
std::string Shortened(const std::string& text, size_t bytes = 96);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_PRINTABLE_H_
