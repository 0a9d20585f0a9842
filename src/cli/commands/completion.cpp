// SPDX-License-Identifier: MIT
// chasqui completion: completion scripts for shells, from the same data as --help.
#include "cli/frame/help.hpp"

namespace chasqui::cli {
namespace {

class CompletionCommand final : public Command {
 public:
  CompletionCommand() : Command("completion", "print a completion script for a shell") {
    positional("SHELL", &shell_, "the shell").required().choices({"bash", "zsh"});
    example("source <(chasqui completion bash)", "complete in this shell");
    example("chasqui completion zsh > ~/.zfunc/_chasqui", "install for zsh (with ~/.zfunc in fpath)");
  }

  int run(Output& out) override {
    out.write(shell_ == "bash" ? completion_bash() : completion_zsh());
    return 0;
  }

 private:
  std::string shell_;
};

}  // namespace

CommandPtr make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace chasqui::cli
