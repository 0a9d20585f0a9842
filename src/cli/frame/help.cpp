// SPDX-License-Identifier: MIT
#include "cli/frame/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "chasqui/base/version.hpp"

namespace chasqui::cli {
namespace {

constexpr std::size_t kColumn = 26;  ///< where the explanations begin

std::string left_side(const Option& option) {
  std::string names = option.names;
  for (std::size_t at = names.find(','); at != std::string::npos; at = names.find(',', at + 2)) {
    names.insert(at + 1, " ");
  }
  if (option.positional || option.metavar.empty()) return names;
  return names + " " + option.metavar;
}

void entry(std::string& text, const std::string& left, const std::string& right, std::size_t width) {
  text += "  " + left;
  if (left.size() + 4 > kColumn) {
    text += "\n" + std::string(kColumn, ' ');
  } else {
    text += std::string(kColumn - left.size() - 2, ' ');
  }
  text += wrap(right, kColumn, width) + "\n";
}

/// The overview's order: what most people want comes first. Commands that stand in no group end it.
struct Group {
  std::string_view title;
  std::vector<std::string_view> names;
};
const Group kGroups[] = {
    {"Run", {"run", "doctor"}},
    {"Measure", {"measure", "profile", "bench", "explain", "record", "report", "tune", "cliffs"}},
    {"Plan", {"plan", "bound", "verify", "draw", "explore", "segments", "stream", "bsp", "import", "export"}},
    {"Prove", {"solve", "simulate", "check-proof", "certify", "atlas", "kernels"}},
};

std::string explanation(const Option& option) {
  std::string text = option.help;
  if (!option.allowed.empty()) text += fmt::format(" ({})", fmt::join(option.allowed, ", "));
  if (option.is_required && !option.positional) text += " (required)";
  return text;
}

}  // namespace

std::string usage(const Command& command) {
  std::string text;
  for (const Option& option : command.options()) {
    if (!option.positional) continue;
    if (option.metavar == "COMMAND" && option.is_required) return "[options] -- " + option.metavar + "...";
    const bool many = std::holds_alternative<std::vector<std::string>*>(option.target);
    const std::string shown = option.metavar + (many ? "..." : "");
    text += option.is_required ? shown + " " : "[" + shown + "] ";
  }
  return text + "[options]";
}

std::string help_text(const Command& command, int width) {
  const auto columns = static_cast<std::size_t>(width);
  std::string text = fmt::format("{}\n\nUsage: chasqui {} {}\n", command.summary(), command.name(), usage(command));
  if (!command.details().empty()) {
    std::istringstream paragraphs(command.details());
    for (std::string paragraph; std::getline(paragraphs, paragraph);) {
      text += "\n" + wrap(paragraph, 0, columns) + "\n";
    }
  }
  for (const bool positional : {true, false}) {
    std::string block;
    for (const Option& option : command.options()) {
      if (option.positional == positional) entry(block, left_side(option), explanation(option), columns);
    }
    if (!positional) entry(block, "-h, --help", "this text", columns);
    if (!block.empty()) text += (positional ? "\nArguments:\n" : "\nOptions:\n") + block;
  }
  if (!command.examples().empty()) text += "\nExamples:\n";
  for (const Example& example : command.examples()) {
    text += "  " + example.line + "\n      " + wrap(example.what, 6, columns) + "\n";
  }
  return text;
}

std::string help_overview(int width) {
  const auto columns = static_cast<std::size_t>(width);
  std::string text =
      wrap("chasqui: fast collectives for the machine at hand, with proved bounds", 0, columns) +
      "\n\nUsage: chasqui COMMAND [options]\n\n" +
      wrap(
          "Collectives are what all processors do together: broadcast, reduce, all-reduce and so on. They are planned in the "
          "LogP model: P processors, and in ticks of any length the latency L of a message, the overhead o of sending or "
          "receiving it, and the gap g between two messages of one processor.",
          0, columns) +
      "\n";
  const std::vector<CommandPtr> commands = make_commands();
  const auto print = [&](std::string_view title, const std::vector<std::string_view>& names) {
    text += fmt::format("\n{}:\n", title);
    for (const std::string_view name : names) {
      for (const CommandPtr& command : commands) {
        if (command->name() == name) entry(text, command->name(), command->summary(), columns);
      }
    }
  };
  std::vector<std::string_view> more;
  for (const CommandPtr& command : commands) {
    const bool grouped = std::any_of(std::begin(kGroups), std::end(kGroups), [&](const Group& group) {
      return std::find(group.names.begin(), group.names.end(), command->name()) != group.names.end();
    });
    if (!grouped) more.push_back(command->name());
  }
  for (const Group& group : kGroups) print(group.title, group.names);
  print("More", more);
  text += "\nOptions:\n";
  entry(text, "-h, --help", "this text; 'chasqui COMMAND --help' for one command", columns);
  entry(text, "--version", "version, and what this build lacks", columns);
  text +=
      "\nExamples:\n"
      "  chasqui run -- mpirun -n 4 ./app\n"
      "      an unchanged MPI program, with Chasqui's collectives\n"
      "  chasqui plan broadcast -P 8 -L 6 -o 2 -g 4\n"
      "      the optimal broadcast on 8 processors, drawn as a tree\n"
      "  chasqui plan allreduce -P 8 -L 6 -o 2 -g 4 --out a.json\n"
      "      write a schedule file\n"
      "  chasqui verify a.json\n"
      "      check it against the rules of the model\n"
      "  chasqui draw a.json --out a.svg\n"
      "      draw it\n"
      "\n";
  text += wrap(
      "Exit status: 0: done; 1: the answer is no (a schedule is not legal, say); 2: bad input, and one line says what to "
      "change.",
      0, columns);
  return text + "\n";
}

std::string version_text() {
  std::string text = "chasqui " CHASQUI_VERSION "\n";
  for (const CommandEntry& entry : command_entries()) {
    if (entry.make == nullptr) text += fmt::format("without {}: room {} was not built\n", entry.name, entry.missing);
  }
  return text;
}

std::vector<CommandPtr> make_commands() {
  std::vector<CommandPtr> commands;
  for (const CommandEntry& entry : command_entries()) {
    if (entry.make != nullptr) commands.push_back(entry.make());
  }
  return commands;
}

}  // namespace chasqui::cli
