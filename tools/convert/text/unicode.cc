// Properties of code points, through utf8proc.
#include "tools/convert/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "runtime/text/format.h"
#include "runtime/text/utf8.h"
#include "tools/convert/text/code_ranges.h"

namespace fovea::tools {
namespace {

const utf8proc_property_t& PropertiesOf(uint32_t code) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
}

utf8proc_category_t Category(uint32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

bool Maps(const utf8proc_property_t& properties) {
  constexpr utf8proc_uint16_t kNone = UINT16_MAX;
  return properties.casefold_seqindex != kNone || properties.decomp_seqindex != kNone ||
         properties.lowercase_seqindex != kNone || properties.uppercase_seqindex != kNone ||
         properties.titlecase_seqindex != kNone;
}

struct CodeRange {
  uint32_t first, last;
};

bool Contains(const CodeRange* begin, const CodeRange* end, uint32_t code) {
  const CodeRange* found =
      std::upper_bound(begin, end, code, [](uint32_t c, const CodeRange& r) { return c < r.first; });
  return found != begin && code <= std::prev(found)->last;
}

// Code points that are control, punctuation or nonspacing mark today and were none of them in Unicode 8, whose
// categories BERT's tokenizers use. Of the private-use planes only the first and last code points count as control.
constexpr CodeRange kNotInUnicode8[] = {
    {0x061d, 0x061d},   {0x07fd, 0x07fd},   {0x0890, 0x0891},     {0x0898, 0x089f},   {0x08ca, 0x08e2},
    {0x09fd, 0x09fe},   {0x0a76, 0x0a76},   {0x0afa, 0x0aff},     {0x0b55, 0x0b55},   {0x0c04, 0x0c04},
    {0x0c3c, 0x0c3c},   {0x0c77, 0x0c77},   {0x0c84, 0x0c84},     {0x0d00, 0x0d00},   {0x0d3b, 0x0d3c},
    {0x0d81, 0x0d81},   {0x0eba, 0x0eba},   {0x0ece, 0x0ece},     {0x180f, 0x180f},   {0x1885, 0x1886},
    {0x1abf, 0x1ace},   {0x1b7d, 0x1b7e},   {0x1df6, 0x1dfb},     {0x2e43, 0x2e4f},   {0x2e52, 0x2e5d},
    {0xa82c, 0xa82c},   {0xa8c5, 0xa8c5},   {0xa8ff, 0xa8ff},     {0xa9bd, 0xa9bd},   {0xe001, 0xf8fe},
    {0x10d24, 0x10d27}, {0x10eab, 0x10ead}, {0x10efd, 0x10eff},   {0x10f46, 0x10f50}, {0x10f55, 0x10f59},
    {0x10f82, 0x10f89}, {0x11070, 0x11070}, {0x11073, 0x11074},   {0x110c2, 0x110c2}, {0x110cd, 0x110cd},
    {0x111c9, 0x111c9}, {0x111cf, 0x111cf}, {0x1123e, 0x1123e},   {0x11241, 0x11241}, {0x1133b, 0x1133b},
    {0x11438, 0x1143f}, {0x11442, 0x11444}, {0x11446, 0x11446},   {0x1144b, 0x1144f}, {0x1145a, 0x1145b},
    {0x1145d, 0x1145e}, {0x11660, 0x1166c}, {0x116b9, 0x116b9},   {0x1182f, 0x11837}, {0x11839, 0x1183b},
    {0x1193b, 0x1193c}, {0x1193e, 0x1193e}, {0x11943, 0x11946},   {0x119d4, 0x119d7}, {0x119da, 0x119db},
    {0x119e0, 0x119e0}, {0x119e2, 0x119e2}, {0x11a01, 0x11a0a},   {0x11a33, 0x11a38}, {0x11a3b, 0x11a47},
    {0x11a51, 0x11a56}, {0x11a59, 0x11a5b}, {0x11a8a, 0x11a96},   {0x11a98, 0x11a9c}, {0x11a9e, 0x11aa2},
    {0x11b00, 0x11b09}, {0x11c30, 0x11c36}, {0x11c38, 0x11c3d},   {0x11c3f, 0x11c3f}, {0x11c41, 0x11c45},
    {0x11c70, 0x11c71}, {0x11c92, 0x11ca7}, {0x11caa, 0x11cb0},   {0x11cb2, 0x11cb3}, {0x11cb5, 0x11cb6},
    {0x11d31, 0x11d36}, {0x11d3a, 0x11d3a}, {0x11d3c, 0x11d3d},   {0x11d3f, 0x11d45}, {0x11d47, 0x11d47},
    {0x11d90, 0x11d91}, {0x11d95, 0x11d95}, {0x11d97, 0x11d97},   {0x11ef3, 0x11ef4}, {0x11ef7, 0x11ef8},
    {0x11f00, 0x11f01}, {0x11f36, 0x11f3a}, {0x11f40, 0x11f40},   {0x11f42, 0x11f4f}, {0x11fff, 0x11fff},
    {0x12ff1, 0x12ff2}, {0x13430, 0x13440}, {0x13447, 0x13455},   {0x16e97, 0x16e9a}, {0x16f4f, 0x16f4f},
    {0x16fe2, 0x16fe2}, {0x16fe4, 0x16fe4}, {0x1cf00, 0x1cf2d},   {0x1cf30, 0x1cf46}, {0x1e000, 0x1e006},
    {0x1e008, 0x1e018}, {0x1e01b, 0x1e021}, {0x1e023, 0x1e024},   {0x1e026, 0x1e02a}, {0x1e08f, 0x1e08f},
    {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef},   {0x1e4ec, 0x1e4ef}, {0x1e944, 0x1e94a},
    {0x1e95e, 0x1e95f}, {0xf0001, 0xffffc}, {0x100001, 0x10fffc},
};

bool IsAscii(uint32_t code) { return code < 0x80; }

}  // namespace

std::string Utf8(uint32_t code) {
  uint8_t bytes[4];
  const uint32_t size = text::WriteChar(code, bytes);
  return std::string(reinterpret_cast<const char*>(bytes), size);
}

std::vector<uint32_t> CodePoints(const std::string& utf8) {
  std::vector<uint32_t> codes;
  for (size_t i = 0; i < utf8.size();) {
    const text::Char c = text::ReadChar(reinterpret_cast<const uint8_t*>(utf8.data()) + i, utf8.size() - i);
    codes.push_back(c.code);
    i += c.size;
  }
  return codes;
}

std::string UnicodeVersion() { return utf8proc_unicode_version(); }

const std::vector<CodeRun>& CodeRuns() {
  static const auto* const kRuns = [] {
    auto* runs = new std::vector<CodeRun>;
    const utf8proc_property_t* last = nullptr;
    for (uint32_t code = 0; code < kCodePoints; ++code) {
      const utf8proc_property_t& now = PropertiesOf(code);
      if (&now != last) runs->push_back({code, code, Maps(now)});
      runs->back().end = code + 1;
      last = &now;
    }
    return runs;
  }();
  return *kRuns;
}

bool IsWhitespace(uint32_t code) {
  return (code >= 9 && code <= 13) || code == 0x20 || code == 0x85 || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
         code == 0x3000;
}

bool IsLetter(uint32_t code) {
  const utf8proc_category_t c = Category(code);
  return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool IsNumber(uint32_t code) {
  const utf8proc_category_t c = Category(code);
  return c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO;
}

bool IsMark(uint32_t code) {
  const utf8proc_category_t c = Category(code);
  return c >= UTF8PROC_CATEGORY_MN && c <= UTF8PROC_CATEGORY_ME;
}

bool IsWordCharacter(uint32_t code) {
  const utf8proc_category_t c = Category(code);
  const bool circled = (code >= 0x24b6 && code <= 0x24e9) || (code >= 0x1f130 && code <= 0x1f149) ||
                       (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189);
  return IsLetter(code) || IsMark(code) || c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL ||
         c == UTF8PROC_CATEGORY_PC || code == 0x200c || code == 0x200d || circled;
}

const char* CategoryName(uint32_t code) { return utf8proc_category_string(static_cast<utf8proc_int32_t>(code)); }

std::string FoldCase(uint32_t code) {
  if ((code >= 0xd800 && code < 0xe000) || !Maps(PropertiesOf(code))) return Utf8(code);
  utf8proc_int32_t out[16];
  int last = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), out, 16, UTF8PROC_CASEFOLD, &last);
  std::string result;
  for (utf8proc_ssize_t i = 0; i < count; ++i) result += Utf8(static_cast<uint32_t>(out[i]));
  return result;
}

