// SPDX-License-Identifier: MIT
// chasqui bound: how fast a collective can be, without building a schedule.
#include "cli/plans/claim.hpp"
#include "cli/plans/collective_arguments.hpp"

namespace chasqui::cli {
namespace {

class BoundCommand final : public Command {
 public:
  BoundCommand() : Command("bound", "the lower bound of a collective and the best finish time known") {
    describe(
        "Prints what `chasqui plan` would say: the finish, a proved lower bound and where it comes from. No "
        "schedule is built, so P may be very large.");
    arguments_.declare(*this);
    flag("--json", json_, "print the claim as JSON");
    example("chasqui bound allgather -P 1000 -L 6 -o 2 -g 4", "bound, finish and gap");
    example("chasqui bound broadcast -N 1e6 -n 64 -L 28 -o 2 -g 6 --gamma 1 --read 2",
            "a cluster: a million nodes of 64 ranks");
    example("chasqui bound broadcast -P 10^9 -L 5e6 -o 2000 -g 4000 --json", "for programs");
  }

  int run(Output& out) override {
    const plan::PlanPtr plan = arguments_.plan();
    out.error(arguments_.machine().doubts());
    if (json_) {
      out.write(claim_json(*plan));
      return 0;
    }
    out.print("{}\n", out.bold(arguments_.heading(*plan)));
    out.write(claim_text(*plan, out));
    return 0;
  }

 private:
  CollectiveArguments arguments_;
  bool json_ = false;
};

}  // namespace

CommandPtr make_bound_command() { return std::make_unique<BoundCommand>(); }

}  // namespace chasqui::cli
