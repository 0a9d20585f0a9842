// SPDX-License-Identifier: MIT
#include "cli/frame/command.hpp"

namespace chasqui::cli {

Option& Command::positional(std::string metavar, Option::Target target, std::string help) {
  Option& added = option(std::move(metavar), "", target, std::move(help));
  added.positional = true;
  added.metavar = added.names;
  return added;
}

Option& Command::option(std::string names, std::string metavar, Option::Target target, std::string help) {
  Option added;
  added.names = std::move(names);
  added.metavar = std::move(metavar);
  added.help = std::move(help);
  added.target = target;
  options_.push_back(std::move(added));
  return options_.back();
}

Option& Command::flag(std::string names, bool& target, std::string help) {
  return option(std::move(names), "", &target, std::move(help));
}

}  // namespace chasqui::cli
