// SPDX-License-Identifier: MIT
#include "run/board/own_core.hpp"

#include <sched.h>

#include <algorithm>

#include "chasqui/base/clock.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::run {

void OwnCore::settle() {
  constexpr long kShortest = 1'000'000, kLongest = 1'000'000'000;  // nanoseconds
  const int core = sched_getcpu();
  const auto here = static_cast<std::uint64_t>(core) + 1;
  if (core < 0) return;
  std::atomic<std::uint64_t>& own = counters_[rank_].core;
  if (own.load(std::memory_order_relaxed) != here) own.store(here, std::memory_order_relaxed);
  bool shared = false;
  for (int r = 0; r < rank_ && !shared; ++r) shared = counters_[r].core.load(std::memory_order_relaxed) == here;
  if (!shared) return;
  const long now = clock_nanoseconds();
  if (now - moved_ < stays_) return;
  stays_ = now - moved_ < 10 * stays_ ? std::min(2 * stays_, kLongest) : kShortest;
  moved_ = now;
  Cores taken;
  for (int r = 0; r < ranks_; ++r) {
    const std::uint64_t theirs = counters_[r].core.load(std::memory_order_relaxed);
    if (theirs != 0 && theirs <= 64 * taken.mask.size())
      taken.mask[(theirs - 1) / 64] |= std::uint64_t{1} << (theirs - 1) % 64;
  }
  if (move_off(taken, rank_)) own.store(static_cast<std::uint64_t>(sched_getcpu()) + 1, std::memory_order_relaxed);
}

}  // namespace chasqui::run
