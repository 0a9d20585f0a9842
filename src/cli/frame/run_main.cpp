// SPDX-License-Identifier: MIT
// Finds the command, parses its options, runs it; turns an Error into one line and exit status 2.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>

#include "chasqui/base/error.hpp"
#include "chasqui/base/printable.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/help.hpp"
#include "cli/frame/nearest.hpp"
#include "cli/frame/progress.hpp"

namespace chasqui::cli {
namespace {

constexpr int kBadInput = 2;

int complain(Output& out, const std::string& where, const std::string& what) {
  out.error(fmt::format("{}: {}\n", where, printable(what)));
  return kBadInput;
}

const CommandEntry* find_command(const std::string& name) {
  for (const CommandEntry& entry : command_entries()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

/// What `chasqui plan` plans.
std::vector<std::string> planned() {
  const CommandEntry* plan = find_command("plan");
  if (plan == nullptr || plan->make == nullptr) return {};
  const CommandPtr command = plan->make();
  for (const Option& option : command->options()) {
    if (option.positional) return option.allowed;
  }
  return {};
}

int unknown_command(Output& out, const std::string& name) {
  const std::vector<std::string> collectives = planned();
  if (std::find(collectives.begin(), collectives.end(), name) != collectives.end())
    return complain(out, "chasqui", fmt::format("'{0}' is a collective: did you mean 'chasqui plan {0}'?", name));
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_entries()) names.emplace_back(entry.name);
  if (name.starts_with("-")) names = {"--help", "--version"};
  const std::string hint = did_you_mean(name, names), other = did_you_mean(name, collectives);
  if (hint.empty() && !other.empty())
    return complain(out, "chasqui",
                    fmt::format("'{}' is not a command; 'chasqui plan' takes collectives{}", name, other));
  return complain(out, "chasqui", fmt::format("'{}' is not a command{}; 'chasqui --help' lists them", name, hint));
}

int run_command(Command& command, const std::vector<std::string>& arguments, Output& out) {
  if (asks_for_help(arguments)) {
    out.write(help_text(command, std::min(out.width(), 100)));
    out.flush();
    return 0;
  }
  const std::string where = "chasqui " + command.name();
  try {
    parse(command, arguments);
  } catch (const Error& error) {
    return complain(out, where, fmt::format("{}; see '{} --help'", error.what(), where));
  }
  // These hand the terminal to another program, or speak for themselves.
  const bool speaks = command.name() == "run" || command.name() == "explore" || command.name() == "solve";
  const std::optional<Pulse> pulse = speaks ? std::nullopt : std::optional<Pulse>(std::in_place, command.name());
  const int status = command.run(out);
  out.flush();
  return status;
}

int dispatch(const std::vector<std::string>& arguments, Output& out) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    if (arguments.size() > 1 && arguments[0] == "help") return dispatch({arguments[1], "--help"}, out);
    out.write(help_overview(std::min(out.width(), 100)));
    out.flush();
    return 0;
  }
  if (arguments[0] == "--version" || arguments[0] == "-V" || arguments[0] == "version") {
    out.write(version_text());
    out.flush();
    return 0;
  }
  const CommandEntry* entry = find_command(arguments[0]);
  if (entry == nullptr) return unknown_command(out, arguments[0]);
  if (entry->make == nullptr) {
    return complain(out, "chasqui",
                    fmt::format("'{}' is not in this build: room {} was skipped; configure again with its "
                                "packages (see packages.txt)",
                                entry->name, entry->missing));
  }
  const CommandPtr command = entry->make();
  return run_command(*command, {arguments.begin() + 1, arguments.end()}, out);
}

}  // namespace

int run_main(const std::vector<std::string>& arguments, Output& out) {
  const std::string where = arguments.empty() || arguments[0].starts_with("-") ? "chasqui" : "chasqui " + arguments[0];
  try {
    return dispatch(arguments, out);
  } catch (const Error& error) {
    return complain(out, where, error.what());
  } catch (const std::bad_alloc&) {
    return complain(out, where, "out of memory: ask for less, or for one rank with --rank");
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(
        out, where,
        fmt::format("{}: {}: check the name and the permissions", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return complain(out, where, fmt::format("unexpected: {} (a bug of chasqui: please report it)", error.what()));
  }
}

}  // namespace chasqui::cli
