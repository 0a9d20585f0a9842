// SPDX-License-Identifier: MIT
// A team of threads with a communicator each: the default engine, no MPI needed.
//   chasqui::threads::Team team(4);
//   team.run([](auto& comm) { … comm.allreduce(x) … });
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "chasqui/run/comm.hpp"

namespace chasqui::threads {
/// How the threads are placed, and what they know of the machine.
struct Options {
  bool pin = true;  ///< one core per thread, where the system allows it and there are enough cores
  std::shared_ptr<const Profile> profile;  ///< for the choice of methods; missing: built-in guesses
  /// after what time ranks that wait in vain compare their calls: CHASQUI_STALL_SECONDS and CHASQUI_STALL_NOTICE, else 2 seconds
  /// and no notice
  run::Patience patience = run::patience_from_environment();
};
/// Threads that wait for work, a rank each.
class Team {
 public:
  /// Throws an Error for n < 1 or n > 4096, or if the system does not give so many threads. They live as long as the team.
  explicit Team(int n, Options options = {});
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const;  ///< ranks
  /// How many threads are bound to a core of their own.
  int pinned() const;

  /// Runs `body` on every thread with that thread's communicator; returns when all have ended. If one throws, the
  /// ranks that wait for it get an Error instead of waiting for ever, and the first exception is rethrown here; the
  /// next run begins with fresh communicators. So do ranks that wait in a call which another one's body has ended without. One run at a time: an Error for one that begins inside another.
  template <typename Body>
  void run(Body&& body) {
    run_all([](const void* what,
               run::Comm& comm) { (*static_cast<std::remove_reference_t<Body>*>(const_cast<void*>(what)))(comm); },
            &body);
  }

 private:
  using Call = void (*)(const void* body, run::Comm& comm);
  void run_all(Call call, const void* body);

  struct State;
  std::unique_ptr<State> state_;
};

/// The communicators of n ranks inside this process (for tests and simulations: one thread may drive all of them
/// through the non-blocking calls). Index = rank. Ranks that wait in vain do so for ever, unless `patience` says otherwise.
std::vector<std::unique_ptr<run::Comm>> make_comms(int n, std::shared_ptr<const Profile> profile,
                                                   bool with_board = true, run::Patience patience = {0, 0});

}  // namespace chasqui::threads
