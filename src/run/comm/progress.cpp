// SPDX-License-Identifier: MIT
#include "run/comm/progress.hpp"

#include <algorithm>
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
  Operation& fresh = *operation;
  if (fresh.uses_board) for_board_.push_back(operation);
  fresh.place = pending_.insert(pending_.end(), std::move(operation));
  advance_some(fresh);
  if (!pending_.empty()) progress_.join();
}

/// All that is in flight here, to its end. A failure is its request's.
void Engine::finish_in_flight() {
  while (!nothing_in_flight()) {
    const auto operation = pending_.front();
    if (operation->finished) forget(pending_.begin());
    else wait(*operation);
  }
}

/// As advance_here(), by whichever communicator's wait. Not where waits block: one thread may be many ranks there.
bool Engine::advance_beside() { return !fabric_.timing.blocks && advance_all(); }

/// The board is used by one after the other; tags.hpp says why calls far behind the first one wait.
bool Engine::may_go_on(const Operation& operation) const {
  return operation.number - pending_.front()->number < kTags &&
         (!operation.uses_board || for_board_.front().get() == &operation);
}

void Engine::forget(Pending::iterator at) {
  if (turn_ == at) ++turn_;
  pending_.erase(at);
  while (!for_board_.empty() && for_board_.front()->finished) for_board_.pop_front();
}

/// Goes to the next one. True if this one moved.
bool Engine::advance_at(Pending::iterator& at) {
  const auto operation = *at;
  const bool moved = !operation->finished && may_go_on(*operation) && advance(*operation);
  const auto here = at++;
  if (operation->finished) forget(here);
  return moved;
}

bool Engine::advance_all() {
  bool moved = false;
  for (auto at = pending_.begin(); at != pending_.end();) moved = advance_at(at) || moved;
  if (moved) health_.moved();
  return moved;
}

/// This one, the oldest one, for which all ranks may be waiting, and a few others in turn: the work does not grow with
/// what is in flight.
bool Engine::advance_some(Operation& first) {
  progress_.claim();
  bool moved = false;
  if (auto at = first.place; !first.finished) moved = advance_at(at);  // another thread may have been there before
  if (auto at = pending_.begin(); at != pending_.end() && at->get() != &first) moved = advance_at(at) || moved;
  for (std::size_t left = std::min(kOthersAtATime, pending_.size()); left > 0; --left) {
    if (turn_ == pending_.end()) turn_ = pending_.begin();
    if (turn_->get() == &first) ++turn_;
    else moved = advance_at(turn_) || moved;
  }
  if (pending_.empty()) progress_.leave();
  if (moved) health_.moved();
  return moved;
}

}  // namespace chasqui::run
