// Where sentences end, by examples, and properties of any text: the sentences cover it, in order, in linear time.
#include "runtime/text/sentences.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fovea/text.h"

namespace fovea::test {
namespace {

using Sentences = std::vector<std::string>;

Sentences Split(const std::string& text, uint32_t flags = 0) {
  // Memory of exactly the text's size, so that a sanitizer sees a byte read too many.
  const std::unique_ptr<char[]> copy(new char[text.size() + 1]);
  char* const bytes = copy.get() + 1;
  text.copy(bytes, text.size());
  Sentences sentences;
  uint64_t begin = 0, end = 0;
  while (fovea_text_sentence(bytes, text.size(), flags, &begin, &end) != 0) {
    EXPECT_LT(begin, end);
    EXPECT_LE(end, text.size());
    if (begin >= end || end > text.size()) break;
    sentences.push_back(text.substr(begin, end - begin));
  }
  return sentences;
}

TEST(Sentences, None) {
  EXPECT_EQ(Split(""), Sentences{});
  EXPECT_EQ(Split("  \t "), Sentences{});
  EXPECT_EQ(Split("\n\r\n\n"), Sentences{});
  EXPECT_EQ(Split("\u00a0\u3000\u2028"), Sentences{});
  EXPECT_EQ(Split("\ufeff"), Sentences{});
}

TEST(Sentences, Cases) {
  const struct {
    const char* text;
    Sentences sentences;
  } cases[] = {
      {"One word", {"One word"}},
      {" One. ", {"One."}},
      {"One. Two.", {"One.", "Two."}},
      {"One! Two? Three", {"One!", "Two?", "Three"}},
      {"What?! Really... Yes.", {"What?!", "Really...", "Yes."}},
      {"A dog. . . Then.", {"A dog. . .", "Then."}},
      {"...", {"..."}},
      {". One", {".", "One"}},
      // Closing quotes and brackets belong to the sentence, opening ones to the next.
      {"He said \"Go.\" Then (so it goes.) \"Oh.\"", {"He said \"Go.\"", "Then (so it goes.)", "\"Oh.\""}},
      {"\u201cGo.\u201d \u201cWhy?\u201d", {"\u201cGo.\u201d", "\u201cWhy?\u201d"}},
      {"Stop (now!). Go.", {"Stop (now!).", "Go."}},
      {"It works. (Mostly.) Fine.", {"It works.", "(Mostly.)", "Fine."}},
      // Before small letters, commas and dashes a sentence continues.
      {"\"Is it?\" he asked. No.", {"\"Is it?\" he asked.", "No."}},
      {"It is approx. five. Yes", {"It is approx. five.", "Yes"}},
      {"The etc. (and so on) case. B", {"The etc. (and so on) case.", "B"}},
      {"He left. 5 of them stayed", {"He left. 5 of them stayed"}},
      {"He left. 5 Of them stayed", {"He left.", "5 Of them stayed"}},
      {"Inc., of course. Co. - the rest", {"Inc., of course.", "Co. - the rest"}},
      {"Yahoo!, they said", {"Yahoo!, they said"}},
      // Numbers, names of files, addresses.
      {"Pi is 3.14. Or .5! Yes", {"Pi is 3.14.", "Or .5!", "Yes"}},
      {"See a.b.c and x.Y at http://a.org/?q=1&b. End", {"See a.b.c and x.Y at http://a.org/?q=1&b.", "End"}},
      {"Version 2.0.1. Next", {"Version 2.0.1.", "Next"}},
      {"It is 5. Six.", {"It is 5.", "Six."}},
      // Abbreviations.
      {"J. R. R. Tolkien wrote. He did.", {"J. R. R. Tolkien wrote.", "He did."}},
      {"\u00c9. Zola wrote.", {"\u00c9. Zola wrote."}},
      {"The U.S. Army, e.g. Python or i.e. Perl. Z", {"The U.S. Army, e.g. Python or i.e. Perl.", "Z"}},
      {"Dr. Who met Mrs. Brown. St. John too.", {"Dr. Who met Mrs. Brown.", "St. John too."}},
      {"Mr.\nSmith", {"Mr.", "Smith"}},
      {"No. 5 and Fig. 3, pp. 7 to 9. No. Never.", {"No. 5 and Fig. 3, pp. 7 to 9.", "No.", "Never."}},
      {"I don't. He does.", {"I don't.", "He does."}},
      {"Number 5a. Next", {"Number 5a.", "Next"}},
      {"Dr.", {"Dr."}},
      // Line ends of all kinds.
      {"One\nTwo", {"One", "Two"}},
      {"One \r\n \r\n Two\rThree\u0085Four\u2028Five\u2029Six\vSeven\fEight",
       {"One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"}},
      {"One.\r\ntwo", {"One.", "two"}},
      {"\nOne.\n\n\n", {"One."}},
      // Other scripts, with and without spaces.
      {"\u6211\u5f88\u597d\u3002\u4f60\u5462\uff1f\u300c\u597d\uff01\u300d\u4ed6\u8bf4",
       {"\u6211\u5f88\u597d\u3002", "\u4f60\u5462\uff1f", "\u300c\u597d\uff01\u300d", "\u4ed6\u8bf4"}},
      {"\uff13\uff0e\uff11\uff14 \u3067\u3059\uff0e\u6b21", {"\uff13\uff0e\uff11\uff14 \u3067\u3059\uff0e", "\u6b21"}},
      {"OK.\u4e2d\u6587", {"OK.", "\u4e2d\u6587"}},
      {"\u0928\u092e\u0938\u094d\u0924\u0947\u0964 \u0939\u0948\u0965",
       {"\u0928\u092e\u0938\u094d\u0924\u0947\u0964", "\u0939\u0948\u0965"}},
      {"\u0645\u0631\u062d\u0628\u0627\u061f \u0646\u0639\u0645",
       {"\u0645\u0631\u062d\u0628\u0627\u061f", "\u0646\u0639\u0645"}},
      {"\u0414\u0430. \u041d\u0435\u0442. \u0438 \u0442.\u0434.",
       {"\u0414\u0430.", "\u041d\u0435\u0442. \u0438 \u0442.\u0434."}},
      {"\u039d\u03b1\u03b9. \u03cc\u03c7\u03b9. \u038c\u03c7\u03b9",
       {"\u039d\u03b1\u03b9. \u03cc\u03c7\u03b9.", "\u038c\u03c7\u03b9"}},
      {"Wait\u2026 what? Wait\u2026 What", {"Wait\u2026 what?", "Wait\u2026", "What"}},
      {"Caf\u00e9. \u00c9t\u00e9. \u00e9t\u00e9", {"Caf\u00e9.", "\u00c9t\u00e9. \u00e9t\u00e9"}},
      {"Nice \U0001f600! \U0001f600 Yes. \U0001f600 no", {"Nice \U0001f600!", "\U0001f600 Yes. \U0001f600 no"}},
  };
  for (const auto& c : cases) EXPECT_EQ(Split(c.text), c.sentences) << c.text;
}

TEST(Sentences, WrappedLines) {
  const auto wrapped = [](const std::string& text) { return Split(text, FOVEA_TEXT_WRAPPED); };
  EXPECT_EQ(wrapped("A line\nthat goes on. And\r\n  on.\nNext."),
            (Sentences{"A line\nthat goes on.", "And\r\n  on.", "Next."}));
  EXPECT_EQ(wrapped("A title\n\nText\n \t\r\nmore\r\n"), (Sentences{"A title", "Text", "more"}));
  EXPECT_EQ(wrapped("Things:\n- one\n * two\n\u2022 three\n-4 is less"),
            (Sentences{"Things:", "- one", "* two", "\u2022 three\n-4 is less"}));
  EXPECT_EQ(wrapped("It is\nDr.\nWho. One.\n- two\n-"), (Sentences{"It is\nDr.\nWho.", "One.", "- two\n-"}));
  EXPECT_EQ(wrapped("etc.\nand so on\u2029New\fpage"), (Sentences{"etc.\nand so on", "New", "page"}));
  EXPECT_EQ(wrapped("etc.\n\nand so on"), (Sentences{"etc.", "and so on"}));
}

TEST(Sentences, BytesThatAreNoText) {
  EXPECT_EQ(Split(std::string("a\0b. C", 6)), (Sentences{std::string("a\0b.", 4), "C"}));
  EXPECT_EQ(Split("\xff\xfe. \xc3"), (Sentences{"\xff\xfe.", "\xc3"}));
  EXPECT_EQ(Split("\xe3\x80"), (Sentences{"\xe3\x80"}));  // the beginning of a terminator
  EXPECT_EQ(Split("\x80\x80\x80\x80\x80\x80. A"), (Sentences{"\x80\x80\x80\x80\x80\x80.", "A"}));
  uint64_t begin = 7, end = 0;
  EXPECT_EQ(fovea_text_sentence(nullptr, 9, 0, &begin, &end), 0u);
  EXPECT_EQ(fovea_text_sentence("One", 3, 0, nullptr, &end), 0u);
  EXPECT_EQ(fovea_text_sentence("One", 3, 0, &begin, nullptr), 0u);
  end = 4;
  EXPECT_EQ(fovea_text_sentence("One", 3, 0, &begin, &end), 0u);
  end = UINT64_MAX;
  EXPECT_EQ(fovea_text_sentence("One", 3, 0, &begin, &end), 0u);
  EXPECT_EQ(begin, 7u);
}

bool IsWhite(uint32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x3000 || c == 0x2028 || c == 0x2029 ||
         c == 0x200b;
}

// Random text of the characters that matter: between sentences there is white space only, and they begin and end with
// none.
TEST(Sentences, NothingIsLost) {
  const char* const parts[] = {"a",      "B",      "3",      ".",      ".",      "!",      "?",      " ",
                               " ",      "\n",     "\r",     "\"",     ")",      "(",      ",",      "-",
                               "\u00e9", "\u00c9", "\u3002", "\u4e2d", "\u2026", "\uff0e", "\u3000", "\u2029",
                               "Mr",     "No",     "\xff",   "\xc3",   "\u2019", "\t"};
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (uint32_t i = random() % 24; i > 0; --i) text += parts[random() % std::size(parts)];
    for (const bool wrapped : {false, true}) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
      text::SentenceRange range;
      uint64_t at = 0;
      const auto white = [&](uint64_t end) {
        while (at < end) {
          // Two- and three-byte white space of `parts`.
          const uint8_t b = bytes[at];
          const uint32_t size = b == 0xe3 || b == 0xe2 ? 3 : 1;
          const uint32_t code = size == 1 ? b : (b & 15u) << 12 | (bytes[at + 1] & 63u) << 6 | (bytes[at + 2] & 63u);
          if (!IsWhite(code)) return false;
          at += size;
        }
        return at == end;
      };
      while (text::NextSentence(bytes, text.size(), range.end, wrapped, &range)) {
        ASSERT_TRUE(white(range.begin)) << text;
        ASSERT_LT(range.begin, range.end) << text;
        // The end of a sentence does not depend on the text before it.
        text::SentenceRange again;
        ASSERT_TRUE(text::NextSentence(bytes, text.size(), range.begin, wrapped, &again));
        ASSERT_EQ(again.begin, range.begin) << text;
        ASSERT_EQ(again.end, range.end) << text;
        ASSERT_FALSE(IsWhite(bytes[range.begin]) || IsWhite(bytes[range.end - 1])) << text;
        at = range.end;
      }
      ASSERT_TRUE(white(text.size())) << text;
    }
  }
}

// Each of these would take hours if any byte made the search look at earlier bytes again.
TEST(Sentences, LongTexts) {
  constexpr size_t kSize = 1 << 20;
  for (const std::string part : {"a", " ", ".", ". ", "a. ", "3. ", ".1 ", "\n", "\n ", ")", ".)", "\"", "\xff", "A.",
                                 "A. ", "Mr. ", "\u3002", "\r\n\r\n"}) {
    std::string text;
    while (text.size() < kSize) text += part;
    uint64_t count = 0;
    for (const bool wrapped : {false, true}) {
      text::SentenceRange range;
      while (text::NextSentence(reinterpret_cast<const uint8_t*>(text.data()), text.size(), range.end, wrapped, &range))
        ++count;
    }
    EXPECT_LE(count, 2 * text.size());
  }
  const std::string digits = "One. " + std::string(kSize, '3') + " four";
  EXPECT_EQ(Split(digits).size(), 1u);
}

}  // namespace
}  // namespace fovea::test
