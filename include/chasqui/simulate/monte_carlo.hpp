// SPDX-License-Identifier: MIT
// Many plays with random latencies, shared out over the cores. Run i depends on the seed and i alone, so the result is
// the same whatever the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "chasqui/simulate/simulate.hpp"

namespace chasqui::simulate {
/// Finish times of many plays.
struct Statistics {
  std::vector<Time> finishes;  ///< ascending

  Time least() const { return finishes.front(); }  ///< the luckiest play
  Time most() const { return finishes.back(); }    ///< the unluckiest play
  double mean() const;                             ///< average finish
  /// The smallest finish that at least a share q of the runs does not exceed. REQUIRES 0 <= q <= 1.
  Time quantile(double q) const;
};
/// How often to play, and how.
struct MonteCarloOptions {
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;                  ///< of the first play; the others follow from it
  unsigned threads = 0;                    ///< 0: as many as there are cores
  std::function<void(double)> progress{};  ///< told the share of runs that are done, from one thread at a time
};

/// `latency_of(seed)` makes the policy of one run. Throws an Error for runs = 0.
Statistics monte_carlo(const Schedule& schedule, const std::function<Latency(std::uint64_t)>& latency_of,
                       const MonteCarloOptions& many, const Options& options = {});

}  // namespace chasqui::simulate
