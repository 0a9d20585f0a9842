// SPDX-License-Identifier: MIT
#include "preload/serve.hpp"

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "preload/alike.hpp"
#include "preload/attempt.hpp"
#include "preload/verdict/decide.hpp"
#include "preload/verdict/for_good.hpp"
#include "preload/verify.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::preload {

std::atomic<bool> active{false};
constinit bool several_threads = true;
std::atomic<bool> engine_ran{false};

namespace {

constexpr std::uint64_t kReferences = 3;  ///< native calls timed beside the reproducible ones

/// Arguments that no program may pass: the MPI library says so at once and sends nothing, so other ranks may not even be in
/// this call, and it counts for nothing.
int judge(const Interposed& call, CommState& state) {
  const int code = call.native();
  if (code != MPI_SUCCESS) return code;
  ++state.calls;
  leave_to_library(state);
  return code;
}

/// One of ours, or of the MPI library's.
void timed_each(Race& race, Side side, double time) {
  (side == Side::ours ? race.ours_time : race.native_time) += time;
  ++(side == Side::ours ? race.ours_timed : race.native_timed);
}

/// kDeclined: not done.
int attempt_timed(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  Race& race = *decision.race;
  const bool each = decision.way != Decision::ours;
  const bool timed = each || race.sample.due(race.ours_calls);
  const double begin = timed ? clock_now() : 0;
  ServedCall served(*decision.state, comm);
  const auto way = [&](ServedCall& one) {
    if (decision.way != Decision::reproducible) return call.ours(one);
    try {
      call.reproducible(one);
    } catch (const std::bad_alloc&) {  // the others wait in the MPI library
      end_of_all(what, comm, "no memory");
    }
  };
  const int code = attempt(what, served, way);
  if (code == kDeclined) return note(what, served.declined()), code;
  const std::uint64_t made = race.ours_calls++;
  race.bytes += decision.facts.bytes;
  if (!timed) return code;
  const double time = clock_now() - begin;
  if (!each) return race.sample.add(time, made), code;
  timed_each(race, Side::ours, time);
  if (decision.comparing()) ran(race, time);
  return code;
}

int run_ours(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  const int code = attempt_timed(what, comm, call, decision);
  if (code != kDeclined) return code;
  ++decision.race->native_calls;
  return run_declined(what, comm, *decision.state, decision.facts.bytes, call.native);
}

int run_native(const Interposed& call, Decision& decision) {
  Race& race = *decision.race;
  leave_to_library(*decision.state);
  const double begin = clock_now();
  const int code = call.native();
  const double time = clock_now() - begin;
  ++race.native_calls;
  timed_each(race, Side::native, time);
  if (decision.comparing()) ran(race, time);
  return code;
}

/// A copy, where it can be had. No memory for it: this rank is not able to do what takes one. None where the MPI library refuses to pack it, which
/// will refuse the call, too.
struct Copy {
  std::optional<OutputCopy> made;
  bool able = true;

  explicit Copy(const Output& output) {
    try {
      made.emplace(output);
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
      able = false;
    }
  }
  void take_again() try {
    if (made) made->take();
  } catch (const Error&) {
    made.reset();
  }
};

/// The first call of a reduction that rounds: rehearsed, decided for good, made.
int settle(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  Race& race = *decision.race;
  const CallFacts& facts = decision.facts;
  const double begin = clock_now(), spent = race.spent;
  int code = MPI_SUCCESS;
  Reason reason = Reason::slower;
  try {
    leave_to_library(*decision.state);
    const Copy before(facts.in_place ? facts.output : Output{});
    code = make_alike(
        what, comm, facts.bytes, [&] { return choose_for_good(what, comm, call, decision, *before.made); },
        before.made.has_value());
  } catch (const Error& error) {  // in agreeing: the MPI library goes on without us
    reason = Reason::failed;
    if (settings().log) say(error.what());
  }
  race.spent = spent + clock_now() - begin;  // all of it, what comparisons have added included: none was the program's
  if (code == kDeclined) {                   // the next one is the first
    race.comparison.reset();
    note(what, Reason::failed);
    return run_native(call, decision);
  }
  if (race.comparison != nullptr) race.verdict = Verdict::native;
  race.comparison.reset();
  if (code != MPI_SUCCESS) return code;
  if (decision.state->never == Reason::broken) {
    note(what, Reason::broken);
    return run_declined(what, comm, *decision.state, facts.bytes, call.native);
  }
  decision.way = settled_side(race) == Side::ours ? Decision::ours : Decision::native;
  if (decision.way == Decision::ours) return run_ours(what, comm, call, decision);
  note(what, reason);
  return run_native(call, decision);
}

/// Both, on the same input; the program keeps the MPI library's result. Where that is an error, maybe on this rank alone, the others wait for
/// it in ours all the same.
int run_both(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  leave_to_library(*decision.state);
  Copy before(decision.facts.output), native(decision.facts.output);
  if (const int code = make_alike(
          what, comm, decision.facts.bytes, [] { return MPI_SUCCESS; }, before.able && native.able);
      code != MPI_SUCCESS) {
    if (code != kDeclined) return code;
    note(what, Reason::failed);
    return run_native(call, decision);
  }
  const std::vector<double> weights = weights_of(decision.facts, comm);
  const int code = run_native(call, decision);
  native.take_again();
  if (before.made) before.made->restore();
  const int ours = attempt_timed(what, comm, call, decision);
  if (ours == kDeclined && native.made)
    native.made->restore();  // once is enough: whoever has heard of a failure passes the call on, and once
  if (code != MPI_SUCCESS || ours == kDeclined) return code;
  if (ours != MPI_SUCCESS) return ours;
  const double worst = native.made ? difference(*native.made, decision.facts, weights) : 1;
  note_verified(what, worst == 0, worst);
  if (native.made) native.made->restore();
  return MPI_SUCCESS;
}

/// The library's collectives by which contributions travel wait for ever where lengths differ, also where the one that was asked for
/// ends with an error.
int run_reproducibly(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  const double begin = clock_now();
  Race& race = *decision.race;
  const bool refers = race.native_timed < kReferences;
  const Copy before(refers ? decision.facts.output : Output{});
  const int code = make_alike(
      what, comm, decision.facts.bytes,
      [&] {
        race.ours_time += clock_now() - begin;  // a part of what this costs
        race.plan = "in order";
        if (refers) {
          run_native(call, decision);  // the call itself says what is wrong
          --race.native_calls;         // a reference, not a call of the program
          if (before.made) before.made->restore();
        }
        return run_ours(what, comm, call, decision);
      },
      before.able);
  if (code != kDeclined) return code;
  note(what, Reason::failed);
  return run_native(call, decision);
}

int made(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  switch (decision.way) {
    case Decision::native:
      if (decision.state != nullptr) leave_to_library(*decision.state);
      return call.native();
    case Decision::alike: return pass_on_alike(what, comm, decision.facts.bytes, call.native);
    case Decision::judge: return judge(call, *decision.state);
    case Decision::compare_native: return run_native(call, decision);
    case Decision::settle: return settle(what, comm, call, decision);
    case Decision::both: return run_both(what, comm, call, decision);
    case Decision::reproducible: return run_reproducibly(what, comm, call, decision);
    default: return run_ours(what, comm, call, decision);
  }
}

}  // namespace

