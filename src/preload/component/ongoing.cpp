// SPDX-License-Identifier: MIT
#include "preload/component/ongoing.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "chasqui/run/choose.hpp"
#include "preload/attempt.hpp"
#include "preload/component/beside.hpp"
#include "preload/component/component.h"
#include "preload/hooked/handles.hpp"
#include "preload/report.hpp"
#include "preload/start/settings.hpp"
#include "run/board/shape.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::preload {
namespace {

/// Bytes; beyond, a call needs many turns, and a program that computes beside a non-blocking one gives few.
constexpr std::size_t kFewTurns = 64 * 1024;
constexpr int kTurnsAtOnce = 4;  ///< turns that a non-blocking call gets before it returns
constexpr int kAtStart = 200;    ///< those of a persistent one: some microseconds, in which a short one ends
#ifdef CHASQUI_COMPONENT
constexpr bool kPreparesBeside =
    true;  ///< are communicators prepared beside their non-blocking calls, and those counted for that?
constexpr bool kBetweenNodes = true;  ///< may messages be sent in the progress of the MPI library?
#else
constexpr bool kPreparesBeside = false, kBetweenNodes = false;
#endif
constexpr unsigned kSeldom = 64;  ///< turns without a move after which failures are looked for

/// Whose error handler Open MPI calls where a request of a collective ends with an error. The request's own communicator may be freed by then.
const MPI_Comm kHandles = MPI_COMM_WORLD;

Reason left = Reason::none;  ///< why all is left to the MPI library
bool advancing = false;      ///< the list of what goes on must not change meanwhile

struct Ongoing {
  Collective what;  ///< in its form
  CommState* state;
  Race* race;
  std::size_t bytes;
  std::unique_ptr<OwnedCall> parts;
  Handles handles{};  ///< of the program's, that it may free before the call has ended
  /// Persistent: ranks may start theirs in any order, so each has a part of its own, made where all must call in one order.
  PrivatePart own{};
  bool started = false, failed = false;
  run::Request request{};
  void* handle = nullptr;  ///< Open MPI's request

  run::Comm& engine() const { return own.comm != nullptr ? *own.comm : *state->comm; }
};

/// Those that were started and have not ended. One thread at a time is here: MPI_THREAD_MULTIPLE is left to the MPI library.
std::vector<Ongoing*>& going() {
  static auto* const list = new std::vector<Ongoing*>;
  return *list;
}

/// Why no call of this collective is ours; none: some may be. The same on all ranks.
Reason objection(Collective what) {
  if (settings().disabled[static_cast<int>(what)]) return Reason::disabled;
  return left;
}

/// Whose verdict counts for a call in another form too.
Race& blocking_race(Collective blocking, CommState& state, const CallFacts& facts) {
  return state.race(blocking, facts.bytes, facts.rounds && settings().same_bits);
}

/// Was a non-blocking call like this one left to the MPI library because that is faster, and does it stay so?
bool slower_as_before(const RepeatedCall& call) {
  const Known* const known = find_known(call);
  return known != nullptr && known->state->never == Reason::none && known->race->verdict == Verdict::native;
}

/// Why this call is not ours; none: it is. The same on all ranks.
Reason objection(Collective blocking, Form form, CommState& state, MPI_Comm comm, const CallFacts& facts) {
  const Settings& s = settings();
  const bool folds = facts.folds != MPI_DATATYPE_NULL;
  if (s.reproducible && folds) return Reason::irreproducible;
  if (s.verify) return Reason::unverified;
  if (state.never != Reason::none) return state.never;
  if (facts.reason != Reason::none) return facts.reason;
  if (!state.prepared && form == Form::persistent) {
    prepare(state, comm);
    if (state.never != Reason::none) return state.never;
  }
  if (!kBetweenNodes && state.comm != nullptr && state.comm->topology().nodes > 1) return Reason::nonblocking;
  if (s.trials != 0 && facts.bytes > kFewTurns && form == Form::nonblocking) return Reason::many_turns;
  if (state.comm == nullptr) return Reason::unprepared;
  if (s.trials == 0) return Reason::none;
  // Under Open MPI on one node our all-reduces were 2.5 to 7 times as fast as Open MPI's at all sizes, where a blocking one had lost too
  // (docs/component.md).
  if (kPreparesBeside && blocking == Collective::Allreduce && state.comm->topology().nodes == 1) return Reason::none;
  return blocking_race(blocking, state, facts).verdict == Verdict::native ? Reason::slower : Reason::none;
}

/// What all ranks know to be short needs little. Those whose ranks know their own lengths alone may be long.
run::Boards::For boards_for(Collective blocking, const run::Call& call, int ranks) {
  for (const Collective each : {Collective::Gatherv, Collective::Scatterv, Collective::Allgatherv,
                                Collective::Alltoallv, Collective::Alltoallw, Collective::Reduce_scatter}) {
    if (blocking == each) return run::Boards::all;
  }
  const auto blocks = static_cast<std::size_t>(call.exchanges() || call.kind == Kind::scatter ? ranks : 1);
  const std::size_t slot = call.kind == Kind::barrier ? 0 : call.bytes() * blocks;
  if (slot <= run::kLinePayload) return run::Boards::lines;
  return slot <= run::BoardShape::for_slots(ranks).wide ? run::Boards::slots : run::Boards::all;
}

/// Of the exception that is being handled. An operator of the program's may throw anything.
std::string what_was_thrown() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that says nothing";
  }
}

