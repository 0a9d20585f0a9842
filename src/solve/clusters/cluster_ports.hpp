// SPDX-License-Identifier: MIT
// Rules 2, 3, 4 and 8 of docs/model.md on a cluster as clauses: what a rank does when, and how close the messages of a node may be.
#pragma once

#include <array>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "chasqui/solve/cnf.hpp"

namespace chasqui::solve {

/// Everything that might happen is registered with the tick at which it begins at its rank (a reception: when the overhead begins);
/// rules() then writes the clauses.
class ClusterPorts {
 public:
  ClusterPorts(const Cluster& cluster, std::int64_t ticks);

  /// A message that is sent at `begin`, at both its ends. REQUIRES that it is there before the ticks end.
  void message(Literal sent, Rank from, Rank to, std::int64_t begin);
  void publication(Literal published, Rank rank, std::int64_t begin) { add(kPublishes, rank, begin, published); }
  void reading(Literal read, Rank rank, std::int64_t begin) { add(kReads, rank, begin, read); }

  /// The clauses. Call when all is registered.
  void rules(Cnf& cnf) const;

 private:
  enum Doing : std::size_t { kSends, kReceives, kPublishes, kReads, kDoings };
  using Begins = std::vector<Literal>;  ///< by tick: something of a kind begins at a rank; 0: it cannot

  std::array<std::int64_t, kDoings> lasts() const;  ///< how long a rank is busy with each
  void add(Doing doing, Rank rank, std::int64_t begin, Literal event);
  std::vector<std::array<Begins, kDoings>> begins(Cnf& cnf) const;

  const Cluster& cluster_;
  std::int64_t ticks_;
  std::vector<std::array<std::vector<std::vector<Literal>>, kDoings>> events_;  ///< by rank, kind and tick
};

}  // namespace chasqui::solve
