// Every input of corpus/, every seed and some mutants of each go through their harness, each in a separate process with
// limited time and memory.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "tests/fuzz/harness.h"
#include "tests/support/paths.h"

namespace fovea::fuzz {
namespace {

// Limits for one input, in processor time: other programs do not count. The slowest takes two seconds under the
// sanitizers, so more than this is a hang. A process that waits is stopped later.
constexpr unsigned kSeconds = 10, kWaitSeconds = 600;
constexpr size_t kLargeBytes = 400 << 10;   // larger inputs are not mutated
constexpr long kMaxKilobytes = 1200 << 10;  // in use at once, over what the test itself has

// Runs `work` alone in a process; returns why that failed, "" if all went well.
std::string Apart(const std::function<void()>& work) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return "no process";
  if (child == 0) {
    const rlimit limit = {kSeconds, kSeconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(kWaitSeconds);
    work();
    _exit(0);
  }
  int status = 0;
  rusage usage = {};
  if (wait4(child, &status, 0, &usage) != child) return "the process was lost";
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGXCPU) return "took more than " + std::to_string(kSeconds) + " s";
    if (WTERMSIG(status) == SIGALRM) return "waits";
    return "ended by signal " + std::to_string(WTERMSIG(status));
  }
  if (WEXITSTATUS(status) != 0) return "ended with status " + std::to_string(WEXITSTATUS(status));
  rusage own = {};
  getrusage(RUSAGE_SELF, &own);
  if (usage.ru_maxrss > own.ru_maxrss + kMaxKilobytes) return "took " + std::to_string(usage.ru_maxrss >> 10) + " MB";
  return "";
}

Input InputOf(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return Input((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
}

// FOVEA_INPUT in the environment: a file that goes through the harnesses in this process, for a debugger.
class Replay : public testing::TestWithParam<const Harness*> {};

TEST_P(Replay, Corpus) {
  const std::filesystem::path folder = test::InSource(std::string("tests/fuzz/corpus/") + GetParam()->name);
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const Input input = InputOf(file);
    EXPECT_FALSE(input.empty());
    EXPECT_EQ(Apart([&] { GetParam()->use(input.data(), input.size()); }), "") << file;
  }
}

TEST_P(Replay, Seeds) {
  const std::vector<Input>& seeds = SeedsOf(*GetParam());
  for (size_t i = 0; i < seeds.size(); ++i) {
    EXPECT_EQ(Apart([&] { GetParam()->use(seeds[i].data(), seeds[i].size()); }), "") << "seed " << i;
  }
}

TEST_P(Replay, OneInput) {
  const char* file = getenv("FOVEA_INPUT");
  if (file == nullptr) return;
  const Input input = InputOf(file);
  GetParam()->use(input.data(), input.size());
}

// A little fuzzing without a fuzzer: the same mutants each time, FOVEA_MUTANTS (environment) of each input.
TEST_P(Replay, Mutants) {
  std::vector<Input> seeds = SeedsOf(*GetParam());
  const auto large = [](const Input& input) { return input.size() > kLargeBytes; };
  seeds.erase(std::remove_if(seeds.begin(), seeds.end(), large), seeds.end());
  const char* wanted = getenv("FOVEA_MUTANTS");
  const uint32_t mutants = wanted == nullptr ? 24 : static_cast<uint32_t>(strtoul(wanted, nullptr, 10));
  for (uint32_t number = 0; number < mutants; ++number) {
    Random random(number);
    Input input = random.Pick(seeds);
    for (uint32_t left = 1 + random.Below(3); left > 0; --left) input = Mutant(*GetParam(), input, random);
    const std::string outcome = Apart([&] { GetParam()->use(input.data(), input.size()); });
    if (outcome.empty()) continue;
    const std::string file = testing::TempDir() + GetParam()->name + "-mutant-" + std::to_string(number);
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    ADD_FAILURE() << file << " " << outcome;
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay, testing::ValuesIn(kHarnesses),
                         [](const auto& harness) { return std::string(harness.param->name); });

}  // namespace
}  // namespace fovea::fuzz
