// SPDX-License-Identifier: MIT
// How every exact search on a cluster goes up: from the bound, tick by tick, until something finishes in time.
#pragma once

#include <memory>

#include "chasqui/solve/cluster.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {

/// "Does anything finish within T ticks?", asked for one T after another.
class ClusterSearch {
 public:
  virtual ~ClusterSearch() = default;
  /// unknown: `stop` ended it.
  virtual Verdict within(Time T, const Stop& stop) = 0;
  /// What was found last. Empty where only the time is known. REQUIRES that the last verdict was satisfiable.
  virtual std::optional<Schedule> found() const = 0;
  /// "everything tried", "unsatisfiable"
  virtual std::string_view how() const = 0;
};

/// One that asks the SAT solver: a formula for each T, and a schedule read off what makes it true.
class FormulaSearch : public ClusterSearch {
 public:
  Verdict within(Time T, const Stop& stop) final;
  std::optional<Schedule> found() const final { return found_; }
  std::string_view how() const final { return "unsatisfiable"; }

 protected:
  /// Throws Error, naming what is sought, where there is no solver.
  explicit FormulaSearch(std::string_view what);
  virtual Cnf formula() = 0;
  virtual std::optional<Schedule> read_off(const SatSolver& solver) const = 0;  ///< empty: only the time is known

  std::int64_t T_ = 0;  ///< the ticks that are asked for

 private:
  std::optional<Schedule> found_;
};

using ClusterSearchPtr = std::unique_ptr<ClusterSearch>;

// Of a cluster on which everything is tried.
inline constexpr std::int64_t kMostRanks = 16;
inline constexpr std::int64_t kMostClusterTicks = 100;

/// What one rank has, all of its node can have at the same tick.
inline bool free_board(const Cluster& cluster) { return cluster.nodes.publish + cluster.nodes.read == Time{0}; }

/// How many messages may enter a node, of a reduction how many may leave it.
enum class NodeEntries { any, one };

/// Broadcast or reduce of one item.
ClusterSearchPtr search_one_item(const Cluster& cluster, const Problem& problem,
                                 NodeEntries entries = NodeEntries::any);
/// Broadcast, scatter, gather, all-gather, all-to-all, and backwards reduce and reduce-scatter.
ClusterSearchPtr search_items(const Cluster& cluster, const Problem& problem);
/// All-reduce and scan of one item.
ClusterSearchPtr search_folds(const Cluster& cluster, const Problem& problem);
/// A barrier; of an all-reduce or scan what they take at least, because everybody must hear of those whose contributions it folds.
ClusterSearchPtr search_hearing(const Cluster& cluster, const Problem& problem);

}  // namespace chasqui::solve
