// SPDX-License-Identifier: MIT
#include "preload/verdict/for_good.hpp"

#include <memory>
#include <optional>

#include "chasqui/base/clock.hpp"
#include "preload/attempt.hpp"
#include "run/call/kinds.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::preload {
namespace {

/// Fewer calls the longer they are; from 8 MiB on one of each. Where each side has few, one before them does not count: it
/// touches memory for the first time, ours the board's and the MPI library's its own. And all ranks begin them together: else a
/// call pays for ranks that are still in the one before it, as the last ones of a scan are.
BlockPlan rehearsal_of(std::size_t bytes) {
  if (bytes < 256 * 1024) return {2, 3, 1};
  return bytes < 8 * 1024 * 1024 ? BlockPlan{0, 1, 1} : BlockPlan{1, 0, 0};
}

/// The side of a reduction that rounds is chosen before its first call, by rehearsals with the program's data: whatever they
/// leave in its buffer is overwritten by the call itself. Where that is in place they begin anew each time.
/// An error of ours is that of the call. before: of what is in place.
int rehearse(Collective what, MPI_Comm comm, const Interposed& call, const Decision& decision,
             const OutputCopy& before) {
  Race& race = *decision.race;
  const CallFacts& facts = decision.facts;
  const bool in_place = facts.in_place;
  std::optional<run::Call> again;  // after the first one of ours
  const auto ours = [&](ServedCall& one) {
    if (again) return one.run_again(*again);
    call.ours(one);
    if (facts.bytes <= kMostAgain) again = call.again(one.state());
  };
  const auto made_by = [&](Side side) {
    int code = MPI_SUCCESS;
    if (side == Side::native) {
      leave_to_library(*decision.state);
      call.native();  // the call itself says what is wrong
    } else {
      ServedCall served(*decision.state, comm);
      code = attempt(what, served, ours);
    }
    return code == kDeclined ? MPI_SUCCESS : code;
  };
  const BlockPlan plan = rehearsal_of(facts.bytes);
  for (const Side side : {Side::native, Side::ours}) {
    if (plan.first != 1) break;
    const double begin = clock_now();
    const int code = made_by(side);
    this_thread().compared_time += clock_now() - begin;
    if (in_place) before.restore();
    if (code != MPI_SUCCESS) return code;
  }
  const auto meet = [&] {
    if (plan.first != 1) return;
    const InEngine here;
    decision.state->comm->barrier();
  };
  for (meet(); goes_on(what, decision); meet()) {
    const double begin = clock_now();
    const int code = made_by(race.comparison->turn());
    ran(race, clock_now() - begin);
    if (in_place) before.restore();
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace

int choose_for_good(Collective what, MPI_Comm comm, const Interposed& call, const Decision& decision,
                    const OutputCopy& before) {
  Race& race = *decision.race;
  Looks looks;
  if (race.against) looks.add(Side::native);
  while (!looks.sure()) {
    race.comparison = std::make_unique<Comparison>(rehearsal_of(decision.facts.bytes), Side::native, Trust::none,
                                                   run::meets(decision.facts.shape.kind));
    const int code = rehearse(what, comm, call, decision, before);
    if (code != MPI_SUCCESS || race.comparison != nullptr) return code;
    looks.add(settled_side(race));
  }
  note_verdict(what, decision.facts.bytes, race);
  return MPI_SUCCESS;
}

}  // namespace chasqui::preload
