// SPDX-License-Identifier: MIT
// How to wait for another core: spin briefly, offer the core to others now and then, then give it away, then sleep, but never for long
// compared with the time waited so far. With more ranks than cores the spinning is cut short, so that the rank everybody waits for gets its
// turn, and the sleep is longer. Where others want the cores, it sleeps at once.
#pragma once

#include <atomic>

namespace chasqui::run {
/// Tells the core that this is a waiting loop.
inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}
/// Do others want the cores that this process waits on? A core that is given away tells: where nobody wants it, it comes back
/// at once; a rank that waits too gives it back soon; somebody who computes keeps it for milliseconds. Who gives its core
/// away again and again then hardly runs, whereas who sleeps gets one soon after it wakes up: ten thousand barriers in the time of
/// a hundred beside four programs that compute (2 ranks, 2 cores). Services of the system keep a core for some tenths of a millisecond now and
/// then: only cores that are away for a tenth of the time, for several milliseconds in all and more than once, are believed to be short, for a
/// while, twice as long each time that is found again.
class CoreShortage {
 public:
  bool known() const { return known_.load(std::memory_order_relaxed); }
  bool holds(long now);                  ///< is it still believed? Nanoseconds of the clock
  void gave_away(long from, long back);  ///< a core to another thread, from then to then
  /// A core was away for long lately: whether another thread had it is worth asking the kernel, which takes as long as giving a core away.
  bool suspected(long now) const { return now < suspected_until_.load(std::memory_order_relaxed); }
  void suspect(long now) { suspected_until_.store(now + kSuspicion, std::memory_order_relaxed); }

  static constexpr long kSomebodyComputes = 200'000;  ///< nanoseconds: a rank that waits too gives the core back sooner

 private:
  static constexpr long kSuspicion = 1'000'000'000, kSlice = 3'000'000, kMuch = 4'000'000, kTenth = 10,
                        kFirst = 100'000'000, kLongest = 10'000'000'000;
  std::atomic<bool> known_{false};
  std::atomic<long> late_{-kLongest};  ///< when a core came back late, the last time
  std::atomic<long> away_{0};          ///< what was lost until then; a tenth of the time since is forgotten
  std::atomic<long> until_{0}, length_{0};
  std::atomic<long> suspected_until_{0};
};
extern CoreShortage core_shortage;  ///< of this process

/// Who waits a while offers its core now and then: the kernel may have put the rank that is waited for on the same one, where it gets no
/// turn as long as this one spins. Somebody who computes takes it too, and for milliseconds: then nobody offers any for a while, twice as
/// long each time that is found again.
class CoreOffers {
 public:
  bool wise(long now) const { return now >= until_.load(std::memory_order_relaxed); }  ///< nanoseconds of the clock
  void taken(long from, long back);                                                    ///< an offer, from then to then

 private:
  static constexpr long kSomebodyComputes = 200'000, kFirst = 20'000'000, kLongest = 2'000'000'000;
  std::atomic<long> until_{0}, length_{0};
};
extern CoreOffers core_offers;  ///< of this process

/// Waiting that grows more patient: spin, yield, sleep.
class Backoff {
 public:
  /// crowded: more ranks than cores, so hardly any spinning. The first `looks` pauses are none.
  explicit Backoff(bool crowded, int looks = 0)
      : crowded_(crowded || core_shortage.known()), spins_(crowded_ ? 6 : 4'000), looks_(crowded_ ? 0 : looks) {}

  /// How often to look in a row for a line: a pause takes as long as its journey.
  static int looks(bool crowded) { return crowded ? 0 : 1'000; }

  /// True when it gave the core away: the moment to look for bad news. Without long sleeps where waiting must keep a
  /// message library going.
  bool pause(bool may_sleep = true) {
    if (looks_ > 0) {
      --looks_;
      return false;
    }
    if (++count_ > spins_) return give_away(may_sleep);
    if (count_ > kOfferFrom && count_ % kOfferEvery == 0) return offer();
    cpu_relax();
    return false;
  }

  /// How long to sleep, in nanoseconds, who has waited for so many; 0: not yet. Nobody comes later than a 64th of its wait
  /// (crowded: a 16th), the kernel's slack of 50 microseconds included, up to a sleep of 200.
  static long nap(long waited, bool crowded) {
    const long time = waited / (crowded ? 16 : 64) - kSlack;
    return time <= 0 ? 0 : time < kLongest ? time : kLongest;
  }
  void reset() { count_ = 0; }  ///< something moved: spin again

 private:
  bool offer();
  bool give_away(bool may_sleep);

  static constexpr int kOfferFrom = 400, kOfferEvery = 64;  ///< pauses
  static constexpr int kYields = 2'000;
  static constexpr long kSlack = 50'000, kLongest = 200'000, kShort = 20'000;
  bool crowded_;
  int spins_;
  int looks_;
  int count_ = 0;
  long since_ = 0;  ///< when it gave the core away first
};

}  // namespace chasqui::run
