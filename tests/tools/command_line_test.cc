// The command line: values of every type, their limits, relations of options, and the headings of the help.
#include "tools/commands/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/suggestion.h"
#include "tools/commands/help_lines.h"

namespace fovea::test {
namespace {

using tools::Command;
using tools::CommandLine;
using tools::Heading;
using tools::UsageError;

struct Values {
  std::string text = "none", path;
  int whole = -1;
  uint32_t count = 3;
  uint64_t bytes = 0;
  float share = 0.5f;
  double seconds = 2;
  bool flag = false, on = true;
  std::optional<std::string> separator;
  std::optional<uint32_t> beams;
  std::optional<float> penalty;
  std::optional<double> cosine, limit = 2.5;
  std::vector<std::string> texts, pair;
  std::vector<uint32_t> lengths;
  std::vector<float> temperatures;
  std::vector<double> strides;
  char letter = 'a';
  std::string one, other;
  int runs = 0, calls = 0;
};

// Parses a line for `program command`, and its options.
class CommandLineTest : public testing::Test {
 protected:
  std::string Parse(std::vector<const char*> arguments) {
    values_ = {};
    const CommandLine line("program", "A program.", "program 1.0");
    const Command command = line.root().AddCommand("command", "A command");
    const tools::Options output = command.Under(Heading::kOutput), input = command.Under(Heading::kInput);
    output.Add("--text", &values_.text, "Text").OneOf({"none", "some"});
    output.Add("--whole", &values_.whole, "Whole").NonNegative();
    output.Add("-n,--count", &values_.count, "Count").Range(1, 64).Synonym("first", "1").ShowDefault();
    output.Add("--bytes", &values_.bytes, "Bytes");
    output.Add("--share", &values_.share, "Share").Range(0.0, 1.0);
    output.Add("--seconds", &values_.seconds, "Seconds").Placeholder("SECONDS");
    output.AddFlag("--flag", &values_.flag, "Flag");
    output.AddFlag("!--off", &values_.on, "Off");
    output.Add("--separator", &values_.separator, "Separator");
    output.Add("--beams", &values_.beams, "Beams").WhenGiven([&] { ++values_.calls; });
    output.Add("--penalty", &values_.penalty, "Penalty").Needs("--beams");
    output.Add("--cosine", &values_.cosine, "Cosine").Excludes("--share");
    output.AddLimit("--limit", &values_.limit, "Limit");
    output.AddRepeated("--texts", &values_.texts, "Texts");
    output.Add("--pair", &values_.pair, "Pair").Count(2);
    output.Add("--lengths", &values_.lengths, "Lengths").Commas();
    output.Add("--temperatures", &values_.temperatures, "Temperatures").Commas();
    output.Add("--strides", &values_.strides, "Strides").Count(1, 2);
    output.AddChoice<char>("--letter", &values_.letter, {{"alpha", 'a'}, {"beta", 'b'}}, "Letter").ShowDefault();
    const tools::Options exclusive = command.OneUnder(Heading::kSamples);
    exclusive.Add("--one", &values_.one, "One");
    exclusive.Add("--other", &values_.other, "Other");
    input.Add("PATH", &values_.path, "Path").Required();
    input.AddFlag("--last", &values_.flag, "Added last");
    command.Footer("The end.");
    command.Runs([&, command] {
      ++values_.runs;
      given_ = command.Given("--count");
    });
    const Command nested = command.AddCommand("nested", "A subcommand");
    nested.Runs([&] { values_.runs += 10; });
    arguments.insert(arguments.begin(), "program");
    std::ostringstream out;
    ran_ = line.Run(static_cast<int>(arguments.size()), arguments.data(), out);
    return out.str();
  }

  std::string Fault(std::vector<const char*> arguments) {
    try {
      Parse(std::move(arguments));
    } catch (const UsageError& error) {
      EXPECT_EQ(values_.runs, 0);
      return error.what();
    }
    return "";
  }