uint32_t GraphemeBreak(uint32_t code) {
  using text::Grapheme;
  Grapheme g = Grapheme::kOther;
  switch (PropertiesOf(code).boundclass) {
    case UTF8PROC_BOUNDCLASS_CR:
      g = Grapheme::kCr;
      break;
    case UTF8PROC_BOUNDCLASS_LF:
      g = Grapheme::kLf;
      break;
    case UTF8PROC_BOUNDCLASS_CONTROL:
      g = Grapheme::kControl;
      break;
    case UTF8PROC_BOUNDCLASS_EXTEND:
      g = Grapheme::kExtend;
      break;
    case UTF8PROC_BOUNDCLASS_L:
      g = Grapheme::kL;
      break;
    case UTF8PROC_BOUNDCLASS_V:
      g = Grapheme::kV;
      break;
    case UTF8PROC_BOUNDCLASS_T:
      g = Grapheme::kT;
      break;
    case UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR:
      g = Grapheme::kRegional;
      break;
    case UTF8PROC_BOUNDCLASS_SPACINGMARK:
      g = Grapheme::kSpacingMark;
      break;
    case UTF8PROC_BOUNDCLASS_PREPEND:
      g = Grapheme::kPrepend;
      break;
    case UTF8PROC_BOUNDCLASS_ZWJ:
      g = Grapheme::kZwj;
      break;
    case UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC:
      g = Grapheme::kPictographic;
      break;
    default:
      break;  // Hangul syllables are computed from the code point
  }
  return static_cast<uint32_t>(g);
}

