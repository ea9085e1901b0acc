// README.md quotes the C example as it is compiled, and the example says what the fovea command says.
#include <gtest/gtest.h>
#include <stdio.h>

#include <string>

#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"

namespace fovea::test {
namespace {

TEST(Readme, QuotesTheExample) {
  const std::string source = FOVEA_SOURCE_DIR;
  const std::string readme = tools::ReadFile(source + "/README.md");
  const std::string example = tools::ReadFile(source + "/tests/tools/readme_example.c");
  EXPECT_NE(readme.find("```c\n" + example + "```"), std::string::npos)
      << "copy tests/tools/readme_example.c into README.md";
}

#ifdef FOVEA_README_EXAMPLE
TEST(Readme, ExampleRuns) {
  // The example leaves its memory to the end of the process, which is no leak worth reporting.
  const std::string command = "env ASAN_OPTIONS=detect_leaks=0 " + std::string(FOVEA_README_EXAMPLE) + " " +
                              TinyBlob("sequence") + " 'soup in the harbour' 2>&1";
  FILE* program = popen(command.c_str(), "r");
  ASSERT_NE(program, nullptr);
  char line[256] = "";
  EXPECT_NE(fgets(line, sizeof(line), program), nullptr);
  EXPECT_EQ(pclose(program), 0) << line;
  const std::string classes = Fovea({"run", TinyBlob("sequence"), "--text", "soup in the harbour", "--top", "1"}).out;
  std::string label = line;
  label.erase(label.find_last_not_of('\n') + 1);
  EXPECT_NE(classes.find(" " + label + "\n"), std::string::npos) << classes << line;
}
#endif

}  // namespace
}  // namespace fovea::test
