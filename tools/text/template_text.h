// Strings as Python sees them, over UTF-8: characters, white space, letters.
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_TEXT_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_TEXT_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

namespace fovea::tools::jinja {

// The characters of a text; a byte that begins none is one alone.
std::vector<std::string_view> Characters(std::string_view text);
size_t CountCharacters(std::string_view text);
// The byte where the character of this number begins; the size of the text if it has no more.
size_t OffsetOf(std::string_view text, size_t character);
// The first or last place of a part, in time that grows with their sizes alone; npos: none.
size_t FindPart(std::string_view text, std::string_view part, size_t from = 0);
size_t FindLastPart(std::string_view text, std::string_view part);
// Code point of one character.
uint32_t CodeOf(std::string_view character);
void AppendCode(uint32_t code, std::string* text);

bool IsSpace(uint32_t code);
// Without characters of `set` at the ends that are asked for; white space if there is no set.
std::string_view Strip(std::string_view text, const std::string* set, bool left, bool right);
// At white space, or at a separator; at most `most` cuts (below 0: all), from the right if `from_right`.
std::vector<std::string> Split(std::string_view text, const std::string* separator, int64_t most, bool from_right);
std::vector<std::string> SplitLines(std::string_view text, bool keep_ends);
// Replaces the first `most` occurrences (below 0: all). Fails if the result is too long.
std::string Replaced(std::string_view text, std::string_view old, std::string_view with, int64_t most);

// Each letter has its simple case mapping; sharp s becomes SS.
std::string Upper(std::string_view text);
std::string Lower(std::string_view text);
// A number of any script; `decimal`: only digits of decimal numbers.
bool IsNumeral(uint32_t c, bool decimal);
bool IsLetter(uint32_t code);
// A capital after everything that is no letter, and lower case after letters; as str.title().
std::string Title(std::string_view text);
std::string Capitalized(std::string_view text);
std::string Escaped(std::string_view text);

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_TEXT_H_
