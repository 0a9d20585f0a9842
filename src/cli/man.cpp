// SPDX-License-Identifier: MIT
// chasqui man: the manual pages, from the same data as --help.
#include "chasqui/base/error.hpp"
#include "cli/help.hpp"

namespace chasqui::cli {
namespace {

class ManCommand final : public Command {
 public:
  ManCommand() : Command("man", "print a manual page in roff") {
    positional("COMMAND", &name_, "the command; none: the page of chasqui itself");
    example("chasqui man plan > chasqui-plan.1", "write the page");
    example("chasqui man plan | man -l -", "read it");
  }

  int run(Output& out) override {
    if (name_.empty()) {
      out.write(man_overview());
      return 0;
    }
    for (const CommandPtr& command : make_commands()) {
      if (command->name() != name_) continue;
      out.write(man_page(*command));
      return 0;
    }
    throw Error("COMMAND: '{}' is not a command; 'chasqui --help' lists them", name_);
  }

 private:
  std::string name_;
};

}  // namespace

CommandPtr make_man_command() { return std::make_unique<ManCommand>(); }

}  // namespace chasqui::cli
