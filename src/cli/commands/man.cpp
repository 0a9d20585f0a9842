// SPDX-License-Identifier: MIT
// chasqui man: the manual pages, from the same data as --help.
#include <cstdio>
#include <cstdlib>

#include "chasqui/base/error.hpp"
#include "cli/frame/help.hpp"

namespace chasqui::cli {
namespace {

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_entries()) {
    if (entry.make != nullptr) names.emplace_back(entry.name);
  }
  return names;
}

class ManCommand final : public Command {
 public:
  ManCommand() : Command("man", "show a manual page; into a file or pipe it goes as roff") {
    positional("COMMAND", &name_, "the command; none: the page of chasqui itself").offers(command_names());
    option("--all", "FOLDER", &folder_, "write all pages into this folder, chasqui.1, chasqui-plan.1, …").file();
    example("chasqui man plan", "read the page");
    example("chasqui man plan > chasqui-plan.1", "write it");
    example("chasqui man --all /usr/local/share/man/man1", "for `man chasqui-plan`");
  }

  int run(Output& out) override {
    if (folder_) {
      make_folder(*folder_);
      write_file(*folder_ + "/chasqui.1", man_overview(), out);
      for (const CommandPtr& command : make_commands()) {
        write_file(fmt::format("{}/chasqui-{}.1", *folder_, command->name()), man_page(*command), out);
      }
      return 0;
    }
    if (name_.empty()) return show(man_overview(), help_overview(out.width()), out);
    for (const CommandPtr& command : make_commands()) {
      if (command->name() == name_) return show(man_page(*command), help_text(*command, out.width()), out);
    }
    throw Error("COMMAND: '{}' is not a command; 'chasqui --help' lists them", name_);
  }

 private:
  /// On a terminal the page is for reading: man sets it, and without man the help says the same. Elsewhere it is what a file should hold.
  static int show(const std::string& page, const std::string& help, Output& out) {
    // Asked first: a pipe that nobody reads would end this program.
    const bool sets = out.terminal() && std::system("command -v man >/dev/null") == 0;
    std::FILE* const reader = sets ? popen("man -l -", "w") : nullptr;
    if (reader != nullptr) {
      std::fwrite(page.data(), 1, page.size(), reader);
      if (pclose(reader) == 0) return 0;
    }
    out.write(out.terminal() ? help : page);
    return 0;
  }

  std::string name_;
  std::optional<std::string> folder_;
};

}  // namespace

CommandPtr make_man_command() { return std::make_unique<ManCommand>(); }

}  // namespace chasqui::cli
