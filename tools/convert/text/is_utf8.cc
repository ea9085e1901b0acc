// In a separate file, for programs that do without the tables of characters.
#include "runtime/text/utf8.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {

bool IsUtf8(const std::string& bytes) {
  return text::FirstInvalidByte(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()) == bytes.size();
}

}  // namespace fovea::tools
