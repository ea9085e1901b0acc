#include "tools/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "tools/base/suggestion.h"
#include "tools/base/utf8_path.h"
#include "tools/commands/help_lines.h"

namespace fovea::tools {
namespace {

constexpr const char* kHeadings[] = {"Input",       "Samples",    "Model",       "Weights",  "Attention", "Long files",
                                     "Chat",        "Generation", "Beam search", "Sampling", "Scoring",   "Comparison",
                                     "Measurement", "View",       "Output",      "Machine",  "Help"};
static_assert(sizeof(kHeadings) / sizeof(kHeadings[0]) == static_cast<size_t>(Heading::kHelp) + 1);

const char* NameOf(Heading heading) { return kHeadings[static_cast<size_t>(heading)]; }

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Accepts these words only.
CLI::Validator OneOfWords(const std::vector<std::string>& words) {
  const std::string list = fmt::format("{{{}}}", fmt::join(words, ","));
  return CLI::Validator(
      [=](std::string& given) {
        if (std::find(words.begin(), words.end(), given) != words.end()) return std::string();
        return fmt::format("{} not in {}{}", given, list, Suggestion(given, words));
      },
      list);
}

// The values of such an option; empty: any. A synonym is listed as {WORD->VALUE}, which is no list of values.
std::vector<std::string> WordsOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos || Contains(type, "->")) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

// Prints options under headings, in the order of the headings. Which options exclude each other, and the ranges of
// numbers, are in the messages of a wrong use.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, name) + make_positionals(app) + Headings(*app) +
           make_subcommands(app, mode) + "\n" + make_footer(app);
  }

  std::string make_group(std::string group, bool positional, std::vector<const CLI::Option*> options) const override {
    std::string text = "\n" + HelpHeading(group) + "\n";
    for (const CLI::Option* option : options) text += make_option(option, positional);
    return text;
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    return HelpEntry(make_option_name(option, positional) + make_option_opts(option), Description(*option),
                     HelpColumns());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return HelpEntry(command->get_name(), command->get_description(), HelpColumns());
  }

  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    const std::string name = CLI::Formatter::make_option_name(option, positional);
    return name.substr(0, name.find('{'));  // without the value of a flag that clears
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    std::string text = option->get_positional() ? "" : " " + ValueWord(*option);
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    if (option->get_expected_min() > 1) text += fmt::format(" x {}", option->get_expected_min());
    return text;
  }

 private:
  static std::string ValueWord(const CLI::Option& option) {
    const std::string type = option.get_type_name(), word = type.substr(0, type.find(':'));
    if (word == "TEXT" && !WordsOf(option).empty()) return "WORD";
    if (word == "UINT" || word == "INT") return "N";
    return word == "FLOAT" ? "NUMBER" : word;
  }

  static std::string Description(const CLI::Option& option) {
    std::string text = option.get_description();
    const std::vector<std::string> words = WordsOf(option);
    const auto named = [&](const std::string& word) { return Contains(text, word); };
    if (!std::all_of(words.begin(), words.end(), named)) text += fmt::format(": {}", fmt::join(words, ", "));
    std::vector<std::string> notes;
    for (const CLI::Option* needed : option.get_needs()) {
      if (!Contains(text, needed->get_name())) notes.push_back("with " + needed->get_name());
    }
    const std::string value = option.get_default_str();
    if (!value.empty() && !Contains(text, "default")) notes.push_back("default: " + value);
    if (option.get_required() && !option.get_positional()) notes.push_back("required");
    return notes.empty() ? text : fmt::format("{} ({})", text, fmt::join(notes, "; "));
  }

  std::string Headings(const CLI::App& app) const {
    // Nameless subcommands hold options of which at most one can be given.
    std::vector<const CLI::App*> holders =
        app.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); });
    holders.push_back(&app);
    std::string text;
    for (const std::string heading : kHeadings) {
      for (const CLI::App* holder : holders) {
        const std::vector<const CLI::Option*> options = holder->get_options(
            [&](const CLI::Option* option) { return option->get_group() == heading && option->nonpositional(); });
        if (options.empty()) continue;
        text += make_group(heading + (holder == &app ? "" : " (at most one)"), false, options);
      }
    }
    return text;
  }
};

// The options of a command, including groups of which at most one can be given.
std::vector<const CLI::Option*> OptionsOf(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::App* holder : app.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); })) {
    for (const CLI::Option* option : holder->get_options({})) options.push_back(option);
  }
  for (const CLI::Option* option : app.get_options({})) options.push_back(option);
  return options;
}

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

