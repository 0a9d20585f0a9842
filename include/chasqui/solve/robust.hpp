// SPDX-License-Identifier: MIT
// The k-item broadcast with the least worst case: the schedule that finishes first when an adversary chooses every latency
// in low .. L (postal machine). Open in the literature; here exact for small instances, a search beyond.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "chasqui/solve/worst_case.hpp"

namespace chasqui::solve {
/// How long to search.
struct RobustOptions {
  AdversaryOptions adversary{};  ///< how a schedule is judged
  std::uint64_t mutations = 300;
  std::uint64_t schedules = 20'000;  ///< the exhaustive search gives up beyond this many
  std::uint64_t seed = 1;
  std::function<void(double)> progress{};  ///< told now and then, 0 .. 1
};
/// A schedule and what the worst latencies do to it.
struct RobustSchedule {
  Schedule schedule;
  WorstCase worst;
  bool proved = false;  ///< no schedule has a smaller worst case
  std::string how;      ///< where it comes from, and why it is proved
};
/// A schedule with a name, for comparisons.
struct Candidate {
  std::string name;
  Schedule schedule;
  bool buffered = false;  ///< legal only with buffers: its deliveries are a start, with other times
};

/// Judges the candidates and what list scheduling makes of their deliveries, improves the best by local search, and
/// tries to prove that nothing is better: the bound of the candidates may be met, or all schedules that could beat it
/// are looked at. Throws an Error unless all candidates are broadcasts of the same items on the same postal machine.
RobustSchedule most_robust(const std::vector<Candidate>& candidates, const RobustOptions& options = {});

/// All broadcasts of k items that finish by `finish` when latency is exact, up to renaming of ranks and items, each given to
/// `visit`, which returns false to stop. False if it was stopped.
bool for_each_broadcast(const LogP& machine, std::int64_t k, Time finish,
                        const std::function<bool(const Schedule&)>& visit);

}  // namespace chasqui::solve
