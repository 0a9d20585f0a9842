// SPDX-License-Identifier: MIT
#include "run/comm/in_flight.hpp"

#include <algorithm>

#include "run/faults/kept.hpp"
#include "run/messages/tags.hpp"

namespace chasqui::run {

InFlight::~InFlight() {
  progress_.leave();
  for (const auto& operation : pending_) operation->activity.reset();  // abandons its messages
}

std::vector<std::uint64_t> InFlight::numbers() const {
  std::vector<std::uint64_t> all;
  for (const auto& operation : pending_) all.push_back(operation->number);
  return all;
}

bool InFlight::look() {
  progress_.claim();
  if (pending_.empty()) progress_.leave();
  return pending_.empty();
}

void InFlight::add(std::shared_ptr<Operation> operation) {
  progress_.claim();
  Operation& fresh = *operation;
  if (fresh.uses_board) for_board_.push_back(operation);
  fresh.place = pending_.insert(pending_.end(), std::move(operation));
  advance_some(fresh);
  if (!pending_.empty()) progress_.join();
}

bool InFlight::advance(Operation& operation) {
  const auto before = operation.activity->moved();
  try {
    if (operation.activity->poll()) {
      operation.finished = true;
      operation.packed.deliver(rank_, size_);
    }
  } catch (...) {
    fail(operation);
  }
  return operation.finished || operation.activity->moved() != before;
}

void InFlight::fail(Operation& operation) {
  operation.finished = true;
  operation.error = std::current_exception();
  operation.activity.reset();  // abandons its messages
  health_.fail(operation.number);
}

void InFlight::end_all(const std::exception_ptr& error) {
  for (const auto& operation : pending_) {
    if (!operation->finished) operation->error = error;
    operation->finished = true;
  }
}

void InFlight::keep_all() {
  keep_for_ever(new Pending(std::move(pending_)));
  pending_.clear();
}

/// The board is used by one after the other; tags.hpp says why calls far behind the first one wait.
bool InFlight::may_go_on(const Operation& operation) const {
  return operation.number - pending_.front()->number < kTags &&
         (!operation.uses_board || for_board_.front().get() == &operation);
}

void InFlight::forget(Pending::iterator at) {
  if (turn_ == at) ++turn_;
  pending_.erase(at);
  while (!for_board_.empty() && for_board_.front()->finished) for_board_.pop_front();
}

/// Goes to the next one. True if this one moved.
bool InFlight::advance_at(Pending::iterator& at) {
  const auto operation = *at;
  const bool moved = !operation->finished && may_go_on(*operation) && advance(*operation);
  const auto here = at++;
  if (operation->finished) forget(here);
  return moved;
}

bool InFlight::advance_beside() { return !waits_block_ && advance_each(); }

bool InFlight::advance_all() {
  progress_.claim();
  const bool moved = advance_each();
  if (pending_.empty()) progress_.leave();
  return moved;
}

bool InFlight::advance_each() {
  bool moved = false;
  for (auto at = pending_.begin(); at != pending_.end();) moved = advance_at(at) || moved;
  if (moved) health_.moved();
  return moved;
}

bool InFlight::advance_some(Operation& first) {
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
