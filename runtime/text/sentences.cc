#include "runtime/text/sentences.h"

#include <string.h>

#include <algorithm>

#include "runtime/text/utf8.h"

namespace fovea::text {
namespace {

struct Span {
  uint16_t first, last;
};

// Sorted lists of characters outside ASCII, up to U+FFFF.

// Sentence_Terminal: ends a sentence regardless of the following text.
constexpr Span kTerminals[] = {{0x589, 0x589},   {0x61d, 0x61f},   {0x6d4, 0x6d4},   {0x700, 0x702},   {0x7f9, 0x7f9},
                               {0x837, 0x837},   {0x839, 0x839},   {0x83d, 0x83e},   {0x964, 0x965},   {0x104a, 0x104b},
                               {0x1362, 0x1362}, {0x1367, 0x1368}, {0x166e, 0x166e}, {0x1735, 0x1736}, {0x17d4, 0x17d5},
                               {0x1803, 0x1803}, {0x1809, 0x1809}, {0x1944, 0x1945}, {0x1aa8, 0x1aab}, {0x1b4e, 0x1b4f},
                               {0x1b5a, 0x1b5b}, {0x1b5e, 0x1b5f}, {0x1b7d, 0x1b7f}, {0x1c3b, 0x1c3c}, {0x1c7e, 0x1c7f},
                               {0x203c, 0x203d}, {0x2047, 0x2049}, {0x2cf9, 0x2cfb}, {0x2e2e, 0x2e2e}, {0x2e3c, 0x2e3c},
                               {0x2e53, 0x2e54}, {0x3002, 0x3002}, {0xa4ff, 0xa4ff}, {0xa60e, 0xa60f}, {0xa6f3, 0xa6f3},
                               {0xa6f7, 0xa6f7}, {0xa876, 0xa877}, {0xa8ce, 0xa8cf}, {0xa92f, 0xa92f}, {0xa9c8, 0xa9c9},
                               {0xaa5d, 0xaa5f}, {0xaaf0, 0xaaf1}, {0xabeb, 0xabeb}, {0xfe12, 0xfe12}, {0xfe15, 0xfe16},
                               {0xfe56, 0xfe57}, {0xff01, 0xff01}, {0xff1f, 0xff1f}, {0xff61, 0xff61}};

// Quotation marks, which may be opening or closing, and closing brackets.
constexpr Span kClosers[] = {{0xab, 0xab},     {0xbb, 0xbb},     {0x2018, 0x201f}, {0x2039, 0x203a}, {0x2046, 0x2046},
                             {0x207e, 0x207e}, {0x208e, 0x208e}, {0x232a, 0x232a}, {0x275b, 0x2760}, {0x3009, 0x3009},
                             {0x300b, 0x300b}, {0x300d, 0x300d}, {0x300f, 0x300f}, {0x3011, 0x3011}, {0x3015, 0x3015},
                             {0x3017, 0x3017}, {0x3019, 0x3019}, {0x301b, 0x301b}, {0x301d, 0x301f}, {0xfd3e, 0xfd3e},
                             {0xfe5a, 0xfe5a}, {0xfe5c, 0xfe5c}, {0xfe5e, 0xfe5e}, {0xff02, 0xff02}, {0xff07, 0xff07},
                             {0xff09, 0xff09}, {0xff3d, 0xff3d}, {0xff5d, 0xff5d}, {0xff60, 0xff60}, {0xff63, 0xff63}};

// SContinue: a sentence continues with these.
constexpr Span kContinuers[] = {
    {0x37e, 0x37e},   {0x55d, 0x55d},   {0x60c, 0x60d},   {0x7f8, 0x7f8},   {0x1802, 0x1802}, {0x1808, 0x1808},
    {0x2013, 0x2014}, {0x3001, 0x3001}, {0xfe10, 0xfe11}, {0xfe13, 0xfe14}, {0xfe31, 0xfe32}, {0xfe50, 0xfe51},
    {0xfe54, 0xfe55}, {0xfe58, 0xfe58}, {0xfe63, 0xfe63}, {0xff0c, 0xff0d}, {0xff1a, 0xff1b}, {0xff64, 0xff64}};

constexpr Span kSpaces[] = {{0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200b}, {0x202f, 0x202f},
                            {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};

// Neither letters nor marks: punctuation, symbols, pictographs.
constexpr Span kNoLetters[] = {{0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},     {0xbb, 0xbf},     {0xd7, 0xd7},
                               {0xf7, 0xf7},     {0x660, 0x669},   {0x966, 0x96f},   {0x2000, 0x2bff}, {0x2e00, 0x2fff},
                               {0x3000, 0x3004}, {0x3007, 0x3020}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe6f}, {0xff00, 0xff20},
                               {0xff3b, 0xff40}, {0xff5b, 0xff65}, {0xffe0, 0xffff}};

// Lowercase letters have odd code points after their capitals, or even ones.
constexpr Span kOddSmall[] = {{0x100, 0x137}, {0x14a, 0x177}, {0x1de, 0x1ef}, {0x1f8, 0x21f},   {0x222, 0x233},
                              {0x460, 0x481}, {0x48a, 0x4bf}, {0x4d0, 0x52f}, {0x1e00, 0x1e95}, {0x1ea0, 0x1eff}};
constexpr Span kEvenSmall[] = {{0x139, 0x148}, {0x179, 0x17e}, {0x4c1, 0x4ce}};
constexpr Span kSmall[] = {{0xdf, 0xf6}, {0xf8, 0xff}, {0x3ac, 0x3ce}, {0x430, 0x45f}, {0x561, 0x587}};
constexpr Span kCapital[] = {{0xc0, 0xd6}, {0xd8, 0xde}, {0x386, 0x3ab}, {0x400, 0x42f}, {0x531, 0x556}};

// Abbreviations that usually precede a name or a number.
constexpr char kBeforeNames[][6] = {"Mr",  "Mrs",  "Ms",  "Mx",  "Dr",   "Prof", "St",  "Mt",  "Rev",
                                    "Hon", "Gen",  "Col", "Maj", "Capt", "Lt",   "Sgt", "Gov", "Sen",
                                    "Rep", "Pres", "Hr",  "Fr",  "Sra",  "Mme",  "vs",  "cf"};
constexpr char kBeforeNumbers[][6] = {"No", "Nos", "no",  "nos", "Nr", "Fig", "Figs", "fig", "figs", "Eq", "Eqs",
                                      "eq", "Sec", "Vol", "vol", "Ch", "p",   "pp",   "Art", "art",  "ca", "Ca"};

template <size_t n>
bool In(const Span (&list)[n], uint32_t code) {
  const Span* found =
      std::upper_bound(list, list + n, code, [](uint32_t c, const Span& span) { return c < span.first; });
  return found != list && code <= found[-1].last;
}

bool IsDigit(uint32_t c) { return (c >= '0' && c <= '9') || (c >= 0xff10 && c <= 0xff19); }

bool IsLower(uint32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  if (In(kOddSmall, c)) return c % 2 == 1;
  return (In(kEvenSmall, c) && c % 2 == 0) || In(kSmall, c) || (c >= 0x1f00 && c <= 0x1fff && (c & 8) == 0);
}

bool IsUpper(uint32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  if (In(kOddSmall, c)) return c % 2 == 0;
  return (In(kEvenSmall, c) && c % 2 == 1) || In(kCapital, c) || (c >= 0x1f00 && c <= 0x1fff && (c & 8) != 0);
}

bool IsLetter(uint32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return !In(kNoLetters, c) && !(c >= 0x1f000 && c < 0x20000);
}

bool IsLineEnd(uint32_t c) { return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029; }
bool IsSpace(uint32_t c) { return c < 0x80 ? c == ' ' || c == '\t' : In(kSpaces, c); }

// A period or a similar character; these do not always end a sentence.
bool IsPeriod(uint32_t c) { return c == '.' || c == 0x2024 || c == 0x2026 || c == 0xfe52 || c == 0xff0e; }
bool IsTerminator(uint32_t c) { return IsPeriod(c) || (c < 0x80 ? c == '!' || c == '?' : In(kTerminals, c)); }
bool IsCloser(uint32_t c) {
  return c < 0x80 ? c == '"' || c == '\'' || c == ')' || c == ']' || c == '}' : In(kClosers, c);
}
bool IsContinuer(uint32_t c) { return c < 0x80 ? c == ',' || c == '-' || c == ':' || c == ';' : In(kContinuers, c); }
bool IsListMark(uint32_t c) {
  return c == '-' || c == '*' || c == '+' || c == 0xb7 || (c >= 0x2013 && c <= 0x2014) ||
         (c >= 0x2022 && c <= 0x2023) || c == 0x25aa || c == 0x25cf || c == 0x25e6;
}

class Splitter {
 public:
  Splitter(const uint8_t* text, uint64_t size, bool wrapped) : text_(text), size_(size), wrapped_(wrapped) {}