/// Of a request, whose error handler the MPI library calls when the program waits.
int say_error(int error_class, const std::string& text) {
#ifdef CHASQUI_COMPONENT
  return raise(kHandles, error_class, text);
#else
  say(text);
  return error_class;
#endif
}

/// Has it ended? Then `code` is what the program gets.
bool ended(Ongoing& one, int& code) {
  const auto failed = [&](int error_class, const std::string& why) {
    code = say_error(error_class, fmt::format("MPI_{}: {}", to_string(one.what), why));
    return true;
  };
  code = MPI_SUCCESS;
  try {
    if (!one.request.test()) return false;
    one.parts->end();
    return true;
  } catch (const Truncated& found) {
    return failed(MPI_ERR_TRUNCATE, found.why);
  } catch (...) {
    one.failed = true;
    if (one.own.comm == nullptr) one.state->failed_in = run::call_numbers(*one.state->comm).begun;
    return failed(MPI_ERR_OTHER, what_was_thrown());
  }
}

}  // namespace

void abandon() {
  going().clear();
  abandon_beside();
}

void leave(void* call, Reason reason) {
  note(static_cast<Ongoing*>(call)->what, reason);
  chasqui_component_forget(call);
}

void begin_meanwhile() {
  if (!advancing) begin_held_back();
}

void leave_all(Reason reason) { left = reason; }

void agree_on_leaving() {
  auto most = static_cast<int>(left);
  PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  left = static_cast<Reason>(most);
}

