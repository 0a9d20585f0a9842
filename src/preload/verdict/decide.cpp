// SPDX-License-Identifier: MIT
#include "preload/verdict/decide.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/run/choose.hpp"
#include "preload/verdict/rehearsal.hpp"
#include "run/call/kinds.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::preload {
namespace {

/// Without the time in calls that were compared: a period has none of other races, who change sides too, and in step.
double program_clock() { return clock_now() - this_thread().compared_time; }

/// More ranks than cores? Asked on one node only, where all ranks know alike.
bool crowded(const CommState& state) { return state.comm->topology().nodes == 1 && run::crowded(*state.comm); }

constexpr double kTrusted = 1.5;  ///< a profile that sees such a factor decides for good

/// What MPI_Init found and what machine and profile say about a race that is new. Predicting takes as long as hundreds of short calls: only where it can tell
/// something of the MPI library, or somebody will read it.
void ask_profile(Collective what, CommState& state, Race& race, const CallFacts& facts) {
  race.asked = true;
  race.crowded = crowded(state);
  if (settings().trials == 0) race.verdict = Verdict::ours;
  else if (facts.folds == MPI_DATATYPE_NULL || facts.plain) expect(race, rehearsed(what, facts.bytes, state.size));
  if (settings().profile->native.empty() && settings().report.empty() && !settings().log) return;
  const std::size_t blocks = facts.shape.kind == Kind::reduce_scatter ? static_cast<std::size_t>(state.size) : 1;
  const run::Query query{facts.shape.kind, facts.shape.kind == Kind::barrier ? 0 : facts.bytes / blocks,
                         facts.shape.element, facts.shape.op.combine == nullptr || facts.shape.op.commutative};
  run::Topology topology = state.comm->topology();
  topology.native = true;  // this library can always be left out
  const auto list = run::choices(query, topology, *settings().profile);
  double native = 0;
  for (const auto& choice : list) {
    if (choice.method == run::Method::native) {
      native = choice.nanoseconds;
    } else if (race.plan.empty()) {
      race.plan = run::to_string(choice.method);
      race.predicted = choice.nanoseconds;
    }
  }
  if (settings().trials == 0 || race.rehearsed) return;
  if (!race.for_good) {
    if (list.front().method == run::Method::native) race.verdict = Verdict::native;
  } else if (native > kTrusted * race.predicted) {
    race.verdict = Verdict::ours;
  } else if (native > 0 && race.predicted > kTrusted * native) {
    race.verdict = Verdict::native;
  }
}

/// All ranks learn the most that any saw, and decide alike. REQUIRES a comparison that is due.
void agree(Collective what, const Decision& decision) {
  Race& race = *decision.race;
  const double begin = clock_now();
  std::vector<double> mine, most;
  try {
    mine = race.comparison->numbers();
    most.resize(mine.size());
  } catch (const std::bad_alloc&) {  // the others wait for this rank
    decision.state->comm->refuse("no memory to compare the two sides");
  }
  {
    const InEngine here;
    decision.state->comm->allreduce(mine, most, run::Maximum{});
  }
  const bool ended = race.comparison->agreed(most);
  if (ended) conclude(race);
  race.spent += clock_now() - begin;
  this_thread().compared_time += clock_now() - begin;
  if (ended && !race.for_good) note_verdict(what, decision.facts.bytes, race);
}

}  // namespace

bool goes_on(Collective what, const Decision& decision) {
  Race& race = *decision.race;
  race.comparison->arrive(program_clock());
  if (!race.comparison->due()) return true;
  agree(what, decision);
  if (race.comparison == nullptr) return false;
  race.comparison->arrive(program_clock());
  return true;
}

void ran(Race& race, double time) {
  race.comparison->ran(time);
  this_thread().compared_time += time;
}

