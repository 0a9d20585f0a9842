// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <sstream>

#include "cli/frame/help.hpp"

namespace chasqui::cli {
namespace {

std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> names;
  std::istringstream list(option.names);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names;
}

bool takes_value(const Option& option) { return !std::holds_alternative<bool*>(option.target); }

/// Text inside a zsh specification in single quotes: "[", "]", ":" and quotes would end it.
std::string zsh_quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') quoted += '\\';
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted;
}

std::string zsh_action(const Option& option) {
  const std::string message = zsh_quoted(option.metavar);
  if (!option.offered.empty()) return fmt::format(":{}:({})", message, fmt::join(option.offered, " "));
  return fmt::format(":{}:{}", message, option.is_file ? "_files" : " ");
}

/// One branch of the case over command names: what may follow.
std::string bash_case(const Command& command) {
  std::string words = "--help";
  std::string values;
  std::string positionals;
  bool positional_file = false;
  for (const Option& option : command.options()) {
    if (option.positional) {
      positional_file = positional_file || option.is_file;
      if (!option.offered.empty()) positionals += fmt::format(" {}", fmt::join(option.offered, " "));
      continue;
    }
    for (const std::string& name : names_of(option)) words += " " + name;
    if (!takes_value(option)) continue;
    const std::string reply = !option.offered.empty() ? fmt::format("choices='{}'", fmt::join(option.offered, " "))
                              : option.is_file        ? std::string("files=1")
                                                      : std::string("return");
    values += fmt::format("        {}) {} ;;\n", fmt::join(names_of(option), "|"), reply);
  }
  std::string text = fmt::format("    {})\n", command.name());
  if (!values.empty()) text += "      case \"$previous\" in\n" + values + "      esac\n";
  return text + fmt::format("      words='{}' positionals='{}'{} ;;\n", words,
                            positionals.empty() ? "" : positionals.substr(1), positional_file ? " pfiles=1" : "");
}

}  // namespace

std::string completion_bash() {
  std::string names;
  std::string cases;
  for (const CommandPtr& command : make_commands()) {
    names += command->name() + " ";
    cases += bash_case(*command);
  }
  return "# bash completion for chasqui\n"
         "_chasqui() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local words='' positionals='' choices='' files='' pfiles=''\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         names +
         "--help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"${COMP_WORDS[1]}\" in\n" +
         cases +
         "  esac\n"
         "  if [[ -n $choices ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$choices\" -- \"$current\"))\n"
         "  elif [[ -n $files ]]; then\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  elif [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -W \"$positionals\" -- \"$current\"))\n"
         "    if [[ -n $pfiles ]]; then COMPREPLY+=($(compgen -f -- \"$current\")); fi\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _chasqui chasqui\n";
}

std::string completion_zsh() {
  std::string names;
  std::string cases;
  for (const CommandPtr& command : make_commands()) {
    names += fmt::format("    '{}:{}'\n", command->name(), zsh_quoted(command->summary()));
    cases += fmt::format("    {})\n      _arguments '--help[this text]'", command->name());
    for (const Option& option : command->options()) {
      if (option.positional) {
        const bool many = std::holds_alternative<std::vector<std::string>*>(option.target);
        cases += fmt::format(" \\\n        '{}{}'", many ? "*" : "", zsh_action(option));
        continue;
      }
      for (const std::string& name : names_of(option)) {
        cases += fmt::format(" \\\n        '{}[{}]{}'", name, zsh_quoted(option.help),
                             takes_value(option) ? zsh_action(option) : "");
      }
    }
    cases += " ;;\n";
  }
  return "#compdef chasqui\n"
         "_chasqui() {\n"
         "  local -a commands\n"
         "  commands=(\n" +
         names +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local chosen=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $chosen in\n" +
         cases +
         "  esac\n"
         "}\n"
         "# From fpath this file is the function itself; sourced, it registers it.\n"
         "if [[ $funcstack[1] == _chasqui ]]; then _chasqui \"$@\"; else compdef _chasqui chasqui; fi\n";
}

}  // namespace chasqui::cli
