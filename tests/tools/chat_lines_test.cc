// Lines typed in a chat, and the times that "generate --stats" prints.
#include "tools/commands/chat_lines.h"

#include <gtest/gtest.h>

#include <regex>

#include "tests/support/paths.h"
#include "tests/support/run_command.h"

namespace fovea::test {
namespace {

using tools::ChatLine;
using tools::ChatLineOf;

TEST(ChatLines, Commands) {
  EXPECT_EQ(ChatLineOf("/help"), ChatLine::kHelp);
  EXPECT_EQ(ChatLineOf("/clear  "), ChatLine::kClear);
  EXPECT_EQ(ChatLineOf("/exit\t"), ChatLine::kExit);
  EXPECT_EQ(ChatLineOf("/quit"), ChatLine::kExit);
  EXPECT_EQ(ChatLineOf("/usr/bin"), ChatLine::kUnknown);
  EXPECT_EQ(ChatLineOf("/"), ChatLine::kUnknown);
  EXPECT_EQ(ChatLineOf(" /help"), ChatLine::kMessage);
  EXPECT_EQ(ChatLineOf("help"), ChatLine::kMessage);
  EXPECT_EQ(ChatLineOf(" \t"), ChatLine::kBlank);
  EXPECT_EQ(ChatLineOf(""), ChatLine::kBlank);
  EXPECT_EQ(ChatLineOf("//usr/bin"), ChatLine::kMessage);
  EXPECT_EQ(tools::ChatMessageOf("//usr/bin"), "/usr/bin");
  EXPECT_EQ(tools::ChatMessageOf("usr"), "usr");
}

TEST(GenerateStats, CountTokens) {
  const std::string blob = testing::TempDir() + "stats_writer.fovea";
  ASSERT_EQ(Fovea({"convert", InSource("tools/train/package-writer"), "-o", blob, "--compare", "none"}).status, 0);
  const CommandResult plain = Fovea({"generate", blob, "--ids", "5 6 7", "-n", "4", "--ignore-stop", "--stats"});
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_TRUE(std::regex_search(
      plain.err, std::regex("stats: 3 prompt tokens and 4 generated ones in [0-9.]+ s \\([0-9.]+ tokens/s\\)\n")))
      << plain.err;
  const CommandResult prompt = Fovea({"generate", blob, "--prompt", "games", "-n", "4", "--ignore-stop", "--stats"});
  ASSERT_EQ(prompt.status, 0) << prompt.err;
  EXPECT_TRUE(std::regex_search(
      prompt.err, std::regex("stats: [0-9]+ prompt tokens in [0-9.]+ s \\(.*\\); 4 generated in [0-9.]+ s")))
      << prompt.err;
  EXPECT_EQ(Fovea({"generate", blob, "--prompt", "games", "-n", "4"}).err.find("stats"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