const CLI::App& GivenCommand(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

// A message that begins with an option, with the one of its names that was given.
std::string AsGiven(const std::string& message, const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const CLI::Option* option : OptionsOf(GivenCommand(app))) {
    const std::vector<std::string> names = NamesOf(*option);
    for (const std::string& name : names) {
      if (message.rfind(name + ": ", 0) != 0) continue;
      for (const std::string& other : names) {
        const auto is_other = [&](const std::string& given) { return given.substr(0, given.find('=')) == other; };
        if (std::any_of(arguments.begin(), arguments.end(), is_other)) return other + message.substr(name.size());
      }
    }
  }
  return message;
}

// An argument without an option, and the options that read files or texts: one of them was probably meant.
std::string Superfluous(const CLI::App& command, const std::string& argument) {
  std::error_code error;
  const bool is_file = std::filesystem::exists(Utf8Path(argument), error);
  std::string options;
  for (const CLI::Option* option : OptionsOf(command)) {
    const std::string group = option->get_group();
    const bool reads = option->nonpositional() && (group == "Input" || group == "Samples");
    if (!reads || option->get_type_name() != (is_file ? "FILE" : "TEXT")) continue;
    options += fmt::format("{}{}", options.empty() ? "" : ", ", NamesOf(*option).back());
  }
  const std::string fault = fmt::format("argument '{}' is one too many", argument);
  if (options.empty()) return fault;
  return fmt::format("{}; {} given by an option: {}", fault, is_file ? "files are" : "a text is", options);
}

// Names the first argument that no option takes.
std::string UnknownArgument(const CLI::App& app) {
  const CLI::App* const command = &GivenCommand(app);
  std::vector<std::string> left = app.remaining(true);
  const auto is_option = [](const std::string& argument) { return argument.size() > 1 && argument[0] == '-'; };
  const auto found = std::find_if(left.begin(), left.end(), is_option);
  if (found == left.end()) return Superfluous(*command, left.empty() ? "" : left.front());
  const std::string given = found->substr(0, found->find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : OptionsOf(*command)) {
    for (const std::string& name : NamesOf(*option)) names.push_back(name);
  }
  return fmt::format("no option '{}'{}", given, Suggestion(given, names));
}

}  // namespace

Option Option::Required(bool required) const { return Option(option_->required(required)); }

Option Option::Placeholder(const std::string& word) const { return Option(option_->type_name(word)); }

Option Option::ShowDefault() const { return Option(option_->capture_default_str()); }

Option Option::Range(int least, int most) const { return Option(option_->check(CLI::Range(least, most))); }

Option Option::Range(uint32_t least, uint32_t most) const { return Option(option_->check(CLI::Range(least, most))); }

Option Option::Range(double least, double most) const { return Option(option_->check(CLI::Range(least, most))); }

Option Option::NonNegative() const { return Option(option_->check(CLI::NonNegativeNumber)); }

Option Option::OneOf(const std::vector<std::string>& values) const {
  return Option(option_->check(OneOfWords(values)));
}

Option Option::Synonym(const std::string& word, const std::string& value) const {
  return Option(option_->transform(CLI::Transformer(std::map<std::string, std::string>{{word, value}})));
}

Option Option::Count(int least, int most) const {
  return Option(least == most ? option_->expected(least) : option_->expected(least, most));
}

Option Option::Commas() const { return Option(option_->delimiter(',')); }

Option Option::Needs(Option other) const { return Option(option_->needs(other.option_)); }

Option Option::Needs(const std::string& name) const { return Option(option_->needs(name)); }

Option Option::Excludes(Option other) const { return Option(option_->excludes(other.option_)); }

Option Option::Excludes(const std::string& name) const { return Option(option_->excludes(name)); }

Option Option::WhenGiven(const std::function<void()>& call) const {
  return Option(option_->each([=](const std::string&) { call(); }));
}

Option Options::Placed(CLI::Option* option) const { return Option(option->group(NameOf(heading_))); }

template <typename T>
Option Options::AddValue(const std::string& names, T* value, const std::string& help) const {
  return Placed(app_->add_option(names, *value, help));
}

