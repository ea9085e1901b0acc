// Calls of the operating system that the command makes: new files, and bytes that a console can show.
#include "tools/base/system.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>

#include "tools/base/mapped_file.h"
#include "tools/base/partial_files.h"
#include "tools/base/utf8_units.h"

namespace fovea::tools {
namespace {

std::string Path(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / ("fovea-" + name)).string();
}

TEST(System, AConsoleShowsWholeCharacters) {
  const std::string text = "a\xc3\xbc\xe4\xb8\xad\xf0\x9f\x98\x80";  // characters of 1, 2, 3 and 4 bytes
  const size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  ASSERT_EQ(text.size(), 10u);
  for (size_t size = 0; size <= text.size(); ++size) EXPECT_EQ(WholeCharacters(text.substr(0, size)), ends[size]);
  // Broken text is shown as it is: nothing could complete it.
  EXPECT_EQ(WholeCharacters("\x80\x80\x80\x80\x80"), 5u);
  EXPECT_EQ(WholeCharacters("\xc3\xbc\xbc"), 3u);
}

TEST(System, ANewFileIsNoOtherOne) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "fovea-neue Datei-\xe4\xb8\xad.bin").string();
  RemoveFile(path);
  FILE* file = CreateNewFile(path);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(fwrite("a\nb\r\n", 1, 5, file), 5u);
  EXPECT_EQ(fclose(file), 0);
  EXPECT_EQ(CreateNewFile(path), nullptr);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(ReadFile(path), "a\nb\r\n");
  EXPECT_EQ(MappedFile(path).size(), 5u);
  RemoveFile(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  RemoveFile(path);
}

#ifndef _WIN32
TEST(System, SignalsRemovePartialFiles) {
  const std::string path = Path("x.part"), other = Path("kept.part");
  for (const std::string& file : {path, other}) WriteFile(file, "a", 1);
  const auto interrupted = [&] {
    signal(SIGINT, SIG_DFL);
    { const PartialFile complete(other); }
    const PartialFile partial(path);
    raise(SIGINT);
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGINT), "");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(other));
  RemoveFile(other);
}
#endif

}  // namespace
}  // namespace fovea::tools
