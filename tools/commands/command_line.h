// The command line: commands, their options under headings, the parser and the help. It wraps CLI11, which only
// command_line.cc includes because its headers take seconds to compile.
#ifndef FOVEA_TOOLS_COMMANDS_COMMAND_LINE_H_
#define FOVEA_TOOLS_COMMANDS_COMMAND_LINE_H_

#include <stdint.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fovea::tools {

// Headings of options in the help, in this order. All commands use the same heading for the same subject.
enum class Heading {
  kInput,
  kSamples,
  kModel,
  kWeights,
  kAttention,
  kLongFiles,
  kChat,
  kGeneration,
  kBeamSearch,
  kSampling,
  kScoring,
  kComparison,
  kMeasurement,
  kView,
  kOutput,
  kMachine,
  kHelp,
};

// Wrong use of a command: its message is reported with a hint to --help.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The values that an option accepts, by name.
template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

template <typename T>
std::string NameOf(const Choices<T>& choices, const T& value) {
  for (const auto& [name, choice] : choices) {
    if (choice == value) return name;
  }
  return "";
}

// An option of a command. Like the next two classes this is a handle: copies are the same option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option Required(bool required = true) const;
  // The word for its value in the help: FILE, NAME, TEXT. Default: the type.
  Option Placeholder(const std::string& word) const;
  // Shows the default value in the help.
  Option ShowDefault() const;

  // Limits of the value, inclusive.
  Option Range(int least, int most) const;
  Option Range(uint32_t least, uint32_t most) const;
  Option Range(double least, double most) const;
  Option NonNegative() const;
  Option OneOf(const std::vector<std::string>& values) const;
  // A word for a value.
  Option Synonym(const std::string& word, const std::string& value) const;
  // The number of values after the name. An option with at least 0 can be given without a value, as "".
  Option Count(int least, int most) const;
  Option Count(int count) const { return Count(count, count); }
  // For lists: a value is split at each comma.
  Option Commas() const;

  // Options that must, or must not, be given with this one. By name: any option that the command already has.
  Option Needs(Option other) const;
  Option Needs(const std::string& name) const;
  Option Excludes(Option other) const;
  Option Excludes(const std::string& name) const;
  // Calls `call` for each value that is given, before it is stored.
  Option WhenGiven(const std::function<void()>& call) const;

 private:
  CLI::Option* option_;
};

// Adds options of a command under one heading. `names`: "-o,--output", or "BLOB" for an argument that is given without
// a name. The options write to `value`, which holds the default.
class Options {
 public:
  Options(CLI::App* app, Heading heading) : app_(app), heading_(heading) {}

  Option Add(const std::string& names, std::string* value, const std::string& help) const;
  Option Add(const std::string& names, int* value, const std::string& help) const;
  Option Add(const std::string& names, uint32_t* value, const std::string& help) const;
  Option Add(const std::string& names, uint64_t* value, const std::string& help) const;
  Option Add(const std::string& names, float* value, const std::string& help) const;
  Option Add(const std::string& names, double* value, const std::string& help) const;
  Option Add(const std::string& names, std::optional<std::string>* value, const std::string& help) const;
  Option Add(const std::string& names, std::optional<uint32_t>* value, const std::string& help) const;
  Option Add(const std::string& names, std::optional<float>* value, const std::string& help) const;
  Option Add(const std::string& names, std::optional<double>* value, const std::string& help) const;
  Option Add(const std::string& names, std::vector<std::string>* value, const std::string& help) const;
  Option Add(const std::string& names, std::vector<uint32_t>* value, const std::string& help) const;
  Option Add(const std::string& names, std::vector<float>* value, const std::string& help) const;
  Option Add(const std::string& names, std::vector<double>* value, const std::string& help) const;

  // Without a value: sets `value`. A name that begins with "!" clears it.
  Option AddFlag(const std::string& names, bool* value, const std::string& help) const;

  // Without a value: calls `call` when it is given.
  Option AddAction(const std::string& names, const std::function<void()>& call, const std::string& help) const;

  // Can be given several times; `values` gets all of them.
  Option AddRepeated(const std::string& names, std::vector<std::string>* values, const std::string& help) const;

  // A number, or "none" for no limit.
  Option AddLimit(const std::string& names, std::optional<double>* limit, const std::string& help) const;

  // One of the choices, by its name.
  template <typename T>
  Option AddChoice(const std::string& names, T* value, const Choices<T>& choices, const std::string& help) const {
    std::vector<std::string> words;
    for (const auto& choice : choices) words.push_back(choice.first);
    const auto choose = [=](size_t index) { *value = choices[index].second; };
    return AddWords(names, words, choose, NameOf(choices, *value), help);
  }

 private:
  Option AddWords(const std::string& names, const std::vector<std::string>& words,
                  const std::function<void(size_t)>& choose, const std::string& chosen, const std::string& help) const;
  template <typename T>
  Option AddValue(const std::string& names, T* value, const std::string& help) const;
  Option Placed(CLI::Option* option) const;

  CLI::App* app_;
  Heading heading_;
};

// A command: options, subcommands and a function.
// Headings of the commands in the help.
enum class CommandGroup { kModels, kResults, kGeneration, kInsight, kQuality, kShell };

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command AddCommand(CommandGroup group, const std::string& name, const std::string& help) const;
  // A command of this one, under "Subcommands".
  Command AddCommand(const std::string& name, const std::string& help) const;
  Options Under(Heading heading) const { return Options(app_, heading); }
  // Options of which at most one can be given.
  Options OneUnder(Heading heading) const;
  // The end of the help: details and examples.
  void Footer(const std::string& text) const;
  // Calls `run` when the command is given without one of its subcommands.
  void Runs(const std::function<void()>& run) const;
  // Whether an option was given. Valid when the command runs.
  bool Given(const std::string& option) const;

 private:
  CLI::App* app_;
};

// Commands with their options, as shells complete them.
struct OptionNames {
  std::vector<std::string> names;  // "-o", "--output"
  bool has_value;
  std::vector<std::string> words;  // the values, if they are words; else empty
  std::string help;
};
struct CommandNames {
  std::string name, help;
  std::vector<OptionNames> options;
};

// A program's command line. One of the commands that are added must be given.
class CommandLine {
 public:
  // `version`: printed by --version.
  CommandLine(const std::string& name, const std::string& description, const std::string& version);
  ~CommandLine();

  Command root() const { return Command(app_.get()); }
  std::vector<CommandNames> commands() const;
  // Parses the arguments and runs the command, or prints the help or version to `out`; then it returns false. "help"
  // and "version" as the first argument are --help, of the command that follows, and --version. Throws UsageError, and
  // what the command throws.
  bool Run(int argc, const char* const* argv, std::ostream& out) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_COMMAND_LINE_H_
