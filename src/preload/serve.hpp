// SPDX-License-Identifier: MIT
// One interposed call: passed on, served, compared, or done both ways. The four parts are given as functions; nothing
// they throw leaves serve().
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "preload/names.hpp"
#include "preload/output.hpp"
#include "preload/report.hpp"
#include "preload/start/settings.hpp"
#include "preload/state.hpp"
#include "preload/this_thread.hpp"
#include "preload/types.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::preload {

/// A reference to something that can be called.
template <typename Signature>
class FunctionRef;
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, FunctionRef>>>
  FunctionRef(F&& f)  // NOLINT: implicit on purpose
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R { return (*static_cast<std::decay_t<F>*>(object))(args...); }) {}
  R operator()(Args... args) const { return call_(object_, args...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

/// What a look at the arguments finds. `bytes` is the same on every rank of a correct program, and so is `reason`.
struct CallFacts {
  Reason reason = Reason::none;
  std::size_t bytes = 0;
  run::Call shape{};                       ///< kind and operator, for the choice of the plan
  Output output{};                         ///< what the call may write here, and reads where it is in place
  MPI_Aint results = -1;                   ///< elements of it that hold the result afterwards; -1: all
  MPI_Datatype folds = MPI_DATATYPE_NULL;  ///< reductions: the type
  MPI_Op op = MPI_OP_NULL;                 ///< reductions
  bool in_place = false;                   ///< reductions: `output` holds what this rank gives
  bool plain = false;                      ///< reductions: by an operation that takes about as long as a sum of doubles
  bool rounds = false;                     ///< reductions: the order of folding may change the bits of the result
  const void* in = nullptr;                ///< reductions: what this rank gives, `bytes` of it
  std::size_t first = 0;                   ///< reductions: the element that the result begins with
};

/// Thrown by all ranks alike in the middle of a call: the MPI library does it after all.
struct Declined {
  Reason reason;
};

/// Thrown by a rank whose own arguments contradict each other, which the others cannot know: after a call that was done for them.
struct Truncated {
  std::string why;
};

/// A call with all that it points to: it stays where it is made.
struct OwnedCall {
  run::Call call;

  OwnedCall() = default;
  virtual ~OwnedCall() = default;
  OwnedCall(const OwnedCall&) = delete;
  OwnedCall& operator=(const OwnedCall&) = delete;
  virtual void begin() {}  ///< before it runs: packs
  virtual void end() {}    ///< afterwards: unpacks
};

extern std::atomic<bool> engine_ran;  ///< something that goes on may have ended since this was last looked at
/// While this lives.
class InEngine {
 public:
  InEngine() : thread_(this_thread()), before_(thread_.in_engine) { thread_.in_engine = true; }
  ~InEngine() {
    thread_.in_engine = before_;
    engine_ran.store(true, std::memory_order_relaxed);
  }
  InEngine(const InEngine&) = delete;
  InEngine& operator=(const InEngine&) = delete;

 private:
  ThisThread& thread_;
  bool before_;
};

/// The call under way.
class ServedCall {
 public:
  ServedCall(CommState& state, MPI_Comm comm) : state_(state), comm_(comm) {}
  CommState& state() const { return state_; }
  MPI_Comm comm() const { return comm_; }
  TypePacker packer(MPI_Datatype type) const { return {type, facts_of(type)}; }
  int rank() const { return state_.rank; }
  int size() const { return state_.size; }
  /// Runs on the private communicator. What is thrown before can still go to the MPI library.
  void run(const run::Call& call) {
    begun_ = true;
    const InEngine here;
    state_.comm->run(call);
  }
  /// The same of a call like one before.
  void run_again(const run::Call& call) {
    begun_ = true;
    const InEngine here;
    run::run_again(*state_.comm, call);
  }
  void run(OwnedCall& owned) {
    owned.begin();
    run(owned.call);
    owned.end();
  }
  void begin() { begun_ = true; }
  bool begun() const { return begun_; }
  /// Of a call that was declined: why.
  void decline(Reason reason) { declined_ = reason; }
  Reason declined() const { return declined_; }
  /// This rank cannot take part: whoever waits for it in this call gets an error. Throws.
  [[noreturn]] void refuse(const std::string& why) {
    begun_ = true;
    if (state_.comm != nullptr) state_.comm->refuse(why);
    throw Error("{}", why);
  }

 private:
  CommState& state_;
  MPI_Comm comm_;
  bool begun_ = false;
  Reason declined_ = Reason::none;
};

inline constexpr std::size_t kMostAgain = 4096;  ///< bytes: a shorter way gains nothing for longer ones of ours
inline constexpr auto never_again = [](const CommState&) { return std::optional<run::Call>(); };

struct Interposed {
  FunctionRef<int()> native;
  FunctionRef<CallFacts(const CommState&)> look;
  FunctionRef<void(ServedCall&)> ours;
  FunctionRef<void(ServedCall&)> reproducible;  ///< reductions under CHASQUI_REPRODUCIBLE
  /// Reductions: the call as it is run when it comes again; nothing where that is no shorter way.
  FunctionRef<std::optional<run::Call>(const CommState&)> again = never_again;
};

extern std::atomic<bool> active;  ///< between MPI_Init and MPI_Finalize, ranks agreeing
/// Does this thread come from the program, at a time when calls are looked at?
inline bool from_program() { return active.load(std::memory_order_relaxed) && this_thread().inside == 0; }

/// Another call of this communicator's.
inline constexpr std::int64_t kPaysBack = 256;  ///< calls
inline constexpr std::int64_t kLivesOn = 4096;  ///< calls from which on it is prepared in any case
/// What it took to prepare it is not counted any more.
void pay_back(CommState& state);
inline void count_call(CommState& state) {
  if (++state.calls == kPaysBack) pay_back(state);
}

/// Is nothing on this communicator ever served, whatever the arguments are?
inline bool left_as_a_whole(const CommState& state) {
  return state.never != Reason::none && state.never != Reason::broken;
}

/// The quick way out, whatever the arguments are: nothing is on, the call comes from inside, or the collective or all of the communicator is
/// left to the MPI library. False: the call is not made.
template <typename Native>
inline bool passes_unseen(Collective what, MPI_Comm comm, const Native& native, int& code) {
  if (!from_program() || comm == MPI_COMM_NULL) {
    code = native();
    return true;
  }
  Reason reason = Reason::disabled;
  if (!settings().disabled[static_cast<int>(what)]) {
    CommState* const state = last_state(comm);
    if (state == nullptr || !left_as_a_whole(*state)) return false;
    count_call(*state);
    reason = state->never;
  }
  const Inside inside;
  note(what, reason);
  code = native();
  return true;
}

/// Makes an unusual call elsewhere: only then its arguments are put into memory, in a copy, and not at the begin of the function that was called.
template <typename Way>
[[gnu::noinline]] int aside(Way way) {
  return way();
}

/// Begins a function that is called: ends it for calls that are passed on unseen.
#define CHASQUI_UNLESS_UNSEEN(what, comm, native) \
  if (int unseen = MPI_SUCCESS; passes_unseen(Collective::what, comm, native, unseen)) return unseen;

/// REQUIRES that it does not pass unseen.
int serve(Collective what, MPI_Comm comm, const Interposed& call);

/// A call goes to the MPI library: a rank that waits for it in one of ours, because it has passed another length, finds out.
inline void leave_to_library(CommState& state) {
  if (state.comm != nullptr && !state.goes_on && state.failed_in == 0) run::call_elsewhere(*state.comm);
}

/// What CallFacts say of a plain call.
inline std::size_t bytes_of(const run::Call& call, const CommState& state) {
  const std::size_t blocks = call.kind == Kind::reduce_scatter ? static_cast<std::size_t>(state.size) : 1;
  return call.kind == Kind::barrier ? 0 : call.bytes() * blocks;
}

/// A call of a race whose verdict is the MPI library, or whose turn it is.
template <typename Native>
inline int pass_on_settled(Collective what, CommState& state, Race& race, const Native& native,
                           Reason reason = Reason::slower) {
  const Inside inside;
  count_call(state);
  ++race.native_calls;
  note(what, reason);
  leave_to_library(state);
  return native();
}

inline constexpr int kDeclined = -1;  ///< all ranks alike: the MPI library does it

/// And one whose verdict is ours; kDeclined: not done, for run_declined(). bytes: as the race counts them.
int serve_settled(Collective what, MPI_Comm comm, CommState& state, Race& race, const run::Call& call,
                  std::size_t bytes);
/// The same of a call that is timed by who makes it.
int serve_compared(Collective what, MPI_Comm comm, CommState& state, Race& race, const run::Call& call,
                   std::size_t bytes);
int run_declined(Collective what, MPI_Comm comm, CommState& state, std::size_t bytes, FunctionRef<int()> native);

/// A call of a comparison, which is under way, took so long.
void compared(Race& race, Side side, double time);

/// A call that goes to the MPI library for that reason, like one before.
int pass_on_again(Collective what, CommState& state, Reason reason, FunctionRef<int()> native);

/// Counts a call that is never served, and says nothing else.
void pass_on(Collective what);

}  // namespace chasqui::preload