uint32_t CombiningClass(uint32_t code) { return static_cast<uint32_t>(PropertiesOf(code).combining_class); }

std::string LowerCase(uint32_t code) {
  if (code == 0x130) return "i\xcc\x87";  // the only lower case of two code points
  return Utf8(static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
}

std::string Decompose(uint32_t code, bool compatibility) {
  const bool syllable = code >= 0xac00 && code <= 0xd7a3;  // decomposed by computation
  if (!syllable && ((code >= 0xd800 && code < 0xe000) || !Maps(PropertiesOf(code)))) return Utf8(code);
  utf8proc_int32_t out[64];
  int last = 0;
  const int options = UTF8PROC_DECOMPOSE | (compatibility ? UTF8PROC_COMPAT : 0);
  const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), out, 64,
                                                         static_cast<utf8proc_option_t>(options), &last);
  std::string result;
  for (utf8proc_ssize_t i = 0; i < count; ++i) result += Utf8(static_cast<uint32_t>(out[i]));
  return result;
}

std::map<std::pair<uint32_t, uint32_t>, uint32_t> Compositions() {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> pairs;
  const auto add = [&](uint32_t code) {
    const std::string full = Decompose(code, false);
    if (full == Utf8(code)) return;
    utf8proc_uint8_t* const itself = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(full.c_str()));
    const bool composes = Utf8(code) == reinterpret_cast<const char*>(itself);
    free(itself);
    if (!composes) return;  // another one has the same decomposition, as the letter for the Angstrom sign
    // A composed character is the pair (composition of all but the last, last).
    const std::vector<uint32_t> parts = CodePoints(full);
    if (parts.size() < 2) return;
    std::string head;
    for (size_t i = 0; i + 1 < parts.size(); ++i) head += Utf8(parts[i]);
    utf8proc_uint8_t* composed = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(head.c_str()));
    const std::vector<uint32_t> first = CodePoints(reinterpret_cast<const char*>(composed));
    free(composed);
    if (first.size() == 1) pairs[{first[0], parts.back()}] = code;
  };
  for (const CodeRun& run : CodeRuns()) {
    for (uint32_t code = run.first; run.maps && code < run.end; ++code) add(code);
  }
  return pairs;
}

bool IsBertControl(uint32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  const utf8proc_category_t c = Category(code);
  return (c == UTF8PROC_CATEGORY_CC || c == UTF8PROC_CATEGORY_CF || c == UTF8PROC_CATEGORY_CO) &&
         !Contains(std::begin(kNotInUnicode8), std::end(kNotInUnicode8), code);
}

bool IsBertPunctuation(uint32_t code) {
  if (IsAscii(code))
    return code > 0x20 && code < 0x7f && !(code >= '0' && code <= '9') &&
           !((code | 0x20) >= 'a' && (code | 0x20) <= 'z');
  if (code == 0x166d || code == 0x111c9) return true;  // punctuation in Unicode 8
  const utf8proc_category_t c = Category(code);
  return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO &&
         !Contains(std::begin(kNotInUnicode8), std::end(kNotInUnicode8), code);
}

bool IsBertNonspacingMark(uint32_t code) {
  if (code == 0x1734) return true;  // a nonspacing mark in Unicode 8
  return Category(code) == UTF8PROC_CATEGORY_MN &&
         !Contains(std::begin(kNotInUnicode8), std::end(kNotInUnicode8), code);
}

bool IsCjkIdeograph(uint32_t code) {
  // The seventh block starts as in the reference implementation.
  constexpr CodeRange kBlocks[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
                                   {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return Contains(std::begin(kBlocks), std::end(kBlocks), code);
}

}  // namespace fovea::tools
