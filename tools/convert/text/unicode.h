// Properties of code points, from utf8proc and from definitions of tokenizers.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_UNICODE_H_
#define FOVEA_TOOLS_CONVERT_TEXT_UNICODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fovea::tools {

inline constexpr uint32_t kCodePoints = 0x110000;

std::string Utf8(uint32_t code);
std::vector<uint32_t> CodePoints(const std::string& utf8);
bool IsUtf8(const std::string& bytes);

// The version of the tables, such as "15.0.0".
std::string UnicodeVersion();

bool IsWhitespace(uint32_t code);         // White_Space
bool IsWordCharacter(uint32_t code);      // \w of regular expressions
bool IsLetter(uint32_t code);             // L*
bool IsNumber(uint32_t code);             // N*
bool IsMark(uint32_t code);               // M*
const char* CategoryName(uint32_t code);  // such as "Lu"
// Full case folding.
std::string FoldCase(uint32_t code);
uint32_t GraphemeBreak(uint32_t code);  // text::Grapheme
uint32_t CombiningClass(uint32_t code);
std::string LowerCase(uint32_t code);
// Full decomposition of one code point, in canonical order.
std::string Decompose(uint32_t code, bool compatibility);
// (first, second) to composed, without Hangul.
std::map<std::pair<uint32_t, uint32_t>, uint32_t> Compositions();

// Categories as defined by BertNormalizer and BertPreTokenizer, by Unicode 8.
bool IsBertControl(uint32_t code);
bool IsBertPunctuation(uint32_t code);
bool IsBertNonspacingMark(uint32_t code);
bool IsCjkIdeograph(uint32_t code);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_UNICODE_H_
