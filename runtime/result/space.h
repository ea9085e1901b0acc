// White space between the words and spans of a result.
#ifndef FOVEA_RUNTIME_RESULT_SPACE_H_
#define FOVEA_RUNTIME_RESULT_SPACE_H_

#include <stdint.h>

namespace fovea {

// ASCII's white space: space, tab, line feed, vertical tab, form feed, carriage return.
inline bool IsSpace(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_SPACE_H_
