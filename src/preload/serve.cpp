// SPDX-License-Identifier: MIT
#include "preload/serve.hpp"

#include <exception>
#include <new>
#include <string>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/run/choose.hpp"
#include "preload/report.hpp"
#include "preload/settings.hpp"
#include "preload/verify.hpp"

namespace chasqui::preload {

std::atomic<bool> active{false};
thread_local int inside_of_chasqui = 0;

namespace {

class Inside {
 public:
  Inside() { ++inside_of_chasqui; }
  ~Inside() { --inside_of_chasqui; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

constexpr std::uint64_t kReferences = 3;  ///< native calls timed beside the reproducible ones

struct Decision {
  enum Way { native, compare_native, compare_ours, ours, both, reproducible } way = native;
  bool comparing() const { return way == compare_native || way == compare_ours; }
  CommState* state = nullptr;
  Race* race = nullptr;
  CallFacts facts;
};

/// What the profile says about a race that is new.
void ask_profile(CommState& state, Race& race, const CallFacts& facts) {
  race.asked = true;
  const run::Query query{facts.shape.kind, facts.shape.kind == Kind::barrier ? 0 : facts.bytes, facts.shape.element,
                         facts.shape.op.combine == nullptr || facts.shape.op.commutative};
  run::Topology topology = state.comm->topology();
  topology.native = true;  // this library can always be left out
  const auto list = run::choices(query, topology, *settings().profile);
  for (const auto& choice : list) {
    if (choice.method == run::Method::native) continue;
    race.plan = run::to_string(choice.method);
    race.predicted = choice.nanoseconds;
    break;
  }
  if (list.front().method == run::Method::native && settings().trials > 0) race.verdict = Verdict::native;
}

void decide(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  const Settings& s = settings();
  const auto passed = [what](Reason reason) { note(what, reason); };
  if (s.disabled[static_cast<int>(what)]) return passed(Reason::disabled);
  free_ended();
  CommState* state = state_of(comm);
  if (state == nullptr) return passed(Reason::argument);
  decision.state = state;
  ++state->calls;
  if (state->never != Reason::none) return passed(state->never);
  decision.facts = call.look(*state);
  const bool folds = decision.facts.folds != MPI_DATATYPE_NULL;
  if (s.reproducible && folds && (decision.facts.reason == Reason::none || decision.facts.reason == Reason::too_long)) {
    look_for_foreigners(*state, comm);
    if (state->never != Reason::none) return passed(state->never);
    decision.race = &state->race(what, decision.facts.bytes);
    decision.way = Decision::reproducible;
    return;
  }
  if (!state->prepared) {
    if (state->calls <= s.after) return passed(Reason::early);
    prepare(*state, comm);
    if (state->never != Reason::none) return passed(state->never);
  }
  if (decision.facts.reason != Reason::none) return passed(decision.facts.reason);
  Race& race = state->race(what, decision.facts.bytes);
  decision.race = &race;
  if (!race.asked) ask_profile(*state, race, decision.facts);
  if (s.verify) {
    decision.way = Decision::both;
    return;
  }
  switch (next_turn(race, static_cast<std::uint32_t>(s.trials))) {
    case Turn::ours: decision.way = Decision::ours; break;
    case Turn::native: ++race.native_calls; return passed(Reason::slower);
    case Turn::try_ours: decision.way = Decision::compare_ours; break;
    case Turn::try_native:
      decision.way = Decision::compare_native;
      note(what, Reason::comparing);
      break;
  }
}

/// After the last timed call every rank learns what all saw, and decides alike.
void agree(Collective what, MPI_Comm comm, const Decision& decision) {
  Race& race = *decision.race;
  const auto trials = static_cast<std::uint32_t>(settings().trials);
  if (!complete(race, trials)) return;
  const double begin = clock_now();
  double mine[2] = {typical(race.ours_seen), typical(race.native_seen)};
  double most[2] = {0, 0};
  PMPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, comm);
  conclude(race, most[0], most[1], trials);
  race.spent += clock_now() - begin;
  note_verdict(what, decision.facts.bytes, race);
}

constexpr int kDeclined = -1;  ///< all ranks alike: the MPI library does it

/// Returns MPI_SUCCESS, kDeclined, or the error that the program gets.
int attempt(Collective what, ServedCall& served, const FunctionRef<void(ServedCall&)>& way) {
  int code = MPI_ERR_OTHER;
  try {
    way(served);
    return MPI_SUCCESS;
  } catch (const Declined& declined) {
    return note(what, declined.reason), kDeclined;
  } catch (const std::bad_alloc&) {  // here alone: the others must not wait for this rank
    say(std::string("MPI_") + std::string(to_string(what)) + ": no memory for the private buffers");
    served.give_up("a rank has no memory");
    code = MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    if (!served.begun()) {
      note(what, Reason::failed);
      if (settings().log) say(error.what());
      return kDeclined;
    }
    say(std::string("MPI_") + std::string(to_string(what)) + ": " + error.what());
  } catch (...) {
    if (!served.begun()) return note(what, Reason::failed), kDeclined;
    say("an operator threw");
  }
  PMPI_Comm_call_errhandler(served.comm(), code);
  return code;
}

int run_ours(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  Race& race = *decision.race;
  const bool timed = decision.way != Decision::ours || !settings().report.empty();
  const double begin = timed ? clock_now() : 0;
  ServedCall served(*decision.state, comm);
  int code = attempt(what, served, decision.way == Decision::reproducible ? call.reproducible : call.ours);
  ++(code == kDeclined ? race.native_calls : race.ours_calls);
  if (code == kDeclined) code = call.native();
  race.bytes += decision.facts.bytes;
  race.saved += race.native_typical - race.ours_typical;
  if (!timed) return code;
  const double time = clock_now() - begin;
  race.ours_time += time;
  ++race.ours_timed;
  if (decision.way != Decision::compare_ours) return code;
  saw(race, Turn::try_ours, time, static_cast<std::uint32_t>(settings().trials));
  agree(what, comm, decision);
  return code;
}

int run_native(const Interposed& call, Decision& decision) {
  Race& race = *decision.race;
  const double begin = clock_now();
  const int code = call.native();
  const double time = clock_now() - begin;
  ++race.native_calls;
  race.native_time += time;
  ++race.native_timed;
  if (decision.comparing()) saw(race, Turn::try_native, time, static_cast<std::uint32_t>(settings().trials));
  return code;
}

/// Both, on the same input; the program keeps the MPI library's result.
int run_both(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  const BufferCopy before(decision.facts.out, decision.facts.touched);
  const std::vector<double> sizes = operand_sizes(decision.facts, comm);
  const int code = run_native(call, decision);
  if (code != MPI_SUCCESS) return code;
  const BufferCopy native(decision.facts.out, decision.facts.touched);
  before.restore();
  const int ours = run_ours(what, comm, call, decision);
  if (ours != MPI_SUCCESS) return ours;
  const double worst = difference(native, decision.facts, sizes);
  note_verified(what, worst == 0, worst);
  native.restore();
  return MPI_SUCCESS;
}

int run_reproducibly(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  Race& race = *decision.race;
  race.plan = "in order";
  if (race.native_timed < kReferences) {
    const BufferCopy before(decision.facts.out, decision.facts.touched);
    const int code = run_native(call, decision);
    --race.native_calls;  // a reference, not a call of the program
    if (code != MPI_SUCCESS) return code;
    before.restore();
  }
  return run_ours(what, comm, call, decision);
}

}  // namespace

int serve_actively(Collective what, MPI_Comm comm, const Interposed& call) {
  const Inside inside;
  Decision decision;
  try {
    decide(what, comm, call, decision);
  } catch (const std::exception& error) {
    note(what, Reason::failed);
    if (settings().log) say(error.what());
    decision.way = Decision::native;
  }
  switch (decision.way) {
    case Decision::native: return call.native();
    case Decision::compare_native: return run_native(call, decision);
    case Decision::both: return run_both(what, comm, call, decision);
    case Decision::reproducible: return run_reproducibly(what, comm, call, decision);
    default: return run_ours(what, comm, call, decision);
  }
}

void pass_on(Collective what) {
  if (!active.load(std::memory_order_relaxed) || inside_of_chasqui != 0) return;
  const bool folds = what == Collective::Ireduce || what == Collective::Iallreduce || what == Collective::Iscan ||
                     what == Collective::Iexscan || what == Collective::Ireduce_scatter ||
                     what == Collective::Ireduce_scatter_block;
  note(what, folds && settings().reproducible ? Reason::irreproducible : Reason::nonblocking);
}

}  // namespace chasqui::preload
