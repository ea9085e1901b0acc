// Splits texts into characters.
#ifndef FOVEA_TESTS_SUPPORT_CHARACTERS_H_
#define FOVEA_TESTS_SUPPORT_CHARACTERS_H_

#include <string>
#include <vector>

namespace fovea::test {

// The characters of a text in UTF-8, which must be valid.
inline std::vector<std::string> Characters(const std::string& text) {
  std::vector<std::string> all;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) all.emplace_back();
    all.back() += c;
  }
  return all;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_CHARACTERS_H_
