// Tokens around texts that the model has no embedding of.
#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "tools/convert/text/build.h"

namespace fovea::tools {
namespace {

TEST(TokensAroundTexts, WithoutAnEmbeddingAreLeftOut) {
  const std::string folder = test::InSource("tests/data/tokenizers/wordpiece-uncased");
  std::vector<std::string> warnings;
  const auto section = [&](uint32_t rows) {
    warnings.clear();
    TextOptions options;
    options.rows = rows;
    options.warnings = &warnings;
    return BuildTextSection(folder, {}, options);
  };
  const std::vector<uint8_t> whole = section(0);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(section(1 << 20), whole);
  EXPECT_EQ(section(4), whole) << "[SEP] has id 3";
  const std::vector<uint8_t> first = section(3);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("texts are read without \"[SEP]\": the model has 3 embeddings"), std::string::npos)
      << warnings[0];
  EXPECT_LT(first.size(), whole.size());
  section(2);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("\"[CLS]\" \"[SEP]\""), std::string::npos) << warnings[0];
}

}  // namespace
}  // namespace fovea::tools
