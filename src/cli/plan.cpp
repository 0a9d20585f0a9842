// SPDX-License-Identifier: MIT
// chasqui plan: the best schedule known for a collective on a machine.
#include "cli/collectives.hpp"
#include "cli/command.hpp"

namespace chasqui::cli {
namespace {

class PlanCommand final : public Command {
 public:
  PlanCommand() : Command("plan", "plan a collective: the best schedule known, and how good it is") {
    arguments_.declare(*this);
  }

  int run(Output& out) override {
    const plan::PlanPtr plan = arguments_.plan();
    out.print("{} on {}\n", arguments_.collective().name, to_string(plan->machine()));
    out.print("  finish  {}\n", plan->claim().finish.ticks);
    return 0;
  }

 private:
  CollectiveArguments arguments_;
};

}  // namespace

CommandPtr make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace chasqui::cli
