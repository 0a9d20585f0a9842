// SPDX-License-Identifier: MIT
// Scan: first inside every node, in rounds on its board; then windows of nodes that grow downwards, as those of an all-reduce do
// around the ring (clusters.md, Theorem 19).
#include <algorithm>
#include <optional>

#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

/// Up to here equal nodes are also planned one event after another: with few of them those at the ends save a tick or two.
constexpr std::int64_t kMostScanRanks = 1024;

class Scan {
 public:
  Scan(const Cluster& cluster, const Problem& problem, Lanes lanes)
      : nodes_(cluster.nodes), leaders_(lanes == Lanes::leaders),
        table_(cluster, problem, (3 + 64 / 2) * cluster.base.P),
        knows_(static_cast<std::size_t>(cluster.base.P), Time{0}) {}

  /// `board`: by what factor a rank's part of its node grows a round. `radix`: the same for nodes.
  Schedule plan(std::int64_t board, std::int64_t radix, Time bound) {
    for (std::int64_t node = 0; node < nodes_.count(); ++node) fold_node(node, board);
    for (std::int64_t window = 1; window < nodes_.count(); window *= radix) round(window, radix - 1);
    return std::move(table_).schedule(bound);
  }

 private:
  Rank rank(std::int64_t node, std::int64_t place) const {
    return {static_cast<std::int32_t>(nodes_.first_rank(node) + place)};
  }
  Time& knows(Rank rank) { return knows_[static_cast<std::size_t>(rank.index)]; }
  /// The contributions of ranks first .. end-1.
  static Part part(std::int64_t first, std::int64_t end) {
    return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(end - first)};
  }

  /// Rank i of the node then has the fold of ranks 0 .. i of it, and who sends between nodes has all of it.
  void fold_node(std::int64_t node, std::int64_t factor) {
    const std::int64_t size = nodes_.size(node), first = nodes_.first_rank(node);
    for (std::int64_t width = 1; width < size; width *= factor) {
      std::vector<Time> published;
      for (std::int64_t i = 0; i + width < size; ++i)  // those above do not read from anybody further up
        published.push_back(table_.publish(rank(node, i),
                                           part(first + std::max<std::int64_t>(0, i - width + 1), first + i + 1),
                                           knows(rank(node, i))));
      for (std::int64_t i = size; i-- > 0;) {
        for (std::int64_t j = 1; j < factor && i >= j * width; ++j) {
          const std::int64_t from = i - j * width;
          const Part read = part(first + std::max<std::int64_t>(0, from - width + 1), first + from + 1);
          Time& has = knows(rank(node, i));
          has = table_.read(rank(node, i), rank(node, from), read,
                            std::max(has, published[static_cast<std::size_t>(from)]));
        }
      }
    }
    if (size == 1 || node + 1 == nodes_.count()) return;
    const Rank last = rank(node, size - 1);
    const Time published = table_.publish(last, part(first, first + size), knows(last));
    for (std::int64_t i = 0; i + 1 < (leaders_ ? 2 : size); ++i)
      knows(rank(node, i)) =
          table_.read(rank(node, i), last, part(first, first + size), std::max(knows(rank(node, i)), published));
  }

  /// Node i gets from the nodes i - w, i - 2w, … what they know: themselves and the w - 1 below. Its lanes take turns.
  void round(std::int64_t window, std::int64_t pieces) {
    struct Piece {
      Time since;
      Rank at;
      Part part;
    };
    std::vector<std::vector<Piece>> arrived(static_cast<std::size_t>(nodes_.count()));
    for (std::int64_t c = 1; c <= pieces; ++c) {
      for (std::int64_t to = c * window; to < nodes_.count(); ++to) {
        const std::int64_t from = to - c * window;
        const std::int64_t lane = leaders_ ? 0 : (c - 1) % std::min(nodes_.size(from), nodes_.size(to));
        const Rank sender = rank(from, lane), receiver = rank(to, lane);
        const Part what =
            part(nodes_.first_rank(std::max<std::int64_t>(0, from - window + 1)), nodes_.first_rank(from + 1));
        arrived[static_cast<std::size_t>(to)].push_back(
            {table_.send(sender, receiver, what, knows(sender)), receiver, what});
      }
    }
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      auto& list = arrived[static_cast<std::size_t>(node)];
      for (const Piece& piece : list) knows(piece.at) = std::max(knows(piece.at), piece.since);
      if (nodes_.size(node) == 1) continue;
      std::sort(list.begin(), list.end(), [](const Piece& a, const Piece& b) { return a.since < b.since; });
      for (Piece& piece : list) piece.since = table_.publish(piece.at, piece.part, piece.since);
      for (const Piece& piece : list) {
        for (std::int64_t i = 0; i < nodes_.size(node); ++i) {
          const Rank reader = rank(node, i);
          if (reader == piece.at) continue;
          knows(reader) = std::max(knows(reader), table_.read(reader, piece.at, piece.part, piece.since));
        }
      }
    }
  }

  const Nodes& nodes_;
  bool leaders_;
  Timetable table_;
  std::vector<Time> knows_;  ///< by rank: since when it has what it sends on
};

}  // namespace

PlanPtr scan_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  Bound bound = cluster_broadcast_bound(cluster);
  if (Bound reduce = cluster_reduce_bound(cluster); reduce.time > bound.time) bound = std::move(reduce);
  const std::int64_t N = cluster.nodes.count(), n = cluster.nodes.largest();
  PlanPtr in_step;
  if (cluster.nodes.uniform() && lanes != Lanes::leaders) {
    in_step = scan_in_step(cluster, problem, bound);
    if (cluster.base.P > kMostScanRanks) return in_step;
  }
  std::optional<Schedule> best;
  std::string how;
  for (std::int64_t board = 2; board <= std::max<std::int64_t>(2, n); board += 1 + board / 2) {
    for (std::int64_t radix = 2;
         radix <= (lanes == Lanes::leaders ? 2 : std::clamp<std::int64_t>(n + 1, 2, std::max<std::int64_t>(N, 2)));
         radix += 1 + radix / 4) {
      Schedule tried = Scan(cluster, problem, lanes).plan(board, radix, bound.time);
      if (best && best->finish <= tried.finish) continue;
      best = std::move(tried);
      how = fmt::format("boards of radix {}, then windows of nodes of radix {}", board, radix);
    }
  }
  if (in_step && in_step->claim().finish <= best->finish) return in_step;
  if (lanes == Lanes::leaders) how += ", by leaders";
  return std::make_shared<ListedClusterPlan>(std::move(*best), bound.source, how);
}

}  // namespace chasqui::plan
