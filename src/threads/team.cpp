// SPDX-License-Identifier: MIT
#include "chasqui/threads/team.hpp"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "chasqui/base/error.hpp"
#include "comms.hpp"
#include "pin.hpp"
#include "run/comm/fabric.hpp"
#include "run/faults/kept.hpp"
#include "run/wait/seats.hpp"

namespace chasqui::threads {

struct Team::State {
  int n = 0;
  Options options;
  CommMaker make;
  std::vector<std::unique_ptr<run::Comm>> comms;
  CoreClaim cores;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable begin, end;
  int pinned = 0;              ///< threads bound to a core
  Call call = nullptr;         ///< nothing: make the communicators
  const void* body = nullptr;  ///< what it is called with
  std::uint64_t generation = 0;
  int running = 0;
  std::atomic<bool> busy{false};  ///< a run is in progress
  bool stopping = false;
  std::exception_ptr error;
  int process = getpid();

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    begin.notify_all();
    for (auto& thread : threads) thread.join();
  }

  /// Every thread does it; rethrows the first exception.
  void run(Call how, const void* what) {
    std::unique_lock lock(mutex);
    for (int rank = 0; how != nullptr && rank < n; ++rank) run::resume(*comms[static_cast<std::size_t>(rank)]);
    call = how;
    body = what;
    running = n;
    error = nullptr;
    ++generation;
    begin.notify_all();
    end.wait(lock, [&] { return running == 0; });
    if (error) std::rethrow_exception(error);
  }

  /// Each thread makes its own, so that what it writes lies in memory apart from the others'.
  void make_comms() {
    std::vector<Seat> seats = cores.seats();
    for (int rank = 0; rank < n; ++rank) {
      const auto declared = run::declared_seat(rank, n);
      if (!declared) break;
      seats.resize(static_cast<std::size_t>(n), kNoSeat);
      seats[static_cast<std::size_t>(rank)] = *declared;
    }
    make = share_comms(n, options.profile, true, options.patience, std::move(seats));
    run(nullptr, nullptr);
  }

  void work(int rank) {
    const bool bound = cores.pin_this_thread(rank);
    auto& comm = comms[static_cast<std::size_t>(rank)];
    for (std::uint64_t seen = 0;;) {
      Call task = nullptr;
      {
        std::unique_lock lock(mutex);
        begin.wait(lock, [&] { return stopping || generation != seen; });
        if (stopping) return;
        if (seen == 0) pinned += bound ? 1 : 0;
        seen = generation;
        task = call;
      }
      std::exception_ptr failed;
      try {
        if (task == nullptr) comm = make(rank);
        else task(body, *comm), run::rest(*comm);
      } catch (...) {
        failed = std::current_exception();
        {  // before the others hear of it and fail in turn
          const std::lock_guard lock(mutex);
          if (!error) error = failed;
        }
        if (task != nullptr) leave(*comm, failed);
      }
      const std::lock_guard lock(mutex);
      if (--running == 0) end.notify_one();
    }
  }

  static void leave(run::Comm& comm, const std::exception_ptr& failed) {
    try {
      std::rethrow_exception(failed);
    } catch (const std::exception& what) {
      comm.leave(what.what());
    } catch (...) {
      comm.leave("an exception of unknown type");
    }
  }
};

Team::Team(int n, Options options) : state_(std::make_unique<State>()) {
  if (n < 1 || n > 4096) throw Error("a team of {} threads: expected 1 to 4096", n);
  state_->n = n;
  state_->options = std::move(options);
  state_->comms.resize(static_cast<std::size_t>(n));
  if (state_->options.pin) state_->cores = CoreClaim(n);
  try {
    for (int rank = 0; rank < n; ++rank) {
      state_->threads.emplace_back([state = state_.get(), rank] { state->work(rank); });
    }
  } catch (const std::exception& error) {
    throw Error(
        "a team of {} threads: the system began {} and then refused ({}): ask for fewer, or raise its limits on threads and memory",
        n, state_->threads.size(), error.what());
  }
  state_->make_comms();
}

/// In a process that was forked the threads are not there: nobody could wait for them.
Team::~Team() {
  if (getpid() != state_->process) run::keep_for_ever(state_.release());
}

int Team::size() const { return state_->n; }
int Team::pinned() const { return state_->pinned; }

void Team::run_all(Call call, const void* body) {
  if (state_->busy.exchange(true)) {
    throw Error(
        "this team of {} threads is running already, for this thread or another: begin the next run when the first has ended, "
        "or make another team",
        state_->n);
  }
  const struct Idle {
    ~Idle() { busy = false; }
    std::atomic<bool>& busy;
  } at_the_end{state_->busy};
  try {
    state_->run(call, body);
  } catch (...) {
    state_->make_comms();
    throw;
  }
}

}  // namespace chasqui::threads
