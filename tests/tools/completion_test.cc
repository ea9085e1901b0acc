// Scripts that let a shell complete the command (completion.sh lets shells read them).
#include "tools/commands/completion.h"

#include <gtest/gtest.h>

#include "tests/support/run_command.h"

namespace fovea::test {
namespace {

TEST(Completion, NamesCommandsOptionsAndWords) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const CommandResult made = Fovea({"completion", shell});
    ASSERT_EQ(made.status, 0) << made.err;
    for (const char* name : {"convert", "completion", "transcribe", "spans", "tokens"}) {
      EXPECT_NE(made.out.find(name), std::string::npos) << shell << " " << name;
    }
  }
  EXPECT_EQ(FoveaError({"completion", "csh"}),
            "fovea: SHELL: csh not in {bash,zsh,fish}; did you mean 'zsh'? (try --help)\n");
}

}  // namespace
}  // namespace fovea::test
