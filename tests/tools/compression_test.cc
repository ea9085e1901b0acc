// How much shorter texts become, against what zlib 1.2.13 makes of them at its usual level (6).
#include "tools/generate/compression.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace fovea::tools {
namespace {

constexpr char kWords[] =
    "the of and to in that is was for it with as his on be at by had not are but from or have an they which one you "
    "were "
    "all her she there would their we him been has when who will no more if out so up said what its about than into "
    "them "
    "can only other time new some could these two may first then do any like my now over such our man me even most "
    "made "
    "after also did many off before must well back through years much where your way down should because long each "
    "just "
    "state those people too mr how";

std::string Sentence(size_t count, uint32_t seed) {
  std::istringstream in(kWords);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    seed = (seed * 1103515245u + 12345u) & 0x7fffffffu;
    text += (i == 0 ? "" : " ") + words[(seed >> 16) % words.size()];
  }
  return text;
}

std::string Repeated(const std::string& part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Compression, IsNearlyZlibs) {
  const std::vector<std::pair<std::string, uint64_t>> cases = {
      {"", 8},
      {"x", 9},
      {Sentence(5, 1), 34},
      {Sentence(20, 2), 76},
      {Sentence(60, 3), 158},
      {Sentence(200, 4), 413},
      {Sentence(1000, 5), 1719},
      {Repeated("ha ", 100), 15},
      {Repeated("thank you. ", 30), 24},
      {Repeated("I know that you know that I know. ", 12), 35},
      {Repeated("a", 300), 13},
      {Repeated("La la, la la la. ", 9), 22},
      {"Не знаю, что сказать. ", 47},
      {Repeated("Не знаю, что сказать. ", 10), 53},
  };
  for (const auto& [text, bytes] : cases) {
    const auto expected = static_cast<double>(bytes);
    EXPECT_NEAR(static_cast<double>(CompressedBytes(text)), expected, 2 + 0.01 * expected) << text;
  }
  EXPECT_LT(CompressionRatio(Sentence(60, 3)), 2.4);
  EXPECT_GT(CompressionRatio(Repeated("thank you. ", 30)), 2.4);
}

}  // namespace
}  // namespace fovea::tools
