// SPDX-License-Identifier: MIT
// Blocking calls by messages that were made before: no planning, no allocation, no task. Where a message takes a
// millisecond a rank sleeps long enough to find its caches cold, so that what it touches before it sends counts.
#include "run/comm/operation.hpp"
#include "run/comm/plan_cache.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::run {

/// False: this call goes another way.
bool Comm::run_rehearsed(const Call& call) {
  if (fabric_.messages == nullptr || fabric_.size == 1 || fabric_.messages->blocks()) return false;
  using Rehearsed = Cached::Rehearsed;
  const Rehearsed::Key key{call.kind,
                           call.op.commutative,
                           call.exclusive,
                           static_cast<std::int32_t>(call.root),
                           call.kind == Kind::barrier ? 0 : call.bytes(),
                           call.element};
  Group group{fabric_.messages.get(), {}, fabric_.rank, fabric_.size, 0};
  Rehearsed* known = cached_->latest;
  if (known == nullptr || known->key != key) {
    if (cached_->rehearsed.size() >= Cached::kMost) cached_->rehearsed.clear();
    const auto [found, fresh] = cached_->rehearsed.try_emplace(key);
    known = cached_->latest = &found->second;
    if (fresh) {
      known->key = key;
      auto moves = moves_for(group, call, choose(call));
      if (moves != nullptr && static_cast<std::size_t>(moves->room) * key.bytes <= Rehearsed::kMostRoom) {
        known->stage.fit(*moves, key.bytes);
        known->moves = std::move(moves);
      }
    }
  }
  if (known->moves == nullptr) return false;
  const std::uint64_t number = ++number_;
  note(number, called(call));
  stall_.moved();
  group.tag = tag_of(number, call.kind);
  try {
    Playing playing(*known->moves, group, call, known->stage);
    for (Backoff backoff(crowded()); !playing.ready();) {
      if (backoff.pause(fabric_.shares_memory)) look_for_failure(number);
    }
  } catch (...) {
    give_up(number);
    throw;
  }
  return true;
}

}  // namespace chasqui::run
