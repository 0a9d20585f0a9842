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

using ClusterSearchPtr = std::unique_ptr<ClusterSearch>;

ClusterSearchPtr search_one_item(const Cluster& cluster, const Problem& problem);  ///< broadcast or reduce of one item
/// Broadcast, scatter, gather, all-gather, all-to-all, and backwards reduce and reduce-scatter.
ClusterSearchPtr search_items(const Cluster& cluster, const Problem& problem);
/// All-reduce and scan of one item.
ClusterSearchPtr search_folds(const Cluster& cluster, const Problem& problem);
ClusterSearchPtr search_barrier(const Cluster& cluster);

}  // namespace chasqui::solve
