// Sets of code points as ranges, against a bit for each code point.
#include "tools/convert/text/code_ranges.h"

#include <gtest/gtest.h>

#include <random>

#include "tools/convert/text/unicode.h"

namespace fovea::test {
namespace {

using tools::CodeRanges;
using tools::kCodePoints;

constexpr uint32_t kTried = 40;  // code points; the last one means the end of a text

// A bit for each of the first code points, and one for the end of a text.
class Bits {
 public:
  explicit Bits(uint64_t bits = 0) : bits_(bits) {}
  void Add(uint32_t first, uint32_t end) {
    for (uint32_t code = first; code < end; ++code) bits_ |= uint64_t{1} << code;
  }
  void Check(const CodeRanges& set, bool others) const {
    for (uint32_t code = 0; code < kTried; ++code) ASSERT_EQ(set[code], (bits_ >> code & 1) != 0) << code;
    ASSERT_EQ(set[kTried], others);
    ASSERT_EQ(set[kCodePoints - 1], others);
    for (size_t i = 1; i < set.edges().size(); ++i) ASSERT_LT(set.edges()[i - 1], set.edges()[i]);
    ASSERT_EQ(set.edges().size() % 2, 0u);
  }
  uint64_t bits() const { return bits_; }

 private:
  uint64_t bits_;
};

TEST(CodeRanges, AreWhatBitsAre) {
  std::mt19937 random(5);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  constexpr uint64_t kAll = (uint64_t{1} << kTried) - 1;
  for (int turn = 0; turn < 2000; ++turn) {
    CodeRanges sets[2];
    Bits bits[2];
    for (int i = 0; i < 2; ++i) {
      for (uint32_t at = below(4), left = below(5); left > 0 && at + 4 < kTried; --left) {
        const uint32_t end = at + 1 + below(3);
        sets[i].Append(at, end);
        bits[i].Add(at, end);
        at = end + below(6);
      }
      bits[i].Check(sets[i], false);
    }
    EXPECT_EQ(sets[0].Meets(sets[1]), (bits[0].bits() & bits[1].bits()) != 0);
    EXPECT_EQ(sets[0] == sets[1], bits[0].bits() == bits[1].bits());
    CodeRanges both = sets[0];
    both.Include(sets[1]);
    Bits(bits[0].bits() | bits[1].bits()).Check(both, false);
    const CodeRanges inverted = both.Inverted();
    Bits(~(bits[0].bits() | bits[1].bits()) & kAll).Check(inverted, true);
    EXPECT_FALSE(inverted[kCodePoints]);
    CodeRanges flipped = both;
    flipped.Flip();
    EXPECT_TRUE(flipped[kCodePoints]);
    flipped.Flip();
    EXPECT_EQ(flipped, both);
  }
}

TEST(CodeRanges, OfProperties) {
  const CodeRanges spaces = CodeRanges::Of(tools::IsWhitespace), capitals = CodeRanges::Category("Lu"),
                   letters = CodeRanges::Category("L");
  for (uint32_t code = 0; code < kCodePoints; ++code) {
    ASSERT_EQ(spaces[code], tools::IsWhitespace(code)) << code;
    ASSERT_EQ(capitals[code], tools::CategoryName(code) == std::string("Lu")) << code;
    ASSERT_EQ(letters[code], tools::IsLetter(code)) << code;
  }
  EXPECT_TRUE(CodeRanges::Category("Xy").empty());
}

TEST(CodeRuns, HaveTheSameProperties) {
  uint32_t next = 0;
  for (const tools::CodeRun& run : tools::CodeRuns()) {
    ASSERT_EQ(run.first, next);
    ASSERT_GT(run.end, run.first);
    next = run.end;
    const std::string category = tools::CategoryName(run.first);
    for (uint32_t code = run.first; code < run.end; ++code) {
      ASSERT_EQ(tools::CategoryName(code), category) << code;
      ASSERT_EQ(tools::CombiningClass(code), tools::CombiningClass(run.first)) << code;
      if (run.maps) continue;
      ASSERT_EQ(tools::LowerCase(code), tools::Utf8(code)) << code;
      ASSERT_EQ(tools::FoldCase(code), tools::Utf8(code)) << code;
    }
  }
  EXPECT_EQ(next, kCodePoints);
  // Syllables are decomposed by computation.
  EXPECT_EQ(tools::Decompose(0xac01, false), "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8");
}

}  // namespace
}  // namespace fovea::test
