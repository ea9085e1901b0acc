#include "tools/commands/completion.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <memory>

namespace fovea::tools {
namespace {

std::string Joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// A text inside '...' of a shell; the characters in `escaped` get a backslash.
std::string Quoted(const std::string& text, const std::string& escaped) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (escaped.find(c) != std::string::npos) quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted;
}

std::string BashScript(const std::vector<CommandNames>& commands) {
  std::string names, options, values;
  for (const CommandNames& command : commands) {
    names += " " + command.name;
    std::string list;
    for (const OptionNames& option : command.options) {
      for (const std::string& name : option.names) {
        list += " " + name;
        if (option.words.empty()) continue;
        values += fmt::format("    '{} {}') COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", command.name,
                              name, Joined(option.words));
      }
    }
    options += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n", command.name, list.substr(1));
  }
  return fmt::format(R"(# bash completion of fovea: source <(fovea completion bash)
_fovea() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" last="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
    return
  fi
  case "$command $last" in
{}  esac
  case "$word" in -*) ;; *) return ;; esac
  case "$command" in
{}  esac
}}
complete -o default -F _fovea fovea
)",
                     names.substr(1), values, options);
}

std::string ZshScript(const std::vector<CommandNames>& commands) {
  std::string names, options;
  for (const CommandNames& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, Quoted(command.help, ":"));
    options += fmt::format("    {}) _arguments -s", command.name);
    for (const OptionNames& option : command.options) {
      for (const std::string& name : option.names) {
        options += fmt::format(" \\\n      '*{}[{}]{}'", name, Quoted(option.help, "[]:\\"),
                               !option.has_value      ? ""
                               : option.words.empty() ? ":value:_files"
                                                      : fmt::format(":value:({})", Joined(option.words)));
      }
    }
    options += " \\\n      '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef fovea
# zsh completion of fovea: fovea completion zsh > DIR/_fovea, with DIR in fpath
_fovea() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
compdef _fovea fovea
)",
                     names, options);
}

std::string FishScript(const std::vector<CommandNames>& commands) {
  std::string script = "# fish completion of fovea: fovea completion fish | source\n";
  for (const CommandNames& command : commands) {
    script += fmt::format("complete -c fovea -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name,
                          Quoted(command.help, "\\"));
    for (const OptionNames& option : command.options) {
      script += fmt::format("complete -c fovea -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names) {
        script += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.words.empty()) {
        script += fmt::format(" -x -a '{}'", Joined(option.words));
      } else if (option.has_value) {
        script += " -r";
      }
      script += fmt::format(" -d '{}'\n", Quoted(option.help, "\\"));
    }
  }
  return script;
}

}  // namespace

std::string CompletionScript(const std::string& shell, const std::vector<CommandNames>& commands) {
  if (shell == "zsh") return ZshScript(commands);
  return shell == "fish" ? FishScript(commands) : BashScript(commands);
}

void AddCompletion(const CommandLine& line, Console* console) {
  const Command command = line.root().AddCommand(CommandGroup::kShell, "completion",
                                                 "Print a script that completes fovea's options in a shell");
  const auto shell = std::make_shared<std::string>();
  command.Under(Heading::kInput).Add("SHELL", shell.get(), "The shell").OneOf({"bash", "zsh", "fish"}).Required();
  command.Footer(
      "Examples:\n"
      "  source <(fovea completion bash)\n"
      "  fovea completion fish | source");
  command.Runs([&line, shell, console] { fmt::print(console->out, "{}", CompletionScript(*shell, line.commands())); });
}

}  // namespace fovea::tools
