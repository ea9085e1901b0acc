#include "tools/text/white_space.h"

#include <vector>

namespace fovea::tools {
namespace {

// The white space characters of Python's str.strip().
const std::vector<std::string>& WhiteSpace() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
                                    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
    for (const char c : std::string(" \t\n\v\f\r\x1c\x1d\x1e\x1f")) all.emplace_back(1, c);
    for (char c = 0; c <= 10; ++c) all.push_back(std::string("\xe2\x80") + static_cast<char>(0x80 + c));
    return all;
  }();
  return kAll;
}

}  // namespace

std::string StripWhiteSpace(const std::string& text) {
  size_t begin = 0, end = text.size();
  for (bool found = true; found;) {
    found = false;
    for (const std::string& space : WhiteSpace()) {
      const size_t size = space.size();
      if (end - begin >= size && text.compare(begin, size, space) == 0) begin += size, found = true;
      if (end - begin >= size && text.compare(end - size, size, space) == 0) end -= size, found = true;
    }
  }
  return text.substr(begin, end - begin);
}

}  // namespace fovea::tools