  bool Next(uint64_t from, SentenceRange* sentence) const {
    uint64_t at = from;
    while (at < size_ && IsWhite(At(at).code)) at += At(at).size;
    if (at >= size_) return false;
    sentence->begin = at;
    while (at < size_) {
      const Char c = At(at);
      if (IsTerminator(c.code)) {
        const Stop stop = StopAt(at);
        sentence->end = at = stop.end;
        if (EndsAt(stop, sentence->begin)) return true;
        continue;
      }
      if (IsLineEnd(c.code) && IsBreak(at)) return true;
      at += c.size;
      if (!IsWhite(c.code)) sentence->end = at;
    }
    return true;
  }

 private:
  // One or more terminators, each with the closers after it.
  struct Stop {
    uint64_t first, last, end;  // first and last terminator, and the end after them
    uint32_t code;              // the last terminator's
    bool alone;                 // one terminator, no closers
  };

  static bool IsWhite(uint32_t c) { return IsSpace(c) || IsLineEnd(c); }

  Char At(uint64_t at) const { return ReadChar(text_ + at, size_ - at); }

  Stop StopAt(uint64_t at) const {
    Stop stop{at, at, at, 0, true};
    for (bool more = true; more;) {
      const Char terminator = At(stop.end);
      stop.alone = stop.first == stop.end;
      stop.last = stop.end;
      stop.code = terminator.code;
      stop.end += terminator.size;
      while (stop.end < size_ && IsCloser(At(stop.end).code)) {
        stop.end += At(stop.end).size;
        stop.alone = false;
      }
      more = stop.end < size_ && IsTerminator(At(stop.end).code);
    }
    return stop;
  }

