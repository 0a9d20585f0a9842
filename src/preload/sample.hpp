// SPDX-License-Identifier: MIT
// How long calls took, by a few of them: to read the clock twice takes as long as half a short call. The first ones are timed, all of
// them, and then one of each 64, anywhere among these: programs have rhythms, and boards have turns, so calls at a fixed distance
// would all be of one kind. Every call is as likely to be timed as any other.
#pragma once

#include <algorithm>
#include <cstdint>

namespace chasqui::preload {

class TimesSampled {
 public:
  static constexpr std::uint64_t kFirst = 16, kOneOf = 64;

  /// From now on. Two with different seeds take different calls.
  void begin(std::uint64_t seed) { next_ = 0, random_ = seed; }
  /// Is the call timed that comes after `made` others? Never before begin().
  bool due(std::uint64_t made) const { return made >= next_; }
  /// It took so long. REQUIRES due(made)
  void add(double time, std::uint64_t made) {
    if (first_ < kFirst) {
      first_time_ += time;
      if (++first_ == kFirst) draw(made + 1);
    } else {
      time_ += time;
      ++sampled_;
      draw(std::max(made + 1, end_));
    }
  }

  std::uint64_t timed() const { return first_ + sampled_; }
  /// What so many calls took, those that were timed included. read: nanoseconds of each time in the sample that reading the clock took.
  double estimate(std::uint64_t calls, double read) const {
    const auto others = static_cast<double>(std::max(calls, first_) - first_);
    if (sampled_ == 0) return first_ == 0 ? 0 : first_time_ * (1 + others / static_cast<double>(first_));
    return first_time_ + others * std::max(0.0, time_ / static_cast<double>(sampled_) - read);
  }

 private:
  /// One of the calls from `begin` on.
  void draw(std::uint64_t begin) {
    random_ = random_ * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
    next_ = begin + (random_ >> 33) % kOneOf;
    end_ = begin + kOneOf;
  }

  std::uint64_t next_ = ~std::uint64_t{0}, end_ = 0;  ///< the next call; where those end of which it is one
  std::uint64_t random_ = 0;
  std::uint64_t first_ = 0, sampled_ = 0;
  double first_time_ = 0, time_ = 0;
};

}  // namespace chasqui::preload
