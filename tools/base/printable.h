// Foreign strings as a terminal may show them.
#ifndef FOVEA_TOOLS_BASE_PRINTABLE_H_
#define FOVEA_TOOLS_BASE_PRINTABLE_H_

#include <stddef.h>

#include <string>

namespace fovea::tools {

// Escapes what a terminal would act on and what is no UTF-8 ("\n", "\x00", "\u202e"). Escaped text stays as it is.
std::string Printable(const std::string& raw);
// The same, cut to about `bytes` bytes.
std::string Shortened(const std::string& text, size_t bytes = 96);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_PRINTABLE_H_
