// SPDX-License-Identifier: MIT
#include "run/comm/progress.hpp"

#include <mutex>
#include <vector>

#include "run/comm/in_flight.hpp"

namespace chasqui::run {

/// Taken for as long as its communicators are advanced: who claims one of them for another thread waits for that.
struct ThreadProgress::List {
  std::mutex mutex;
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
  for (InFlight* const calls : list.all) {
    if (calls != &waiting) moved = calls->advance_beside() || moved;
  }
  list.advancing = false;
  return moved;
}

}  // namespace chasqui::run
