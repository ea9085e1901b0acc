// Patterns of pre-tokenizers: which ones are supported, and their matches.
#include "tools/convert/text/pattern.h"

#include <gtest/gtest.h>

#include "runtime/text/cutter.h"
#include "tests/support/fewer_cases.h"
#include "tools/base/fail.h"

namespace fovea::test {
namespace {

std::string Refused(const std::string& regex) {
  try {
    const tools::Pattern pattern = tools::ReadPattern(regex);
    tools::CompilePatterns({pattern.get()});
  } catch (const tools::Failure& failure) {
    return failure.what();
  }
  return "";
}

// A pattern's tables, and its matches in square brackets.
class Cuts {
 public:
  explicit Cuts(const std::string& regex) {
    const tools::Pattern pattern = tools::ReadPattern(regex);
    tables_ = tools::CompilePatterns({pattern.get()});
    tokenizer_.cut_classes = {tables_.classes.data(), static_cast<uint32_t>(tables_.classes.size())};
    tokenizer_.cut_transitions = {tables_.transitions.data(), static_cast<uint32_t>(tables_.transitions.size())};
    step_ = {static_cast<uint32_t>(text::StepKind::kCut),
             0,
             tables_.places[0].first,
             tables_.places[0].states,
             tables_.class_count,
             0};
  }
  bool Run(const std::string& string, std::string* shown) {
    const text::View view{reinterpret_cast<const uint8_t*>(string.data()), nullptr, 0,
                          static_cast<uint32_t>(string.size())};
    text::Cutter cutter(tokenizer_, step_, view);
    text::Cutter::Part part;
    for (uint32_t at = 0; cutter.Next(&part); at = part.end) {
      const std::string piece = string.substr(at, part.end - at);
      if (shown != nullptr) *shown += part.match ? "[" + piece + "]" : piece;
    }
    return cutter.ok();
  }
  std::string Show(const std::string& string) {
    std::string shown;
    EXPECT_TRUE(Run(string, &shown));
    return shown;
  }
  std::vector<uint16_t>& transitions() { return tables_.transitions; }
  size_t states() const { return step_.b - 1; }

 private:
  tools::PatternTables tables_;
  Tokenizer tokenizer_ = {};
  text::Step step_ = {};
};

TEST(Pattern, FindsWhatASearchWithAlternativesFinds) {
  EXPECT_EQ(Cuts("a|ab").Show("abab"), "[a]b[a]b");  // the first one that matches, not the longest
  EXPECT_EQ(Cuts("ab|a").Show("aabb"), "[a][ab]b");
  EXPECT_EQ(Cuts("a*b|a").Show("aaab aaa"), "[aaab] [a][a][a]");
  EXPECT_EQ(Cuts("\\d{1,3}").Show("12345 \u0663"), "[123][45] [\u0663]");
  EXPECT_EQ(Cuts("x{2}").Show("xxxxx"), "[xx][xx]x");
  EXPECT_EQ(Cuts("x{2,}").Show("x xxxxx"), "x [xxxxx]");
  EXPECT_EQ(Cuts("\\s+(?!\\S)").Show("a   b  "), "a[  ] b[  ]");
  EXPECT_EQ(Cuts("a(?=b)").Show("abaa"), "[a]baa");
  EXPECT_EQ(Cuts("\\s+$").Show(" a \n  b  "), " a[ ]\n  b[  ]");
  EXPECT_EQ(Cuts("(?i:'s|k)").Show("'S '\u017f K \u212a 's"), "['S] ['\u017f] [K] [\u212a] ['s]");
  EXPECT_EQ(Cuts("[^a-c\\n]+").Show("abcxyz\nd"), "abc[xyz]\n[d]");
  EXPECT_EQ(Cuts("[a-c[x-z]-]+").Show("ab-z d"), "[ab-z] d");
  EXPECT_EQ(Cuts("\\p{Lu}\\p{Ll}*|\\P{L}").Show("AbC d1"), "[Ab][C][ ]d[1]");
  EXPECT_EQ(Cuts("[\\x{4e00}-\\u4e10]").Show("\u4e01\u4e11"), "[\u4e01]\u4e11");
  EXPECT_EQ(Cuts("a.").Show("ab a\n"), "[ab] a\n");
  EXPECT_EQ(Cuts("\\p{Han}+").Show("a\u4e2d\u6587\u3042"), "a[\u4e2d\u6587]\u3042");
  EXPECT_EQ(Cuts("[\\p{Hiragana}\\p{Katakana}]+|\\P{Latin}").Show("a\u3042\u30a21"), "a[\u3042\u30a2][1]");
  // Possessive repetition that never has to give back what it took.
  EXPECT_EQ(Cuts(" ?[^\\sa-z]++[\\r\\n]*|[^\\na-z]?+[a-z]++").Show("!!\n.ab 12"), "[!!\n][.][ab][ 12]");
  EXPECT_EQ(Cuts("a++|b").Show("aab"), "[aa][b]");
}

TEST(Pattern, RefusesByName) {
  const std::vector<const char*> refused = {"(a)\\1",  "a+?",   "a++a",   "(?:a++)b",    "\\bx",         "(?<=a)b",
                                            "(?<!a)b", "^a",    "[a&&b]", "[[:alpha:]]", "\\p{Tirhuta}", "\\p{",
                                            "[a",      "(a",    "a)",     "a{3,1}",      "a{1,900}",     "*a",
                                            "(?>a)",   "[z-a]", "\\",     "(?=ab)c",     "\\p{Lx}"};
  for (size_t i = 0; i < refused.size(); i += FewerCases() ? 7 : 1) {
    const char* regex = refused[i];
    EXPECT_NE(Refused(regex).find(regex), std::string::npos) << regex << ": " << Refused(regex);
  }
  EXPECT_NE(Refused("").find("empty string"), std::string::npos);
  EXPECT_NE(Refused("a*").find("empty string"), std::string::npos);
  EXPECT_NE(Refused("((((((a{64}){64}){64}){64}){64}){64})").find("too large"), std::string::npos);
  EXPECT_NE(Refused(std::string(1000, '(')).find("not supported"), std::string::npos);
}

// Searches that nearly match at every place.
TEST(Pattern, TimeIsLinear) {
  const size_t size = FewerCases() ? 1 << 16 : 1 << 19;
  const char* const published[] = {
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
      R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      R"(\s+$)",
      R"(\s?\p{L}+)",
      "a*b|a"};
  std::vector<std::string> texts;
  for (const char* part :
       {" ", "\n", "\n ", "\n   ", "a", "A", "Aa", "'", "' ", "1", "\u0301", "\u3042", "!\n", "\r\n "}) {
    std::string text;
    while (text.size() < size) text += part;
    texts.push_back(text + "x");
    texts.push_back(text);
  }
  for (const char* regex : published) {
    Cuts cuts(regex);
    for (const std::string& text : texts) EXPECT_TRUE(cuts.Run(text, nullptr)) << regex << " " << text.substr(0, 4);
  }
}

// A table that no pattern produces: two states that alternate and match nothing. The search gives up.
TEST(Pattern, HostileTablesAreGivenUp) {
  Cuts cuts("aab");
  const std::string text(1 << 16, 'a');
  EXPECT_TRUE(cuts.Run(text, nullptr));
  const size_t width = cuts.transitions().size() / cuts.states();
  for (size_t i = 0; i < cuts.transitions().size(); ++i) cuts.transitions()[i] = i / width == 1 ? 3 : 2;
  EXPECT_FALSE(cuts.Run(text, nullptr));
}

}  // namespace
}  // namespace fovea::test
