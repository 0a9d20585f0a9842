// SPDX-License-Identifier: MIT
#include "preload/serve.hpp"

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/run/choose.hpp"
#include "preload/native.hpp"
#include "preload/verdict/decide.hpp"
#include "preload/verify.hpp"
#include "run/call/kinds.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::preload {

std::atomic<bool> active{false};
constinit bool several_threads = true;
std::atomic<bool> engine_ran{false};

static bool handled_by(MPI_Errhandler wanted, MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  const bool found = handler == wanted;
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  return found;
}

int raise(MPI_Comm comm, int error_class, const std::string& text) {
  if (!handled_by(MPI_ERRORS_RETURN, comm) || settings().log) say(text);
  int code = error_class;
#ifdef OPEN_MPI
  if (PMPI_Add_error_code(error_class, &code) == MPI_SUCCESS) {
    PMPI_Add_error_string(code, text.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
  }
#endif
  if (kCallsHandlers) PMPI_Comm_call_errhandler(comm, code);
  return code;
}

namespace {

/// The others are on their way into what this rank cannot make, and nobody can tell them.
[[noreturn, gnu::cold]] void end_of_all(Collective what, MPI_Comm comm, const char* why) {
  say_last(fmt::format("MPI_{}: {}: this rank cannot take part in what the others agree on", to_string(what), why));
  PMPI_Abort(comm, 1);
  std::abort();
}

constexpr std::size_t kAstray = ~std::size_t{0};  ///< bytes of a call after one that ranks made with different lengths

/// Where the MPI library does calls that ranks may well make with different lengths: it would wait for ever in most of those, so they ask
/// each other first. Each rank gets the error of a call that they do not make alike, and nobody makes it. able: has this rank what it takes?
/// kDeclined, if one has not: nobody makes it then, either.
int make_alike(Collective what, MPI_Comm comm, std::size_t bytes, FunctionRef<int()> made, bool able = true) {
  constexpr int kBits = 50;
  constexpr std::int64_t kLonger = (std::int64_t{1} << kBits) - 1;
  const auto in_words = [](std::int64_t call) {
    if (call < 0) return std::string("one after a call that others made with another length");
    return fmt::format("MPI_{} of {} bytes", to_string(static_cast<Collective>(call >> kBits)), call & kLonger);
  };
  const auto length = static_cast<std::int64_t>(std::min<std::size_t>(kLonger, bytes));
  const std::int64_t mine = bytes == kAstray ? -1 : static_cast<std::int64_t>(what) << kBits | length;
  std::int64_t most_of[3] = {-mine, mine, able ? 0 : 1};
  const int code = CHASQUI_LIBRARY(Allreduce)(MPI_IN_PLACE, most_of, 3, MPI_INT64_T, MPI_MAX, comm);
  if (code != MPI_SUCCESS) return code;
  const std::int64_t least = -most_of[0], most = most_of[1];
  if (least == most) return most_of[2] == 0 ? made() : kDeclined;
  return raise(comm, MPI_ERR_OTHER,
               fmt::format("MPI_{}: ranks have called different things: {} and {}", to_string(what), in_words(least),
                           in_words(most)));
}

/// By the MPI library.
int pass_on_alike(Collective what, MPI_Comm comm, std::size_t bytes, FunctionRef<int()> native) {
  const int code = make_alike(what, comm, bytes, native);
  return code == kDeclined ? native() : code;
}

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

/// After a failure everything on this communicator goes to the MPI library, from the first call on that no rank has
/// completed here: in those before, ranks are missing that have the result already. Whoever is between the two, which only
/// ranks can be that did not wait for the one that found the failure, gets one error more. Between nodes nobody knows what others
/// have completed, and ranks that begin with different calls of the MPI library would wait for ever: all calls fail there.
bool left_behind(CommState& state) {
  if (state.comm->topology().nodes > 1) return false;
  if (state.failed_in <= run::call_numbers(*state.comm).complete) return false;
  state.never = Reason::broken;
  return true;
}

std::string text_of(Collective what, const std::string& why) { return fmt::format("MPI_{}: {}", to_string(what), why); }

/// A call after one that failed.
[[gnu::cold]] int attempt_after_failure(Collective what, ServedCall& served) {
  CommState& state = served.state();
  const run::CallNumbers numbers = run::call_numbers(*state.comm);
  state.failed_in = state.failed_in != 0 ? state.failed_in + 1 : numbers.begun + numbers.astray + 1;
  if (left_behind(state)) return served.decline(Reason::broken), kDeclined;
  return raise(served.comm(), MPI_ERR_OTHER, text_of(what, "a collective on this communicator failed before"));
}

/// What becomes of a call that threw. REQUIRES that the exception is being handled.
[[gnu::cold]] int after_exception(Collective what, ServedCall& served) {
  CommState& state = served.state();
  int error_class = MPI_ERR_OTHER;
  std::string why;
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {  // here alone: the others must not wait for this rank
      error_class = MPI_ERR_NO_MEM;
      constexpr const char* kWhy = "no memory for the private buffers";
      if (!served.begun()) served.refuse(kWhy);
      throw Error("{}", kWhy);  // they know it, by the same number as that of this call
    } catch (const Truncated& found) {
      return raise(served.comm(), MPI_ERR_TRUNCATE, text_of(what, found.why));
    }
  } catch (const Declined& declined) {
    return served.decline(declined.reason), kDeclined;
  } catch (const std::exception& error) {
    if (!served.begun()) {
      if (settings().log) say(error.what());
      return served.decline(Reason::failed), kDeclined;
    }
    why = error.what();
  } catch (...) {
    if (!served.begun()) return served.decline(Reason::failed), kDeclined;
    why = "an operator threw";
  }
  if (state.comm == nullptr) return raise(served.comm(), error_class, text_of(what, why));
  const run::CallNumbers numbers = run::call_numbers(*state.comm);
  state.failed_in = numbers.begun + numbers.astray;
  if ((numbers.earlier || numbers.astray > 0) && left_behind(state)) {
    if (numbers.found_astray && handled_by(MPI_ERRORS_ARE_FATAL, served.comm()))
      return raise(served.comm(), error_class, text_of(what, why));
    state.astray = numbers.found_astray;
    return served.decline(Reason::broken), kDeclined;
  }
  return raise(served.comm(), error_class, text_of(what, why));
}

/// Returns MPI_SUCCESS, kDeclined with a reason that is not counted yet, or the error that the program gets.
template <typename Way>
inline int attempt(Collective what, ServedCall& served, const Way& way) {
  UnderWay& under_way = this_thread().under_way;
  under_way = {under_way.number + 1, what};
  const CommState& state = served.state();
  if (state.comm != nullptr && (state.failed_in != 0 || run::broken(*state.comm)))
    return attempt_after_failure(what, served);
  try {
    way(served);
    return MPI_SUCCESS;
  } catch (...) {
    return after_exception(what, served);
  }
}

/// A call of a comparison took `time`.
void ran(Race& race, double time) {
  race.comparison->ran(time);
  this_thread().compared_time += time;
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

/// As often as it takes to be sure, or until an error.
int rehearse_until_sure(Collective what, MPI_Comm comm, const Interposed& call, const Decision& decision,
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

/// The first call of a reduction that rounds: rehearsed, decided for good, made.
int settle(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision) {
  Race& race = *decision.race;
  const CallFacts& facts = decision.facts;
  const double begin = clock_now();
  int code = MPI_SUCCESS;
  Reason reason = Reason::slower;
  try {
    leave_to_library(*decision.state);
    const Copy before(facts.in_place ? facts.output : Output{});
    code = make_alike(
        what, comm, facts.bytes, [&] { return rehearse_until_sure(what, comm, call, decision, *before.made); },
        before.made.has_value());
  } catch (const Error& error) {  // in agreeing: the MPI library goes on without us
    reason = Reason::failed;
    if (settings().log) say(error.what());
  }
  race.spent += clock_now() - begin;  // all of it: none was the program's
  if (code == kDeclined) {            // the next one is the first
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
