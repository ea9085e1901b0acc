#include "tools/text/template_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "tools/text/template_value.h"

namespace fovea::tools::jinja {
namespace {

size_t SizeAt(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const size_t size = byte < 0xc2 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 1;
  if (at + size > text.size()) return 1;
  for (size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 1;
  }
  return size;
}

bool IsSpace(std::string_view character) { return jinja::IsSpace(CodeOf(character)); }

size_t Offset(std::string_view text, std::string_view part) { return static_cast<size_t>(part.data() - text.data()); }

uint32_t ToUpper(uint32_t c) { return static_cast<uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))); }
uint32_t ToLower(uint32_t c) { return static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }

constexpr size_t kShortPart = 32;  // for which comparing at each place costs little

// The first or last place of a part, by the lengths of its beginnings that end at each of its bytes (Knuth, Morris and
// Pratt).
size_t Search(std::string_view text, std::string_view part, bool last) {
  if (part.size() > text.size()) return std::string_view::npos;
  std::vector<uint32_t> before(part.size(), 0);
  const auto next = [&](size_t matched, char c) {
    while (matched > 0 && (matched == part.size() || part[matched] != c)) matched = before[matched - 1];
    return matched + (part[matched] == c ? 1 : 0);
  };
  for (size_t i = 1; i < part.size(); ++i) before[i] = static_cast<uint32_t>(next(before[i - 1], part[i]));
  size_t found = std::string_view::npos;
  for (size_t i = 0, matched = 0; i < text.size(); ++i) {
    matched = next(matched, text[i]);
    if (matched != part.size()) continue;
    found = i + 1 - part.size();
    if (!last) break;
  }
  return found;
}

template <typename Map>
std::string Mapped(std::string_view text, const Map& map) {
  std::string out;
  out.reserve(text.size());
  for (const std::string_view c : Characters(text)) {
    if (c.size() == 1 && static_cast<unsigned char>(c[0]) >= 0x80) {
      out += c;
    } else {
      AppendCode(map(CodeOf(c)), &out);
    }
  }
  return out;
}

}  // namespace

std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> all;
  for (size_t at = 0; at < text.size(); at += all.back().size()) all.push_back(text.substr(at, SizeAt(text, at)));
  return all;
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += SizeAt(text, at)) ++count;
  return count;
}

size_t OffsetOf(std::string_view text, size_t character) {
  size_t at = 0;
  for (; character > 0 && at < text.size(); --character) at += SizeAt(text, at);
  return at;
}

size_t FindPart(std::string_view text, std::string_view part, size_t from) {
  if (part.size() <= kShortPart || from > text.size()) return text.find(part, from);
  const size_t found = Search(text.substr(from), part, false);
  return found == std::string_view::npos ? found : from + found;
}

size_t FindLastPart(std::string_view text, std::string_view part) {
  return part.size() <= kShortPart ? text.rfind(part) : Search(text, part, true);
}

uint32_t CodeOf(std::string_view character) {
  if (character.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(character[i])); };
  switch (character.size()) {
    case 2:
      return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3:
      return (byte(0) & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    case 4:
      return (byte(0) & 7) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
    default:
      return byte(0);
  }
}

void AppendCode(uint32_t c, std::string* text) {
  const auto add = [&](uint32_t byte) { *text += static_cast<char>(byte); };
  if (c < 0x80) return add(c);
  if (c < 0x800) return add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
  if (c < 0x10000) return add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
}