Option Options::Add(const std::string& names, std::string* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, int* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, uint32_t* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, uint64_t* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, float* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, double* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, std::optional<std::string>* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, std::optional<uint32_t>* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, std::optional<float>* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, std::optional<double>* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, std::vector<std::string>* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, std::vector<uint32_t>* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, std::vector<float>* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::Add(const std::string& names, std::vector<double>* value, const std::string& help) const {
  return AddValue(names, value, help);
}

Option Options::AddFlag(const std::string& names, bool* value, const std::string& help) const {
  return Placed(app_->add_flag(names, *value, help));
}

Option Options::AddAction(const std::string& names, const std::function<void()>& call, const std::string& help) const {
  return Placed(app_->add_flag_callback(names, call, help));
}

Option Options::AddRepeated(const std::string& names, std::vector<std::string>* values, const std::string& help) const {
  // Extra arguments would belong to the option: another positional argument, and the parts of a text in brackets.
  return Placed(app_->add_option(names, *values, help + " (repeatable)")
                    ->expected(1)
                    ->allow_extra_args(false)
                    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
}

Option Options::AddLimit(const std::string& names, std::optional<double>* limit, const std::string& help) const {
  const auto read = [=](const std::string& given) {
    if (given == "none") return limit->reset();
    double number = 0;
    if (!CLI::detail::lexical_cast(given, number)) throw CLI::ValidationError(names, given + " is not a number");
    *limit = number;
  };
  const std::string text =
      *limit ? fmt::format("{}; none: no limit [{}]", help, **limit) : fmt::format("{}; none: no limit", help);
  return Placed(app_->add_option_function<std::string>(names, read, text)->type_name("NUMBER"));
}

Option Options::AddWords(const std::string& names, const std::vector<std::string>& words,
                         const std::function<void(size_t)>& choose, const std::string& chosen,
                         const std::string& help) const {
  const auto read = [=](const std::string& given) {
    const auto found = std::find(words.begin(), words.end(), given);
    if (found != words.end()) choose(static_cast<size_t>(found - words.begin()));
  };
  return Placed(
      app_->add_option_function<std::string>(names, read, help)->check(OneOfWords(words))->default_function([=] {
        return chosen;
      }));
}

Command Command::AddCommand(CommandGroup group, const std::string& name, const std::string& help) const {
  const char* const headings[] = {"Models", "Results", "Generation", "Insight", "Quality and speed", "Shell"};
  const Command command = AddCommand(name, help);
  command.app_->group(headings[static_cast<size_t>(group)]);
  return command;
}

Command Command::AddCommand(const std::string& name, const std::string& help) const {
  CLI::App* const command = app_->add_subcommand(name, help);
  command->get_help_ptr()->group(NameOf(Heading::kHelp));
  return Command(command);
}

Options Command::OneUnder(Heading heading) const {
  CLI::App* const holder = app_->add_option_group(NameOf(heading));
  holder->group("")->require_option(0, 1);  // no group: HelpFormatter shows its options
  return Options(holder, heading);
}

void Command::Footer(const std::string& text) const { app_->footer(text); }

void Command::Runs(const std::function<void()>& run) const {
  app_->callback([app = app_, run] {
    if (app->get_subcommands().empty()) run();
  });
}

bool Command::Given(const std::string& option) const { return app_->count(option) != 0; }

CommandLine::CommandLine(const std::string& name, const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->get_formatter()->column_width(34);
  CLI::Option* const flag = app_->set_version_flag("--version", version);
  for (CLI::Option* option : {app_->get_help_ptr(), flag}) option->group(NameOf(Heading::kHelp));
  app_->require_subcommand(1);
  app_->allow_windows_style_options(false);  // arguments like /home/me/model are paths
}

CommandLine::~CommandLine() = default;

std::vector<CommandNames> CommandLine::commands() const {
  std::vector<CommandNames> commands;
  for (const CLI::App* command : app_->get_subcommands({})) {
    commands.push_back({command->get_name(), command->get_description(), {}});
    for (const CLI::Option* option : OptionsOf(*command)) {
      if (option->get_positional()) continue;
      commands.back().options.push_back(
          {NamesOf(*option), option->get_type_size() != 0, WordsOf(*option), option->get_description()});
    }
  }
  return commands;
}

bool CommandLine::Run(int argc, const char* const* argv, std::ostream& out) const {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty()) {
    throw UsageError(fmt::format("no command is given; '{} help' lists them", app_->get_name()));
  }
  if (arguments[0] == "help") {
    arguments.erase(arguments.begin());
    if (arguments.empty() || arguments[0][0] != '-') arguments.insert(arguments.end(), "--help");
  } else if (arguments[0] == "version") {
    arguments[0] = "--version";
  }
  const std::string command = arguments[0];
  if (command.empty() || command[0] != '-') {
    std::vector<std::string> names;
    for (const CLI::App* known : app_->get_subcommands({})) names.push_back(known->get_name());
    if (std::find(names.begin(), names.end(), command) == names.end()) {
      throw UsageError(fmt::format("no command '{}'{}", command, Suggestion(command, names)));
    }
  }
  std::reverse(arguments.begin(), arguments.end());  // as the parser expects them
  const std::vector<std::string> given = arguments;  // the parser empties them
  try {
    app_->parse(arguments);
  } catch (const CLI::ExtrasError&) {
    throw UsageError(UnknownArgument(*app_));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw UsageError(AsGiven(error.what(), *app_, given));
    app_->exit(error, out, out);  // prints the help or version
    return false;
  }
  return true;
}

}  // namespace fovea::tools
