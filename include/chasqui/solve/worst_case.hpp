// SPDX-License-Identifier: MIT
// How late an adversary can make a schedule. It chooses every latency in low .. L and who goes first of messages that
// arrive together; sends keep their planned times or come later. A shorter latency can make a schedule finish later,
// because what arrives early may stand in the way of what is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "chasqui/simulate/simulate.hpp"

namespace chasqui::solve {

/// What counts as late.
enum class Lateness {
  finish,
  item,  ///< each item, against the time it was complete in the plan
};
/// What the adversary may do, and how long it may search.
struct AdversaryOptions {
  Time low{1};  ///< the least latency; the most is L
  Lateness lateness = Lateness::finish;
  std::uint64_t states = 200'000;     ///< the exact search gives up beyond this many, or 30 times as many choices
  std::uint64_t conflicts = 100'000;  ///< so does the exact search by SAT, for each formula
  std::uint64_t plays = 20'000;       ///< simulations of the heuristic search
  std::uint64_t seed = 1;
  Time enough = kNever;                    ///< SAT and the heuristic stop at a play that is so late
  std::function<void(double)> progress{};  ///< told the share of the budget that is used
};
/// The worst that was found.
struct WorstCase {
  Time nominal;                      ///< finish when every message takes L
  Time late;                         ///< the most found
  bool exact = false;                ///< proved to be the most possible
  std::uint64_t explored = 0;        ///< states or formulas of the exact searches, or simulations
  std::string how;                   ///< in words: "18 states", "by SAT", "the worst of 1000 plays"
  std::vector<Time> latencies;       ///< witness, in the order of Trace::schedule
  std::vector<std::uint32_t> order;  ///< witness: who goes first of messages that arrive together (Options::order)

  Time finish() const { return nominal + late; }  ///< the latest finish
  /// Worst finish over nominal finish.
  double robustness() const {
    return nominal == Time{0} ? 1.0 : static_cast<double>(finish().ticks) / static_cast<double>(nominal.ticks);
  }
};

/// Exact where that fits the budget, by trying all that the adversary can do (o = 0) or by SAT; else the best of a hill
/// climb. `exact` says which.
WorstCase worst_case(const Schedule& schedule, const AdversaryOptions& options = {});

/// The searches by themselves. The exact ones say exact = false when they gave up. SAT looks for plays that are later than
/// `known`, which has the witness of a play or is empty; it throws an Error where available(Engine::sat) is false.
WorstCase worst_case_exact(const Schedule& schedule, const AdversaryOptions& options);
WorstCase worst_case_sat(const Schedule& schedule, const AdversaryOptions& options,
                         WorstCase known = {});  ///< exact where it ends in time
WorstCase worst_case_heuristic(
    const Schedule& schedule,
    const AdversaryOptions& options);  ///< the best of a random search; a proof only where no two messages can meet

/// The play that a witness describes.
Trace replay(const Schedule& schedule, const WorstCase& witness);

}  // namespace chasqui::solve
