#include "tools/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace fovea::tools {
namespace {

constexpr const char* kHeadings[] = {"Input",       "Samples",    "Model",       "Weights",  "Attention", "Long files",
                                     "Chat",        "Generation", "Beam search", "Sampling", "Scoring",   "Comparison",
                                     "Measurement", "View",       "Output",      "Machine",  "Help"};
static_assert(sizeof(kHeadings) / sizeof(kHeadings[0]) == static_cast<size_t>(Heading::kHelp) + 1);

const char* NameOf(Heading heading) { return kHeadings[static_cast<size_t>(heading)]; }

// Prints options under headings, in the order of the headings.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, name) + make_positionals(app) + Headings(*app) +
           make_subcommands(app, mode) + "\n" + make_footer(app);
  }

 private:
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

}  // namespace

Option Option::Required(bool required) const { return Option(option_->required(required)); }

Option Option::Placeholder(const std::string& word) const { return Option(option_->type_name(word)); }

Option Option::ShowDefault() const { return Option(option_->capture_default_str()); }

Option Option::Range(int least, int most) const { return Option(option_->check(CLI::Range(least, most))); }

Option Option::Range(uint32_t least, uint32_t most) const { return Option(option_->check(CLI::Range(least, most))); }

Option Option::Range(double least, double most) const { return Option(option_->check(CLI::Range(least, most))); }

Option Option::NonNegative() const { return Option(option_->check(CLI::NonNegativeNumber)); }

Option Option::OneOf(const std::vector<std::string>& values) const {
  return Option(option_->check(CLI::IsMember(values)));
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
      app_->add_option_function<std::string>(names, read, help)->check(CLI::IsMember(words))->default_function([=] {
        return chosen;
      }));
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
}

CommandLine::~CommandLine() = default;

bool CommandLine::Run(int argc, const char* const* argv, std::ostream& out) const {
  const auto named = [&](CLI::App* command) { return command->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app_->get_subcommands(named).empty()) {
    throw UsageError(fmt::format("no command '{}'", argv[1]));
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw UsageError(error.what());
    app_->exit(error, out, out);  // prints the help or version
    return false;
  }
  return true;
}

}  // namespace fovea::tools
