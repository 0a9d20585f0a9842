// SPDX-License-Identifier: MIT
#include "run/wait/backoff.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>

#include "chasqui/base/clock.hpp"

namespace chasqui::run {
namespace {

void sleep_for(long nanoseconds) {
  const timespec time{0, nanoseconds};
  nanosleep(&time, nullptr);
}

/// How often this thread's core has gone to another thread.
long switches() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw + used.ru_nivcsw;
}

}  // namespace

CoreShortage core_shortage;
CoreOffers core_offers;

void CoreOffers::taken(long from, long back) {
  if (back - from < kSomebodyComputes) return;
  const long before = length_.load(std::memory_order_relaxed);
  const bool again = from - until_.load(std::memory_order_relaxed) < before;
  const long length = again ? std::min(2 * before, kLongest) : kFirst;
  length_.store(length, std::memory_order_relaxed);
  until_.store(back + length, std::memory_order_relaxed);
}

bool CoreShortage::holds(long now) {
  if (!known()) return false;
  if (now < until_.load(std::memory_order_relaxed)) return true;
  known_.store(false, std::memory_order_relaxed);
  return false;
}

void CoreShortage::gave_away(long from, long back) {
  if (back - from < kSomebodyComputes) return;
  const long since = from - late_.exchange(back, std::memory_order_relaxed);
  const long left = std::max(0l, away_.load(std::memory_order_relaxed) - std::max(0l, since) / kTenth);
  const long away = left + std::min(back - from, kSlice);  // one long absence is one
  away_.store(away, std::memory_order_relaxed);
  if (away < kMuch) return;
  const long before = length_.load(std::memory_order_relaxed);
  const bool again = from - until_.load(std::memory_order_relaxed) < before;
  const long length = again ? std::min(2 * before, kLongest) : kFirst;
  length_.store(length, std::memory_order_relaxed);
  until_.store(back + length, std::memory_order_relaxed);
  known_.store(true, std::memory_order_relaxed);
}

/// Where nobody wants the core it comes back at once: a few per cent of the wait. True when somebody had it.
bool Backoff::offer() {
  constexpr long kTaken = 10'000;  // nanoseconds
  const long from = clock_nanoseconds();
  if (!core_offers.wise(from)) {
    cpu_relax();
    return false;
  }
  sched_yield();
  const long back = clock_nanoseconds();
  core_offers.taken(from, back);
  return back - from > kTaken;
}

/// Apart from pause(): nobody who is in time comes here.
bool Backoff::give_away(bool may_sleep) {
  const long now = clock_nanoseconds();
  if (count_ == spins_ + 1) since_ = now;
  if (core_shortage.holds(now)) {
    if (count_ > spins_ + 2) --count_;  // the wait goes on
    sleep_for(may_sleep ? std::max(kShort, nap(now - since_, true)) : kShort);
    return true;
  }
  if (count_ > spins_ + kYields) {
    --count_;
    if (const long time = may_sleep ? nap(now - since_, crowded_) : 0; time > 0) {
      sleep_for(time);
      return true;
    }
  }
  // A virtual core that its host takes away comes back late as well. Then nobody here has had it, and sleeping would not help.
  const bool suspected = core_shortage.suspected(now);
  const long before = suspected ? switches() : 0;
  sched_yield();
  const long back = clock_nanoseconds();
  if (back - now < CoreShortage::kSomebodyComputes) return true;
  if (suspected && switches() != before) core_shortage.gave_away(now, back);
  core_shortage.suspect(back);
  return true;
}

}  // namespace chasqui::run