void* plan(const RepeatedCall& like, Form form, MPI_Comm comm, FunctionRef<CallFacts(const CommState&)> look,
           FunctionRef<std::unique_ptr<OwnedCall>(const CommState&)> make) {
  if (!from_program()) return nullptr;
  const Collective blocking = like.what, what = in_form(blocking, form);
  if (const Reason reason = objection(what); reason != Reason::none) {
    note(what, reason);
    return nullptr;
  }
  RepeatedCall repeated = like;
  repeated.what = what;
  if (form == Form::nonblocking && slower_as_before(repeated)) {
    note(what, Reason::slower);
    return nullptr;
  }
  const Inside inside;
  try {
    free_ended();
    const std::uint64_t generation = generation_of_handles();
    CommState* const state = state_of(comm);
    if (state == nullptr) return nullptr;
    if (state->never == Reason::inter || state->never == Reason::one_rank) {  // lists have other lengths there
      note(what, state->never);
      return nullptr;
    }
    const CollectedHandles handles;
    const CallFacts facts = look(*state);
    if (kPreparesBeside && form == Form::nonblocking && !state->prepared) count_call(*state);
    Reason reason = objection(blocking, form, *state, comm, facts);
    if (reason == Reason::unprepared && form == Form::nonblocking) {
      const Standing standing = stand(*state, comm);
      if (standing == Standing::held) reason = Reason::none;
      if (standing == Standing::ready) reason = objection(blocking, form, *state, comm, facts);
    }
    if (reason != Reason::none) {
      note(what, reason);
      if (reason == Reason::slower && form == Form::nonblocking && like.comm != MPI_COMM_NULL) {
        Race& race = blocking_race(blocking, *state, facts);
        const std::uint64_t types = facts_of(like.type).derived ? generation_of_types() : 0;
        place_of(repeated) = Known{repeated, generation, types, state, &race, Reason::none, facts.bytes, false};
      }
      return nullptr;
    }
    auto parts = make(*state);
    PrivatePart own;
    if (form == Form::persistent) own = take_private_part(*state, comm, boards_for(blocking, parts->call, state->size));
    if (own.missing != Reason::none) {
      note(what, own.missing);
      return nullptr;
    }
    auto one = std::make_unique<Ongoing>(Ongoing{what, state, &state->race(what, facts.bytes, false), facts.bytes,
                                                 std::move(parts), handles.with(facts.op), std::move(own)});
    state->goes_on = true;
    ++state->lasting;
    return one.release();
  } catch (const std::exception& error) {  // before anything was sent; no memory here alone
    say_last(
        fmt::format("MPI_{}: {}: this rank cannot take part in what the others do", to_string(what), error.what()));
    PMPI_Abort(comm, 1);
  }
  return nullptr;
}

}  // namespace chasqui::preload

using namespace chasqui::preload;

/// The first turns are at once: where all ranks are in time, a short call ends here.
int chasqui_component_start(void* call, void* request, int persistent) {
  auto& one = *static_cast<Ongoing*>(call);
  const Inside inside;
  const InEngine here;
  one.handle = request;
  ++one.race->ours_calls;
  one.race->bytes += one.bytes;
  int code = MPI_SUCCESS;
  try {
    chasqui::run::Comm& comm = one.engine();
    one.parts->begin();
    const int turns = chasqui::run::crowded(comm) ? 1 : persistent != 0 ? kAtStart : kTurnsAtOnce;
    chasqui::run::start_at_once(comm, one.parts->call, turns, std::exchange(one.started, true), one.request);
    if (!one.request.active() && ended(one, code)) {
      chasqui_component_complete(request, code);
      return MPI_SUCCESS;
    }
  } catch (...) {
    one.failed = true;
    return say_error(MPI_ERR_OTHER, fmt::format("MPI_{}: {}", to_string(one.what), what_was_thrown()));
  }
  going().push_back(&one);
  return MPI_SUCCESS;
}

int chasqui_component_advance() {
  const int beside = go_on_beside();
  auto& list = going();
  if (list.empty() || this_thread().in_engine) return beside;
  struct Completed {
    void* handle;
    int code;
  };
  static unsigned idle = 0;
  std::vector<Completed> completed;
  advancing = true;
  {
    const Inside inside;
    bool moved = engine_ran.exchange(false, std::memory_order_relaxed);
    this_thread().in_engine = true;
    chasqui::run::Comm* last = nullptr;
    for (const Ongoing* one : list) {
      if (&one->engine() == last) continue;
      last = &one->engine();
      moved = last->progress() || moved;
    }
    if (moved || ++idle % kSeldom == 0) {
      std::erase_if(list, [&](Ongoing* one) {
        int code = MPI_SUCCESS;
        if (!ended(*one, code)) return false;
        completed.push_back({one->handle, code});
        return true;
      });
    }
    this_thread().in_engine = false;
  }
  advancing = false;
  for (const Completed& each : completed) chasqui_component_complete(each.handle, each.code);
  return beside + static_cast<int>(completed.size());
}

void chasqui_component_forget(void* call) {
  auto* const one = static_cast<Ongoing*>(call);
  if (one == nullptr) return;
  --one->state->lasting;
  if (one->own.comm != nullptr && !one->failed) {
    one->request = {};
    give_private_part(*one->state, std::move(one->own));
  }
  delete one;
}