  Values values_;
  bool ran_ = false, given_ = false;
};

TEST_F(CommandLineTest, ReadsValuesOfEveryType) {
  EXPECT_EQ(Parse({"command",        "x",          "--text",    "some",      "--whole", "7",         "-n",          "5",
                   "--bytes",        "5000000000", "--seconds", "0.25",      "--flag",  "--off",     "--beams",     "4",
                   "--penalty",      "0.5",        "--cosine",  "0.9",       "--texts", "a",         "--texts",     "b",
                   "--pair",         "c",          "d",         "--lengths", "1,2",     "--strides", "0.5",         "1",
                   "--letter",       "beta",       "--limit",   "3",         "--one",   "e",         "--separator", "",
                   "--temperatures", "0,0.2"}),
            "");
  EXPECT_TRUE(ran_);
  EXPECT_TRUE(given_);
  EXPECT_EQ(values_.runs, 1);
  EXPECT_EQ(values_.calls, 1);
  EXPECT_EQ(values_.path, "x");
  EXPECT_EQ(values_.text, "some");
  EXPECT_EQ(values_.whole, 7);
  EXPECT_EQ(values_.count, 5u);
  EXPECT_EQ(values_.bytes, 5000000000u);
  EXPECT_EQ(values_.share, 0.5f);
  EXPECT_EQ(values_.seconds, 0.25);
  EXPECT_TRUE(values_.flag);
  EXPECT_FALSE(values_.on);
  EXPECT_EQ(values_.separator, std::optional<std::string>(""));
  EXPECT_EQ(values_.beams, std::optional<uint32_t>(4));
  EXPECT_EQ(values_.penalty, std::optional<float>(0.5f));
  EXPECT_EQ(values_.cosine, std::optional<double>(0.9));
  EXPECT_EQ(values_.limit, std::optional<double>(3));
  EXPECT_EQ(values_.texts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values_.pair, (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(values_.lengths, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(values_.temperatures, (std::vector<float>{0, 0.2f}));
  EXPECT_EQ(values_.strides, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(values_.letter, 'b');
  EXPECT_EQ(values_.one, "e");
}

TEST_F(CommandLineTest, KeepsDefaults) {
  Parse({"command", "x"});
  EXPECT_FALSE(given_);
  EXPECT_EQ(values_.calls, 0);
  EXPECT_EQ(values_.text, "none");
  EXPECT_EQ(values_.count, 3u);
  EXPECT_TRUE(values_.on);
  EXPECT_FALSE(values_.beams.has_value());
  EXPECT_EQ(values_.limit, std::optional<double>(2.5));
  EXPECT_EQ(values_.letter, 'a');
  Parse({"command", "x", "--limit", "none", "--count", "first"});
  EXPECT_FALSE(values_.limit.has_value());
  EXPECT_EQ(values_.count, 1u);
}

// A text in brackets is one text, and an argument after it is not another one.
TEST_F(CommandLineTest, RepeatedOptionsKeepTheirValues) {
  EXPECT_EQ(Parse({"command", "--texts", "[a,b]", "x", "--texts", "[SEP]"}), "");
  EXPECT_EQ(values_.texts, (std::vector<std::string>{"[a,b]", "[SEP]"}));
  EXPECT_EQ(values_.path, "x");
}

TEST_F(CommandLineTest, RunsOnlyTheSubcommand) {
  Parse({"command", "x", "nested"});
  EXPECT_EQ(values_.runs, 10);
}

TEST_F(CommandLineTest, RefusesWrongUse) {
  EXPECT_EQ(Fault({}), "no command is given; 'program help' lists them");
  EXPECT_EQ(Fault({"fly"}), "no command 'fly'");
  EXPECT_EQ(Fault({"comand"}), "no command 'comand'; did you mean 'command'?");
  EXPECT_EQ(Fault({"help", "comand"}), "no command 'comand'; did you mean 'command'?");
  EXPECT_EQ(Fault({"command"}), "PATH is required");
  EXPECT_EQ(Fault({"command", "x", "--fly"}), "no option '--fly'");
  EXPECT_EQ(Fault({"command", "x", "--secnods", "1"}), "no option '--secnods'; did you mean '--seconds'?");
  EXPECT_EQ(Fault({"command", "x", "--cou=2"}), "no option '--cou'; did you mean '--count'?");
  EXPECT_EQ(Fault({"command", "x", "--twoo", "a"}), "no option '--twoo'");
  EXPECT_EQ(Fault({"command", "x", "--oter", "a"}), "no option '--oter'; did you mean '--other'?");
  EXPECT_EQ(Fault({"command", "x", "y"}), "argument 'y' is one too many; a text is given by an option: --one, --other");
  EXPECT_NE(Fovea({"run", "x", "a text"}).err.find("a text is given by an option: --text"), std::string::npos);
  EXPECT_NE(Fovea({"transcribe", "x", InSource("README.md")}).err.find("files are given by an option: --wav, --input"),
            std::string::npos);
  EXPECT_EQ(Fault({"command", "x", "--count", "65"}), "--count: Value 65 not in range 1 to 64");
  EXPECT_EQ(Fovea({"run", "x", "--threads", "0"}).err, "fovea: --threads: Value 0 not in range 1 to 64 (try --help)\n");
  EXPECT_EQ(Fovea({"run", "x", "--workers=0"}).err, "fovea: --workers: Value 0 not in range 1 to 64 (try --help)\n");
  EXPECT_EQ(Fault({"command", "x", "--count", "many"}), "--count: Value many not in range 1 to 64");
  EXPECT_EQ(Fault({"command", "x", "--share", "1.5"}), "--share: Value 1.5 not in range 0.000000 to 1.000000");
  EXPECT_EQ(Fault({"command", "x", "--whole", "-1"}).rfind("--whole: Value -1 not in range 0.0", 0), 0u);
  EXPECT_EQ(Fault({"command", "x", "--text", "all"}), "--text: all not in {none,some}");
  EXPECT_EQ(Fault({"command", "x", "--text", "smoe"}), "--text: smoe not in {none,some}; did you mean 'some'?");
  EXPECT_EQ(Fault({"command", "x", "--letter", "a"}), "--letter: a not in {alpha,beta}");
  EXPECT_EQ(Fault({"command", "x", "--limit", "much"}), "--limit: much is not a number");
  EXPECT_EQ(Fault({"command", "x", "--penalty", "1"}), "--penalty requires --beams");
  EXPECT_EQ(Fault({"command", "x", "--share", "1", "--cosine", "1"}), "--share excludes --cosine");
  EXPECT_EQ(Fault({"command", "x", "--one", "a", "--other", "b"}),
            "Requires at most 1 options be given from [--one,--other]");
}

TEST_F(CommandLineTest, PrintsOptionsUnderHeadingsInOrder) {
  const std::string help = Parse({"command", "--help"});
  EXPECT_FALSE(ran_);
  EXPECT_EQ(values_.runs, 0);
  size_t at = 0;
  for (const char* part :
       {"A command\n", "Usage: program command [OPTIONS] PATH", "\nPositionals:\n  PATH  ", "\nInput:\n  --last ",
        "\nSamples (at most one):\n  --one TEXT ", "  --other TEXT ", "\nOutput:\n  --text WORD ", "Text: none, some\n",
        "  -n,--count N ", "Count (default: 3)\n", "  --seconds SECONDS ", "  --penalty NUMBER ",
        "Penalty (with --beams)\n", "Texts (repeatable)\n", "Letter: alpha, beta (default: alpha)\n",
        "\nHelp:\n  -h,--help ", "\nSubcommands:\n  nested ", "The end.\n"}) {
    const size_t found = help.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "is not after byte " << at << " of\n" << help;
    at = found + std::string(part).size();
  }
  EXPECT_EQ(at, help.size());
  EXPECT_EQ(Parse({"help", "command"}), help);
  EXPECT_EQ(Parse({"help"}), Parse({"--help"}));
  EXPECT_EQ(Parse({"--version"}), "program 1.0\n");
  EXPECT_EQ(Parse({"version"}), "program 1.0\n");
  EXPECT_FALSE(ran_);
}

TEST(HelpLines, AreWrapped) {
  EXPECT_EQ(tools::HelpEntry("--text TEXT", "One", 60), "  --text TEXT" + std::string(21, ' ') + "One\n");
  const std::string text = tools::HelpEntry(std::string(40, 'n'), "one two three four five six seven eight nine", 60);
  std::istringstream lines(text);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "  " + std::string(40, 'n'));
  std::string words;
  while (std::getline(lines, line)) {
    EXPECT_LE(line.size(), 60u);
    EXPECT_EQ(line.find_first_not_of(' '), tools::kHelpColumn);
    words += line.substr(tools::kHelpColumn) + " ";
  }
  EXPECT_EQ(words, "one two three four five six seven eight nine ");
}

TEST(Suggestions, NeedANearWord) {
  const std::vector<std::string> words = {"run", "rank", "--text", "--texts"};
  EXPECT_EQ(tools::Suggestion("rnu", words), "; did you mean 'run'?");  // a swap is one change
  EXPECT_EQ(tools::Suggestion("ran", words), "; did you mean 'run'?");  // among equals the first
  EXPECT_EQ(tools::Suggestion("--txet", words), "; did you mean '--text'?");
  EXPECT_EQ(tools::Suggestion("--", words), "");
  EXPECT_EQ(tools::Suggestion("", words), "");
  EXPECT_EQ(tools::Suggestion(std::string(100000, 'r'), words), "");
}

}  // namespace
}  // namespace fovea::test
