// SPDX-License-Identifier: MIT
#include "run/comm/progress.hpp"

#include <mutex>
#include <vector>

#include "run/comm/engine.hpp"
#include "run/comm/operation.hpp"

namespace chasqui::run {

/// Taken for as long as its communicators are advanced: who claims one of them for another thread waits for that.
struct ThreadProgress::List {
  std::mutex mutex;
  std::vector<Engine*> engines;
  bool advancing = false;  ///< by this thread: an operator that calls a collective does not begin again
};

const std::shared_ptr<ThreadProgress::List>& ThreadProgress::of_this_thread() {
  thread_local const auto list = std::make_shared<List>();
  return list;
}

void ThreadProgress::claim() {
  if (list_ != nullptr && list_ != of_this_thread()) {
    leave();
    join();
  }
}

void ThreadProgress::join() {
  if (list_ != nullptr) return;
  list_ = of_this_thread();
  const std::lock_guard lock(list_->mutex);
  list_->engines.push_back(&engine_);
}

void ThreadProgress::leave() {
  if (list_ == nullptr) return;
  {
    const std::lock_guard lock(list_->mutex);
    std::erase(list_->engines, &engine_);
  }
  list_ = nullptr;
}

bool ThreadProgress::advance_beside(const Engine& waiting) {
  List& list = *of_this_thread();
  if (list.advancing) return false;
  const std::lock_guard lock(list.mutex);
  list.advancing = true;
  bool moved = false;
  for (Engine* const engine : list.engines) {
    if (engine != &waiting) moved = engine->advance_beside() || moved;
  }
  list.advancing = false;
  return moved;
}

bool Engine::advance_here() {
  progress_.claim();
  const bool moved = advance_all();
  if (pending_.empty()) progress_.leave();
  return moved;
}

bool Engine::look_in_flight() {
  progress_.claim();
  if (pending_.empty()) progress_.leave();
  return pending_.empty();
}

void Engine::take_in_flight(std::shared_ptr<Operation> operation) {
  progress_.claim();
  pending_.push_back(std::move(operation));
  advance_all();
  if (pending_.empty()) progress_.leave();
  else progress_.join();
}

/// All that is in flight here, to its end. A failure is its request's.
void Engine::finish_in_flight() {
  while (!nothing_in_flight()) {
    const auto operation = pending_.front();
    wait(*operation);
    advance_here();  // forgets it
  }
}

/// As advance_here(), by whichever communicator's wait. Not where waits block: one thread may be many ranks there.
bool Engine::advance_beside() { return (fabric_.messages == nullptr || !fabric_.messages->blocks()) && advance_all(); }

bool Engine::advance_all() {
  bool moved = false;
  bool board_taken = false;
  for (std::size_t i = 0; i < pending_.size();) {
    const auto operation = pending_[i];
    if (operation->uses_board && board_taken) {
      ++i;
      continue;
    }
    if (!operation->finished) moved = advance(*operation) || moved;
    if (operation->finished) {
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      board_taken = board_taken || operation->uses_board;
      ++i;
    }
  }
  if (moved) health_.moved();
  return moved;
}

}  // namespace chasqui::run