bool IsSpace(uint32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string_view Strip(std::string_view text, const std::string* set, bool left, bool right) {
  constexpr size_t kMostChosen = 256;
  if (set != nullptr && set->size() > kMostChosen) Refuse("strips {} bytes of characters", set->size());
  const std::vector<std::string_view> chosen = set == nullptr ? std::vector<std::string_view>() : Characters(*set);
  bool one_byte[256] = {};
  std::vector<std::string_view> others;
  for (const std::string_view c : chosen) {
    if (c.size() == 1) one_byte[static_cast<unsigned char>(c[0])] = true;
    if (c.size() > 1) others.push_back(c);
  }
  const auto drops = [&](std::string_view c) {
    if (set == nullptr) return IsSpace(c);
    if (c.size() == 1) return one_byte[static_cast<unsigned char>(c[0])];
    return std::find(others.begin(), others.end(), c) != others.end();
  };
  while (left && !text.empty()) {
    const size_t size = SizeAt(text, 0);
    if (!drops(text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (right && !text.empty()) {
    size_t size = 1;  // bytes of the last character
    for (size_t more = 2; more <= std::min<size_t>(4, text.size()); ++more) {
      if (SizeAt(text, text.size() - more) == more) size = more;
    }
    if (!drops(text.substr(text.size() - size))) break;
    text.remove_suffix(size);
  }
  return text;
}

std::vector<std::string> Split(std::string_view text, const std::string* separator, int64_t most, bool from_right) {
  std::vector<std::string> parts;
  const auto full = [&] { return most >= 0 && static_cast<int64_t>(parts.size()) >= most; };
  if (separator == nullptr) {
    const std::vector<std::string_view> characters = Characters(text);
    const auto until = [&](size_t end) {
      return text.substr(0, end < characters.size() ? Offset(text, characters[end]) : text.size());
    };
    const auto from = [&](size_t begin) {
      return begin < characters.size() ? text.substr(Offset(text, characters[begin])) : "";
    };
    if (from_right) {
      for (size_t end = characters.size();;) {
        while (end > 0 && IsSpace(characters[end - 1])) --end;
        if (end == 0) break;
        size_t begin = full() ? 0 : end;
        while (begin > 0 && !IsSpace(characters[begin - 1])) --begin;
        parts.emplace_back(until(end).substr(until(begin).size()));
        end = begin;
      }
      std::reverse(parts.begin(), parts.end());
      return parts;
    }
    for (size_t begin = 0;;) {
      while (begin < characters.size() && IsSpace(characters[begin])) ++begin;
      if (begin == characters.size()) return parts;
      size_t end = full() ? characters.size() : begin;
      while (end < characters.size() && !IsSpace(characters[end])) ++end;
      parts.emplace_back(from(begin).substr(0, until(end).size() - until(begin).size()));
      begin = end;
    }
  }
  if (separator->empty()) Refuse("splits at an empty string");
  if (!from_right) {
    for (size_t at = 0; !full() && (at = FindPart(text, *separator)) != std::string_view::npos;) {
      parts.emplace_back(text.substr(0, at));
      text = text.substr(at + separator->size());
    }
    parts.emplace_back(text);
    return parts;
  }
  for (size_t at = 0; !full() && (at = FindLastPart(text, *separator)) != std::string_view::npos;) {
    parts.emplace_back(text.substr(at + separator->size()));
    text = text.substr(0, at);
  }
  parts.emplace_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> SplitLines(std::string_view text, bool keep_ends) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t size = SizeAt(text, at);
    const uint32_t c = CodeOf(text.substr(at, size));
    const bool ends = (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
    size_t next = at + size;
    if (ends) {
      if (c == 13 && next < text.size() && text[next] == '\n') ++next;
      lines.emplace_back(text.substr(begin, (keep_ends ? next : at) - begin));
      begin = next;
    }
    at = next;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

std::string Replaced(std::string_view text, std::string_view old, std::string_view with, int64_t most) {
  std::string out;
  const auto check = [&] {
    if (out.size() > kMostBytes) Refuse("makes a string of more than {} bytes", kMostBytes);
  };
  if (old.empty()) {  // before each character, and at the end
    int64_t done = 0;
    for (const std::string_view c : Characters(text)) {
      if (most < 0 || done++ < most) out += with;
      out += c;
      check();
    }
    if (most < 0 || done < most) out += with;
    return out;
  }
  size_t begin = 0;
  for (size_t at = 0; most != 0 && (at = FindPart(text, old, begin)) != std::string_view::npos;
       most -= most > 0 ? 1 : 0) {
    out += text.substr(begin, at - begin);
    out += with;
    begin = at + old.size();
    check();
  }
  out += text.substr(begin);
  return out;
}

std::string Upper(std::string_view text) {
  std::string out;
  for (const std::string_view c : Characters(text)) {
    if (CodeOf(c) == 0xdf) {
      out += "SS";
    } else {
      out += Mapped(c, ToUpper);
    }
  }
  return out;
}
std::string Lower(std::string_view text) { return Mapped(text, ToLower); }

bool IsNumeral(uint32_t c, bool decimal) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ND ||
         (!decimal && (category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO));
}

bool IsLetter(uint32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

std::string Title(std::string_view text) {
  std::string out;
  bool inside = false;
  for (const std::string_view c : Characters(text)) {
    out += inside ? Lower(c) : Upper(c);
    inside = IsLetter(CodeOf(c));
  }
  return out;
}

std::string Capitalized(std::string_view text) {
  if (text.empty()) return "";
  const size_t first = SizeAt(text, 0);
  return Upper(text.substr(0, first)) + Lower(text.substr(first));
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace fovea::tools::jinja
