// SPDX-License-Identifier: MIT
#include "run/comm/progress.hpp"

#include <mutex>
#include <vector>

#include "run/comm/in_flight.hpp"

namespace chasqui::run {

/// Taken for as long as its communicators are advanced: who claims one of them for another thread waits for that. An operator that calls a
/// collective meanwhile takes it again: its communicator joins, or leaves.
struct ThreadProgress::List {
  std::recursive_mutex mutex;
  std::vector<InFlight*> all;  ///< of its communicators
  bool advancing = false;      ///< by this thread: an operator that calls a collective does not begin again
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
  list_->all.push_back(&calls_);
}

void ThreadProgress::leave() {
  if (list_ == nullptr) return;
  {
    const std::lock_guard lock(list_->mutex);
    std::erase(list_->all, &calls_);
  }
  list_ = nullptr;
}

bool ThreadProgress::advance_beside(const InFlight& waiting) {
  List& list = *of_this_thread();
  if (list.advancing) return false;
  const std::lock_guard lock(list.mutex);
  list.advancing = true;
  bool moved = false;
  for (std::size_t i = 0; i < list.all.size();
       ++i) {  // one that leaves meanwhile may let another one wait for its next turn
    if (list.all[i] != &waiting) moved = list.all[i]->advance_beside() || moved;
  }
  list.advancing = false;
  return moved;
}

}  // namespace chasqui::run