  // The position after a line end, which may be two characters.
  uint64_t BehindLineEnd(uint64_t at) const {
    const Char c = At(at);
    at += c.size;
    return c.code == '\r' && at < size_ && text_[at] == '\n' ? at + 1 : at;
  }

  // Whether the line end at `at` ends a sentence.
  bool IsBreak(uint64_t at) const {
    const uint32_t code = At(at).code;
    if (!wrapped_ || code == '\v' || code == '\f' || code == 0x2029) return true;
    at = BehindLineEnd(at);
    while (at < size_ && IsSpace(At(at).code)) at += At(at).size;
    if (at >= size_) return true;
    const Char c = At(at);
    if (IsLineEnd(c.code)) return true;
    at += c.size;
    return IsListMark(c.code) && at < size_ && IsSpace(At(at).code);
  }

  bool EndsAt(const Stop& stop, uint64_t begin) const {
    uint64_t next = stop.end;
    while (next < size_) {
      const Char c = At(next);
      if (IsLineEnd(c.code)) {
        if (IsBreak(next)) return true;
        next = BehindLineEnd(next);
      } else if (IsSpace(c.code)) {
        next += c.size;
      } else {
        break;
      }
    }
    if (next >= size_) return true;
    const uint32_t code = At(next).code;
    const bool spaced = next != stop.end;
    if (IsContinuer(code) || IsTerminator(code)) return false;
    if (!spaced) {
      const bool needs_space = stop.code < 0x80 || stop.code == 0x2024 || stop.code == 0x2026;
      if (needs_space && !(code >= 0x2e80 && IsLetter(code) && !IsLower(code))) return false;
      if (IsPeriod(stop.code) && IsDigit(code)) return false;
    }
    if (!IsPeriod(stop.code)) return stop.code >= 0x80 || !IsLower(code);
    return !LowerFollows(next) && !(stop.alone && IsAbbreviation(stop.last, begin, code));
  }

  // Whether the next letter is lowercase, before any other terminator or line end.
  bool LowerFollows(uint64_t at) const {
    while (at < size_) {
      const Char c = At(at);
      if (IsLetter(c.code)) return IsLower(c.code);
      if (IsTerminator(c.code) || (IsLineEnd(c.code) && IsBreak(at))) return false;
      at += c.size;
    }
    return false;
  }

  // Whether the word before the period at `at` is an initial, or an abbreviation before a name or the number `next`.
  bool IsAbbreviation(uint64_t at, uint64_t begin, uint32_t next) const {
    uint64_t word = at;
    uint32_t letters = 0, first = 0, before = ' ';
    while (word > begin && letters <= kMostLetters) {
      const uint64_t previous = Before(word, begin);
      before = At(previous).code;
      if (!IsLetter(before)) break;
      first = before;
      before = ' ';
      word = previous;
      ++letters;
    }
    if (letters == 0 || letters > kMostLetters || IsDigit(before) || before == '\'' || before == 0x2019) return false;
    if (letters == 1 && (IsUpper(first) || before == '.')) return true;
    const uint64_t size = at - word;
    return IsOneOf(kBeforeNames, word, size) || (IsDigit(next) && IsOneOf(kBeforeNumbers, word, size));
  }

  template <size_t n>
  bool IsOneOf(const char (&list)[n][6], uint64_t word, uint64_t size) const {
    for (const char* known : list) {
      if (strlen(known) == size && memcmp(known, text_ + word, static_cast<size_t>(size)) == 0) return true;
    }
    return false;
  }

  uint64_t Before(uint64_t at, uint64_t begin) const {
    uint64_t previous = at - 1;
    while (previous > begin && at - previous < 4 && (text_[previous] & 0xc0) == 0x80) --previous;
    return previous;
  }

  static constexpr uint32_t kMostLetters = 5;

  const uint8_t* const text_;
  const uint64_t size_;
  const bool wrapped_;
};

}  // namespace

bool NextSentence(const uint8_t* text, uint64_t size, uint64_t from, bool wrapped, SentenceRange* sentence) {
  return from < size && Splitter(text, size, wrapped).Next(from, sentence);
}

}  // namespace fovea::text
