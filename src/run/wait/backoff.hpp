// SPDX-License-Identifier: MIT
// How to wait for another core: spin briefly, then give the core away, then sleep, but never for long compared with the
// time waited so far. With more ranks than cores the spinning is cut short, so that the rank everybody waits for gets its
// turn, and the sleep is longer.
#pragma once

#include <sched.h>
#include <time.h>

#include "chasqui/base/clock.hpp"

namespace chasqui::run {
/// Tells the core that this is a waiting loop.
inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}
/// Waiting that grows more patient: spin, yield, sleep.
class Backoff {
 public:
  /// crowded: more ranks than cores, so hardly any spinning. The first `looks` pauses are none.
  explicit Backoff(bool crowded, int looks = 0) : crowded_(crowded), spins_(crowded ? 20 : 20'000), looks_(looks) {}

  /// How often to look in a row for a line: a pause takes as long as its journey.
  static int looks(bool crowded) { return crowded ? 0 : 1'000; }

  /// True when it gave the core away: the moment to look for bad news. Without sleep where waiting must keep a
  /// message library going.
  bool pause(bool may_sleep = true) {
    if (looks_ > 0) {
      --looks_;
      return false;
    }
    if (++count_ <= spins_) {
      cpu_relax();
      return false;
    }
    if (count_ <= spins_ + kYields || !may_sleep) {
      if (count_ == spins_ + 1 && may_sleep) since_ = clock_nanoseconds();
      if (!may_sleep) count_ = spins_;
      sched_yield();
    } else if (const long time = nap(clock_nanoseconds() - since_, crowded_); time == 0) {
      --count_;
      sched_yield();
    } else {
      const timespec sleep{0, time};
      nanosleep(&sleep, nullptr);
    }
    return true;
  }

  /// How long to sleep, in nanoseconds, who has waited for so many; 0: not yet. Nobody comes later than a 64th of its wait
  /// (crowded: a 16th), the kernel's slack of 50 microseconds included, up to a sleep of 200.
  static long nap(long waited, bool crowded) {
    const long time = waited / (crowded ? 16 : 64) - kSlack;
    return time <= 0 ? 0 : time < kLongest ? time : kLongest;
  }
  void reset() { count_ = 0; }  ///< something moved: spin again

 private:
  static constexpr int kYields = 2'000;
  static constexpr long kSlack = 50'000, kLongest = 200'000;
  bool crowded_;
  int spins_;
  int looks_;
  int count_ = 0;
  long since_ = 0;  ///< when it gave the core away first
};

/// When to look first at a line that another core is about to write. A look that comes too early takes the line from
/// its writer, who must get it back before it can write, and then everybody is late: so a rank looks a pause later after
/// each miss, and earlier again only after many looks that found the line there. One rank in a hundred rounds is too early,
/// not one in every round (docs/laboratory.md, "First looks").
class FirstLook {
 public:
  explicit FirstLook(int most_pauses) : most_(most_pauses * kFine) {}  ///< never waits longer than so many pauses

  int pauses() const { return when_ / kFine; }  ///< how many were learned
  void wait() const {
    for (int i = pauses(); i > 0; --i) cpu_relax();
  }  ///< as long as was learned
  void learn(bool found) {
    if (found) when_ -= when_ > 0 ? 1 : 0;
    else when_ += when_ < most_ ? kFine : 0;
  }  ///< was the line there at the first look?

 private:
  static constexpr int kFine = 128;  ///< looks in time that take back one that was too early
  int most_;
  int when_ = 0;
};

}  // namespace chasqui::run
