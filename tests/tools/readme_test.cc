// ports/PROGRAMS.md quotes the examples as they are compiled, and their output is the expected one.
#include <gtest/gtest.h>
#include <stdio.h>

#include <string>

#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"

namespace fovea::test {
namespace {

TEST(Readme, QuotesTheExamples) {
  const std::string source = InSource("");
  const std::string readme = tools::ReadFile(source + "/ports/PROGRAMS.md");
  for (const std::string name : {"tests/tools/readme_example.c", "ports/examples/attention/attention.c"}) {
    const std::string example = tools::ReadFile(source + "/" + name);
    EXPECT_NE(readme.find("```c\n" + example + "```"), std::string::npos)
        << "copy " << name << " into ports/PROGRAMS.md";
  }
  // The part that uses the library.
  const std::string example = tools::ReadFile(source + "/tests/tools/cpp_example.cc");
  const std::string part =
      example.substr(example.find("fovea::Result"), example.find("\nint main") - example.find("fovea::Result"));
  EXPECT_NE(readme.find("```cpp\n" + part + "```"), std::string::npos)
      << "copy cpp_example.cc into ports/PROGRAMS.md:" << part;
}

#ifdef FOVEA_README_EXAMPLE
// An example prints the class that the command finds.
void ExpectClass(const std::string& program_path) {
  const std::string command = program_path + " " + TinyBlob("sequence") + " 'soup in the harbour' 2>&1";
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

TEST(Readme, ExampleRuns) { ExpectClass(FOVEA_README_EXAMPLE); }
TEST(Readme, CppExampleRuns) { ExpectClass(FOVEA_CPP_EXAMPLE); }
#endif

#ifdef FOVEA_ATTENTION_EXAMPLE
TEST(Readme, AttentionExampleRuns) {
  FILE* program = popen(FOVEA_ATTENTION_EXAMPLE " 2>&1", "r");
  ASSERT_NE(program, nullptr);
  char line[256] = "";
  EXPECT_NE(fgets(line, sizeof(line), program), nullptr);
  EXPECT_EQ(pclose(program), 0) << line;
  EXPECT_STREQ(line, "1.00 1.50 2.00 3.00 4.00 5.00 ");
}
#endif

}  // namespace
}  // namespace fovea::test
