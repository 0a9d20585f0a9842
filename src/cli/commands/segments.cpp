// SPDX-License-Identifier: MIT
// chasqui segments: into how many pieces a long message is cut for its broadcast, and why.
#include "chasqui/plan/segments.hpp"

#include <nlohmann/json.hpp>

#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/help.hpp"
#include "cli/plans/collective_arguments.hpp"

namespace chasqui::cli {
namespace {

class SegmentsCommand final : public Command {
 public:
  SegmentsCommand() : Command("segments", "into how many segments to cut a long message for its broadcast, and why") {
    describe(
        "A long message arrives earlier in pieces: ranks pass one on while the next is under way. Prints into how "
        "many segments to cut it so that the broadcast finishes earliest, by search, and what the formula says. "
        "Every byte after the first takes G ticks more (the LogGP model).");
    machine_.declare(*this);
    option("--bytes", "BYTES", &bytes_, "size of the message, like 64KiB").required();
    option("--G", "TICKS/BYTES", &G_, "gap per byte, like 1/8, 0.125 or 3; default 1, or as measured");
    flag("--why", why_, "explain the choice");
    flag("--json", json_, "print as JSON");
    example("chasqui segments -P 32 -L 2000 -o 300 -g 400 --bytes 1000000 --G 1/4 --why",
            "a megabyte at 4 bytes a tick");
  }

  int run(Output& out) override {
    const LogGP machine = machine_.machine_with_bytes(G_);
    const plan::Segmentation choice = plan::choose_segments(machine, bytes_);
    const plan::PlanPtr plan = plan::broadcast_bytes(machine, bytes_, {}, {.kernels = kernels_from_environment()});
    const plan::Claim& claim = plan->claim();
    if (json_) {
      nlohmann::ordered_json object = {{"segments", choice.best.segments},   {"segment_bytes", choice.best.bytes},
                                       {"finish", claim.finish.ticks},       {"bound", claim.bound.ticks},
                                       {"construction", claim.construction}, {"formula", choice.formula}};
      out.write(object.dump(2) + "\n");
      return 0;
    }
    if (why_) out.write(fit(plan::explain(machine, bytes_, choice), out.width()));
    out.print("{} segment{} of {} bytes\n", choice.best.segments, choice.best.segments == 1 ? "" : "s",
              choice.best.bytes);
    out.print("finish {}, bound for so many segments {}, gap {}\n", claim.finish.ticks, claim.bound.ticks,
              claim.gap().ticks);
    out.print("construction: {}\n", wrap(claim.construction, 14, static_cast<std::size_t>(out.width())));
    return 0;
  }

 private:
  MachineArguments machine_;
  std::int64_t bytes_ = 0;
  std::optional<std::string> G_;
  bool why_ = false;
  bool json_ = false;
};

}  // namespace

CommandPtr make_segments_command() { return std::make_unique<SegmentsCommand>(); }

}  // namespace chasqui::cli
