// Foreign strings as a terminal may show them.
#ifndef FOVEA_TOOLS_BASE_PRINTABLE_H_
#define FOVEA_TOOLS_BASE_PRINTABLE_H_

#include <stddef.h>

#include <string>

namespace fovea::tools {

// Control characters escaped and broken UTF-8 replaced: fit for a terminal whatever a file says.
std::string Printable(const std::string& text);
// The same, cut to about `bytes` bytes.
std::string Shortened(const std::string& text, size_t bytes = 96);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_PRINTABLE_H_
