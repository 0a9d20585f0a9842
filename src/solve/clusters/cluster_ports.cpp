// SPDX-License-Identifier: MIT
#include "solve/clusters/cluster_ports.hpp"

#include <algorithm>

namespace chasqui::solve {
namespace {

/// Not both, where a begins at some tick t and b at u with before <= u - t <= after.
void exclude(Cnf& cnf, const std::vector<Literal>& a, const std::vector<Literal>& b, std::int64_t before,
             std::int64_t after) {
  const auto ticks = static_cast<std::int64_t>(a.size());
  for (std::int64_t t = 0; t < ticks; ++t) {
    for (std::int64_t u = std::max<std::int64_t>(0, t + before); u <= std::min(ticks - 1, t + after); ++u) {
      const Literal first = a[static_cast<std::size_t>(t)], second = b[static_cast<std::size_t>(u)];
      if (first != 0 && second != 0) cnf.clause({-first, -second});
    }
  }
}

}  // namespace

ClusterPorts::ClusterPorts(const Cluster& cluster, std::int64_t ticks)
    : cluster_(cluster), ticks_(ticks), events_(static_cast<std::size_t>(cluster.base.P)) {
  for (auto& rank : events_) {
    for (auto& kind : rank) kind.resize(static_cast<std::size_t>(ticks));
  }
}

void ClusterPorts::add(Doing doing, Rank rank, std::int64_t begin, Literal event) {
  events_[static_cast<std::size_t>(rank.index)][doing][static_cast<std::size_t>(begin)].push_back(event);
}

void ClusterPorts::message(Literal sent, Rank from, Rank to, std::int64_t begin) {
  add(kSends, from, begin, sent);
  add(kReceives, to, begin + (cluster_.base.L + cluster_.base.o).ticks, sent);
}

std::array<std::int64_t, ClusterPorts::kDoings> ClusterPorts::lasts() const {
  const std::int64_t o = cluster_.base.o.ticks;
  return {o, o, cluster_.nodes.publish.ticks, cluster_.nodes.read.ticks};
}

/// One literal for all that begins at a tick; at most one thing of a kind does, unless it takes no time (rule 4).
std::vector<std::array<ClusterPorts::Begins, ClusterPorts::kDoings>> ClusterPorts::begins(Cnf& cnf) const {
  std::vector<std::array<Begins, kDoings>> all(events_.size());
  for (std::size_t rank = 0; rank < events_.size(); ++rank) {
    for (std::size_t kind = 0; kind < kDoings; ++kind) {
      all[rank][kind].assign(static_cast<std::size_t>(ticks_), 0);
      for (std::size_t t = 0; t < static_cast<std::size_t>(ticks_); ++t) {
        const std::vector<Literal>& events = events_[rank][kind][t];
        if (events.empty()) continue;
        if (kind == kSends || kind == kReceives || lasts()[kind] > 0) at_most_one(cnf, events);
        const Literal begins = all[rank][kind][t] = cnf.fresh();
        for (const Literal event : events) cnf.clause({-event, begins});
      }
    }
  }
  return all;
}

void ClusterPorts::rules(Cnf& cnf) const {
  const std::vector<std::array<Begins, kDoings>> begins = this->begins(cnf);
  const std::int64_t G = cluster_.base.gap().ticks, gamma = cluster_.nodes.gamma.ticks;
  const std::array<std::int64_t, kDoings> lasts = this->lasts();
  for (std::size_t rank = 0; rank < begins.size(); ++rank) {
    for (const Doing port : {kSends, kReceives}) exclude(cnf, begins[rank][port], begins[rank][port], 1, G - 1);
    for (std::size_t a = 0; a < kDoings; ++a) {
      for (std::size_t b = a; b < kDoings; ++b) {
        if (lasts[a] == 0 || lasts[b] == 0) continue;
        const std::int64_t before = a == b ? 1 : 1 - lasts[b];
        exclude(cnf, begins[rank][a], begins[rank][b], before, lasts[a] - 1);
      }
    }
    for (std::size_t other = 0; other < begins.size(); ++other) {
      const Rank one{static_cast<std::int32_t>(rank)}, two{static_cast<std::int32_t>(other)};
      if (rank == other || cluster_.nodes.node_of(one) != cluster_.nodes.node_of(two)) continue;
      for (const Doing port : {kSends, kReceives}) exclude(cnf, begins[rank][port], begins[other][port], 0, gamma - 1);
    }
  }
}

}  // namespace chasqui::solve
