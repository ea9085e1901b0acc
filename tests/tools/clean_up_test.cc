// Spaces before English punctuation, in a whole text and in one that comes in parts.
#include "tools/generate/clean_up.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace fovea::tools {
namespace {

TEST(CleanUp, RemovesSpacesBeforePunctuationAndContractions) {
  EXPECT_EQ(CleanedUp("Hello , world ! Why ?  I do n't , he 's , we 've , they 're , I 'm . ' x ' y"),
            "Hello, world! Why?  I don't, he's, we've, they're, I'm.'x'y");
  EXPECT_EQ(CleanedUp("a  ."), "a .") << "one space";
  EXPECT_EQ(CleanedUp(" . . ."), "...");
  EXPECT_EQ(CleanedUp("x != y"), "x!= y");
  EXPECT_EQ(CleanedUp(""), "");
}

TEST(CleanUp, OfPartsIsThatOfTheWhole) {
  std::mt19937 random(5);
  const std::string letters = "    ''nnttsvrem.,!?ab";
  size_t changed = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    std::string whole(random() % 24, 'x');
    for (char& c : whole) c = letters[random() % letters.size()];
    CleanUp clean;
    std::string shown;
    for (size_t at = 0; at < whole.size();) {
      const size_t count = 1 + random() % 4;
      shown += clean.Add(whole.substr(at, count));
      at += count;
    }
    shown += clean.End();
    ASSERT_EQ(shown, CleanedUp(whole)) << "'" << whole << "'";
    changed += shown != whole ? 1 : 0;
  }
  EXPECT_GT(changed, 5000u);
}

TEST(CleanUp, ShowsWordsAsTheyCome) {
  CleanUp clean;
  EXPECT_EQ(clean.Add("Hello"), "Hello");
  EXPECT_EQ(clean.Add(" world"), "");
  EXPECT_EQ(clean.Add(" and"), " world");
  EXPECT_EQ(clean.Add(" alongerword"), " and");
  EXPECT_EQ(clean.Add("s"), " alongerwords");
  EXPECT_EQ(clean.End(), "");
}

}  // namespace
}  // namespace fovea::tools
