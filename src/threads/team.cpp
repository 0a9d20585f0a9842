// SPDX-License-Identifier: MIT
#include "chasqui/threads/team.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "pin.hpp"

namespace chasqui::threads {

struct Team::State {
  int n = 0;
  Options options;
  std::vector<std::unique_ptr<run::Comm>> comms;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable begin, end;
  int placed = 0;  ///< threads that have begun
  int pinned = 0;  ///< of these, bound to a core
  const std::function<void(run::Comm&)>* body = nullptr;
  std::uint64_t generation = 0;
  int running = 0;
  bool stopping = false;
  std::exception_ptr error;

  void work(int rank) {
    const bool bound = options.pin && pin_this_thread(rank, n);
    {
      const std::lock_guard lock(mutex);
      pinned += bound ? 1 : 0;
      if (++placed == n) end.notify_one();
    }
    for (std::uint64_t seen = 0;;) {
      const std::function<void(run::Comm&)>* task = nullptr;
      {
        std::unique_lock lock(mutex);
        begin.wait(lock, [&] { return stopping || generation != seen; });
        if (stopping) return;
        seen = generation;
        task = body;
      }
      std::exception_ptr failed;
      try {
        (*task)(*comms[static_cast<std::size_t>(rank)]);
      } catch (...) {
        failed = std::current_exception();
        {  // before the others hear of it and fail in turn
          const std::lock_guard lock(mutex);
          if (!error) error = failed;
        }
        leave(rank, failed);
      }
      const std::lock_guard lock(mutex);
      if (--running == 0) end.notify_one();
    }
  }

  void leave(int rank, const std::exception_ptr& failed) {
    auto& comm = *comms[static_cast<std::size_t>(rank)];
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
  state_->n = n;
  state_->options = std::move(options);
  state_->comms = make_comms(n, state_->options.profile);
  for (int rank = 0; rank < n; ++rank) {
    state_->threads.emplace_back([state = state_.get(), rank] { state->work(rank); });
  }
  std::unique_lock lock(state_->mutex);
  state_->end.wait(lock, [&] { return state_->placed == n; });
}

Team::~Team() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->begin.notify_all();
  for (auto& thread : state_->threads) thread.join();
}

int Team::size() const { return state_->n; }
int Team::pinned() const { return state_->pinned; }

void Team::run(const std::function<void(run::Comm&)>& body) {
  std::unique_lock lock(state_->mutex);
  state_->body = &body;
  state_->running = state_->n;
  state_->error = nullptr;
  ++state_->generation;
  state_->begin.notify_all();
  state_->end.wait(lock, [&] { return state_->running == 0; });
  if (state_->error) {
    state_->comms = make_comms(state_->n, state_->options.profile);
    std::rethrow_exception(state_->error);
  }
}

}  // namespace chasqui::threads