int serve(Collective what, MPI_Comm comm, const Interposed& call) {
  const Inside inside;
  Decision decision;
  try {
    decide(what, comm, call, decision);
  } catch (const std::bad_alloc&) {  // the others may be in the MPI library
    end_of_all(what, comm, "no memory");
  } catch (const std::exception& error) {
    if (decision.state != nullptr && decision.state->comm != nullptr) {  // the others wait for this rank
      ServedCall served(*decision.state, comm);
      const int code = attempt(what, served, [&](ServedCall& own) { own.refuse(error.what()); });
      if (code != kDeclined) return code;
      note(what, served.declined());
      return run_declined(what, comm, *decision.state, decision.facts.bytes, call.native);
    }
    end_of_all(what, comm, error.what());
  }
  try {
    return made(what, comm, call, decision);
  } catch (const std::bad_alloc&) {
    end_of_all(what, comm, "no memory");
  } catch (const std::exception& error) {
    end_of_all(what, comm, error.what());
  }
}

int run_declined(Collective what, MPI_Comm comm, CommState& state, std::size_t bytes, FunctionRef<int()> native) {
  if (state.never != Reason::broken) {
    leave_to_library(state);
    return native();
  }
  return pass_on_alike(what, comm, std::exchange(state.astray, false) ? kAstray : bytes, native);
}

/// A call of ours like one before.
[[gnu::always_inline]] static inline int serve_again(Collective what, MPI_Comm comm, CommState& state, Race& race,
                                                     const run::Call& call, std::size_t bytes) {
  const Inside inside;
  count_call(state);
  ServedCall served(state, comm);
  const int code = attempt(what, served, [&call](ServedCall& one) { one.run_again(call); });
  if (code == kDeclined) note(what, served.declined());
  ++(code == kDeclined ? race.native_calls : race.ours_calls);
  race.bytes += bytes;
  return code;
}

int serve_compared(Collective what, MPI_Comm comm, CommState& state, Race& race, const run::Call& call,
                   std::size_t bytes) {
  return serve_again(what, comm, state, race, call, bytes);
}

void compared(Race& race, Side side, double time) {
  timed_each(race, side, time);
  ran(race, time);
}

[[gnu::noinline]] static int serve_sampled(Collective what, MPI_Comm comm, CommState& state, Race& race,
                                           const run::Call& call, std::size_t bytes) {
  const std::uint64_t made = race.ours_calls;
  const double begin = clock_now();
  const int code = serve_again(what, comm, state, race, call, bytes);
  if (code != kDeclined) race.sample.add(clock_now() - begin, made);
  return code;
}

int serve_settled(Collective what, MPI_Comm comm, CommState& state, Race& race, const run::Call& call,
                  std::size_t bytes) {
  if (race.sample.due(race.ours_calls)) [[unlikely]]
    return serve_sampled(what, comm, state, race, call, bytes);
  return serve_again(what, comm, state, race, call, bytes);
}

int pass_on_again(Collective what, CommState& state, Reason reason, FunctionRef<int()> native) {
  const Inside inside;
  count_call(state);
  note(what, reason);
  leave_to_library(state);  // other ranks may come the long way
  return native();
}

void pass_on(Collective what) {
  if (!from_program()) return;
  const auto blocking = static_cast<Collective>(static_cast<int>(what) % kServed);
  const bool folds = blocking == Collective::Reduce || blocking == Collective::Allreduce ||
                     blocking == Collective::Scan || blocking == Collective::Exscan ||
                     blocking == Collective::Reduce_scatter || blocking == Collective::Reduce_scatter_block;
  note(what, folds && settings().reproducible ? Reason::irreproducible : Reason::nonblocking);
}

}  // namespace chasqui::preload
