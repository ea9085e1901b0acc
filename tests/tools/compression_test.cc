// Compressed sizes of texts, against Python's zlib (1.2.13, level 6).
#include "tools/generate/compression.h"

#include <gtest/gtest.h>

namespace fovea::tools {
namespace {

std::string Repeated(const std::string& part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Compression, IsZlibs) {
  EXPECT_EQ(CompressionRatio(""), 0);
  EXPECT_EQ(CompressionRatio("x"), 1.0 / 9);
  EXPECT_EQ(CompressionRatio(Repeated("a", 300)), 300.0 / 13);
  EXPECT_EQ(CompressionRatio(Repeated("thank you. ", 30)), 330.0 / 24);
  EXPECT_EQ(CompressionRatio(Repeated("I know that you know that I know. ", 12)), 408.0 / 35);
  EXPECT_EQ(CompressionRatio(Repeated("Не знаю, что сказать. ", 10)), 380.0 / 53);
}

}  // namespace
}  // namespace fovea::tools
