// Messages quote files and arguments: with any bytes in these, the message is whole, one line and harmless.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/tools/tiny_bert.h"
#include "tools/base/fail.h"

namespace fovea::test {
namespace {

using tools::Printable;

TEST(ForeignBytes, AreEscaped) {
  EXPECT_EQ(Printable("plain \"text\" \\ \u00e9\u4e2d\U0001f600\ufffd"),
            "plain \"text\" \\ \u00e9\u4e2d\U0001f600\ufffd");
  EXPECT_EQ(Printable(std::string("a\0b\x1b[31m\x7f\r", 9)), "a\\x00b\\x1b[31m\\x7f");
  EXPECT_EQ(Printable("a\tb\nc\r"), "a\\tb\\nc\\x0d");
  EXPECT_EQ(Printable("\xff\xc3\xe4\xb8"), "\\xff\\xc3\\xe4\\xb8");  // no UTF-8, nor the beginning of a character
  EXPECT_EQ(Printable("\u0085\u2028\u202e\u2066"), "\\x85\\u2028\\u202e\\u2066");
  EXPECT_EQ(Printable(Printable("\x01\xff")), Printable("\x01\xff"));
  try {
    tools::Fail("{} is {}", std::string("no\0thing", 8), "\xff");
  } catch (const tools::Failure& failure) {
    EXPECT_STREQ(failure.what(), "no\\x00thing is \\xff");
  }
}

TEST(ForeignBytes, InMessagesOfTheCommand) {
  const auto message = [](const std::vector<std::string>& arguments) {
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    for (const char c : result.err.substr(0, result.err.size() - 1)) EXPECT_GE(static_cast<uint8_t>(c), 0x20);
    return result.err;
  };
  EXPECT_NE(message({"run", "no\xff\x1b[31m.fovea", "--text", "a"}).find("no\\xff\\x1b[31m.fovea"), std::string::npos);
  EXPECT_NE(message({"no\x1bsuch"}).find("no\\x1bsuch"), std::string::npos);
  const std::string graph = Temporary("foreign.json"), blob = Temporary("foreign.fovea");
  std::ofstream(graph) << R"({"fovea": 1, "spaces": [{"name": "rows"}], "programs": [{
    "name": "main", "inputs": [{"name": "x", "space": "rows", "width": 1}],
    "operations": [{"op": "no\u0085such\u001b", "in": ["x"], "out": "y"}], "outputs": ["y"]}]})";
  EXPECT_NE(message({"convert", graph, "-o", blob}).find("no\\x85such\\x1b"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