namespace {

/// Nanoseconds that this process spent on preparing; communicators that live on pay it back.
std::atomic<double> spent{0};

/// Where many communicators live for a few calls each, preparing them would cost more than it brings. Spare parts cost nothing.
bool may_prepare() {
  constexpr double kMay = 2e8;  // nanoseconds, and a hundredth of the time since the first
  static const double start = clock_now();
  return spent.load() < kMay + kShare * (clock_now() - start);
}

/// False: some rank is not willing.
bool prepare_timed(CommState& state, MPI_Comm comm, bool willing) {
  const double begin = clock_now();
  const bool beside = state.beside != nullptr;  // it has noted that
  bool spare = false;
  if (!prepare(state, comm, willing, &spare)) return false;
  state.preparing = clock_now() - begin;
  spent.fetch_add(state.preparing);
  if (!beside) note_prepared(state.preparing, spare);
  return true;
}

/// Reductions that round are served from their first call on or never, so a communicator is prepared for the first one. Ranks have seen
/// different communicators: all ranks of this one agree.
bool prepared_early(CommState& state, MPI_Comm comm) {
  if (state.early) return *state.early;
  if (state.prepared) return *(state.early = true);
  look_for_foreigners(state, comm);  // they may not have this library: nothing is sent to them
  if (state.never != Reason::none) return *(state.early = true);
  return *(state.early = prepare_timed(state, comm, may_prepare()));
}

}  // namespace

void pay_back(CommState& state) {
  if (state.preparing > 0) spent.fetch_sub(std::exchange(state.preparing, 0));
}

void decide(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  const Settings& s = settings();
  const auto passed = [what](Reason reason) { note(what, reason); };
  free_ended();
  CommState* state = state_of(comm);
  if (state == nullptr) return passed(Reason::argument);
  decision.state = state;
  count_call(*state);
  if (left_as_a_whole(*state)) return passed(state->never);
  decision.facts = call.look(*state);
  if (decision.facts.reason == Reason::argument) {
    --state->calls;
    decision.way = Decision::judge;
    return passed(Reason::argument);
  }
  if (state->never == Reason::broken) {
    decision.way = Decision::alike;
    return passed(Reason::broken);
  }
  const bool folds = decision.facts.folds != MPI_DATATYPE_NULL;
  if (s.reproducible && folds && (decision.facts.reason == Reason::none || decision.facts.reason == Reason::too_long)) {
    look_for_foreigners(*state, comm);
    if (state->never != Reason::none) return passed(state->never);
    decision.race = &state->race(what, decision.facts.bytes, false);
    decision.way = Decision::reproducible;
    return;
  }
  const bool for_good = decision.facts.rounds && s.same_bits && !s.verify && decision.facts.reason == Reason::none;
  if (for_good && !prepared_early(*state, comm)) return passed(Reason::short_lived);
  if (!state->prepared && state->never == Reason::none) {
    if (state->calls <= std::max<std::int64_t>(s.after, state->asks_from)) return passed(Reason::early);
    if (!prepare_timed(*state, comm, s.after_is_given || state->calls >= kLivesOn || may_prepare())) {
      state->asks_from = 4 * state->calls;
      return passed(Reason::early);
    }
  }
  if (state->never != Reason::none) return passed(state->never);
  if (decision.facts.reason != Reason::none) return passed(decision.facts.reason);
  Race& race = state->race(what, decision.facts.bytes, for_good);
  decision.race = &race;
  if (state->failed_in != 0) {  // attempt() knows what to do
    decision.way = Decision::ours;
    return;
  }
  race.for_good = for_good;
  if (!race.asked) {
    ask_profile(what, *state, race, decision.facts);
    race.against = for_good && race.verdict == Verdict::native;
    if (race.against) race.verdict = Verdict::open;  // not before the program's own calls say so, too
  }
  if (s.verify) {
    decision.way = Decision::both;
  } else if (for_good && race.verdict == Verdict::open) {
    decision.way = Decision::settle;
  } else if (compares(race, static_cast<std::uint32_t>(s.trials), run::meets(decision.facts.shape.kind),
                      margin(decision.facts.shape.kind, decision.facts.bytes)) &&
             goes_on(what, decision)) {
    decision.way = race.comparison->turn() == Side::ours ? Decision::compare_ours : Decision::compare_native;
    if (decision.way == Decision::compare_native) note(what, Reason::comparing);
  } else if (settled_side(race) == Side::ours) {
    decision.way = Decision::ours;
  } else {
    ++race.native_calls;
    passed(Reason::slower);
  }
}

}  // namespace chasqui::preload
