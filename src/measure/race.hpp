// SPDX-License-Identifier: MIT
// Several ways to do one call, by turns in random order: a few rounds of all, more of those that are near the fastest. Drift
// hits all alike, and the slow ones cost little.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "chasqui/measure/bench.hpp"
#include "measure/common_start.hpp"

namespace chasqui::measure {

/// How long a race is.
struct RaceOptions {
  int warm = 2;      ///< calls of each that do not count: connections and windows grow. REQUIRES at least one
  double precious =  ///< nanoseconds: where calls are expected, and take as long or longer, all of them count
      std::numeric_limits<double>::infinity();
  int few = 3;         ///< rounds of all
  int rounds = 9;      ///< of those that are near the fastest after the few
  double time = 20e6;  ///< nanoseconds: where calls are short there are more rounds, so that as long is spent on each …
  int most = 10;       ///< … but at most so many times as many
  double near = 1.3;  ///< times the fastest
  double settled =
      0;  ///< a near one whose times are known as well, as a share of them, has no more rounds, nor has one that is alone
  double hopeless = 4;   ///< times the fastest, in the first calls: such a one has one round, or the few
  std::size_t kept = 0;  ///< the first so many have all rounds, however slow they are
};

/// How one did.
struct Raced {
  bool works = false;    ///< it ran, with the right result; without, there are no times
  Quartiles times{};     ///< nanoseconds
  bool in_time = false;  ///< they are of rounds that all began in time; otherwise there was none
};

/// One way to do the call.
struct Contestant {
  std::function<void()> prepare;              ///< before the clock runs
  std::function<bool(const run::Call&)> run;  ///< false: it cannot do this call
  double expected = 0;                        ///< nanoseconds that it may take, for its first slot; 0: nobody knows
};

/// Collective: every rank gets the same times.
std::vector<Raced> race(run::Comm& comm, CommonStart& start, Kind kind, std::size_t bytes,
                        const std::vector<Contestant>& contestants, const RaceOptions& options);

}  // namespace chasqui::measure
