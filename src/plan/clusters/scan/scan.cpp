// SPDX-License-Identifier: MIT
// Scan: first inside every node, in rounds on its board; then windows of nodes that grow downwards, as those of an all-reduce do
// around the ring (clusters.md, Theorem 19).
#include <algorithm>

#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/timetable.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

/// Up to here equal nodes are also planned one event after another: with few of them those at the ends save a tick or two.
constexpr std::int64_t kMostScanRanks = 1024;
/// A rank of such a plan has no more events, and unequal nodes of more ranks are not listed.
constexpr std::int64_t kMostOfRank = 35, kMostUnequalScanRanks = 2'000'000 / kMostOfRank;
/// On unequal nodes rounds are tried up to here: beyond they were never the fastest.
constexpr std::int64_t kMostRoundsOfUnequal = 256;
/// Up to so many ranks each may send its own contribution at once: all others read them one by one.
constexpr std::int64_t kMostEarlyRanks = 64;

/// Every rank may send its own contribution at once, while the board of its node works.
struct FirstRound {
  bool early = false;
  bool straight = false;      ///< to every rank above, and no board hands it out
  bool boards_first = false;  ///< what a rank does on its board goes before its messages
};

class Scan {
 public:
  Scan(const Cluster& cluster, const Problem& problem)
      : nodes_(cluster.nodes), table_(cluster, problem, kMostOfRank * cluster.base.P),
        knows_(static_cast<std::size_t>(cluster.base.P), Time{0}) {}

  /// `board`: by what factor a rank's part of its node grows a round. `radix`: the same for nodes. `first_round`: between nodes.
  Schedule plan(std::int64_t board, std::int64_t radix, const FirstRound& first_round, Time bound) {
    const bool early = first_round.early;
    const std::int64_t N = nodes_.count(), first = early ? radix : 1;
    Arrivals arrived(static_cast<std::size_t>(N));
    if (early && !first_round.boards_first) send_own(radix - 1, first_round.straight, arrived);
    const std::int64_t senders = first >= N ? 0 : radix - 1;
    for (std::int64_t node = 0; node < N; ++node) fold_node(node, board, senders);
    if (early && first_round.boards_first) send_own(radix - 1, first_round.straight, arrived);
    if (early) first_round.straight ? keep_arrivals(arrived) : hand_out_arrivals(arrived);
    for (std::int64_t window = first; window < N; window *= radix) round(window, radix - 1);
    return std::move(table_).schedule(bound);
  }

 private:
  struct Piece {
    Time since;
    Rank at;
    Part part;
  };
  using Arrivals = std::vector<std::vector<Piece>>;  ///< by node

  Rank rank(std::int64_t node, std::int64_t place) const {
    return {static_cast<std::int32_t>(nodes_.first_rank(node) + place)};
  }
  Time& knows(Rank rank) { return knows_[static_cast<std::size_t>(rank.index)]; }
  /// The contributions of ranks first .. end-1.
  static Part part(std::int64_t first, std::int64_t end) {
    return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(end - first)};
  }

  /// Rank i of the node then has the fold of ranks 0 .. i of it, and the `senders` last ones, which send between nodes, have all of it.
  void fold_node(std::int64_t node, std::int64_t factor, std::int64_t senders) {
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
    if (std::min(size, senders) < 2 || node + 1 == nodes_.count()) return;
    const Rank last = rank(node, size - 1);
    const Time published = table_.publish(last, part(first, first + size), knows(last));
    for (std::int64_t i = std::max<std::int64_t>(0, size - senders); i + 1 < size; ++i)
      knows(rank(node, i)) =
          table_.read(rank(node, i), last, part(first, first + size), std::max(knows(rank(node, i)), published));
  }

  /// Every rank's own contribution goes to the nodes above its own, so many of them.
  void send_own(std::int64_t pieces, bool straight, Arrivals& arrived) {
    for (std::int64_t c = 1; c <= pieces; ++c) {
      for (std::int64_t to = c; to < nodes_.count(); ++to) {
        for (std::int64_t turn = 0; turn < (straight ? nodes_.size(to) : 1); ++turn) {
          for (std::int64_t place = 0; place < nodes_.size(to - c); ++place) {
            const Rank sender = rank(to - c, place), receiver = rank(to, (place + turn) % nodes_.size(to));
            const Part own = part(sender.index, sender.index + 1);
            arrived[static_cast<std::size_t>(to)].push_back(
                {table_.send(sender, receiver, own, Time{0}), receiver, own});
          }
        }
      }
    }
  }

  /// Node i gets from the nodes i - w, i - 2w, … what they know: themselves and the w - 1 below. Its lanes take turns, the last rank
  /// first: it has the fold of its node before all others.
  void round(std::int64_t window, std::int64_t pieces) {
    Arrivals arrived(static_cast<std::size_t>(nodes_.count()));
    for (std::int64_t c = 1; c <= pieces; ++c) {
      for (std::int64_t to = c * window; to < nodes_.count(); ++to) {
        const std::int64_t from = to - c * window;
        const std::int64_t lane = (c - 1) % std::min(nodes_.size(from), nodes_.size(to));
        const Rank sender = rank(from, nodes_.size(from) - 1 - lane), receiver = rank(to, nodes_.size(to) - 1 - lane);
        const Part what =
            part(nodes_.first_rank(std::max<std::int64_t>(0, from - window + 1)), nodes_.first_rank(from + 1));
        arrived[static_cast<std::size_t>(to)].push_back(
            {table_.send(sender, receiver, what, knows(sender)), receiver, what});
      }
    }
    hand_out_arrivals(arrived);
  }

  void keep_arrivals(const Arrivals& arrived) {
    for (const std::vector<Piece>& list : arrived) {
      for (const Piece& piece : list) knows(piece.at) = std::max(knows(piece.at), piece.since);
    }
  }

  /// Who received something publishes it for all of its node.
  void hand_out_arrivals(Arrivals& arrived) {
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
  Timetable table_;
  std::vector<Time> knows_;  ///< by rank: since when it has what it sends on
};

}  // namespace

PlanPtr scan_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  // The first rank is heard by all others, and the last one hears from all.
  Bound bound = cluster_broadcast_bound(cluster, cluster.nodes.size(0));
  if (Bound reduce = cluster_reduce_bound(cluster, cluster.nodes.size(cluster.nodes.count() - 1));
      reduce.time > bound.time)
    bound = std::move(reduce);
  if (lanes == Lanes::leaders) return scan_by_leaders(cluster, problem, bound);
  const std::int64_t N = cluster.nodes.count(), n = cluster.nodes.largest(), P = cluster.base.P;
  const bool equal = cluster.nodes.uniform();
  Earliest best(scan_in_step(cluster, problem, bound));
  best.offer(scan_by_leaders(cluster, problem, bound));
  if (P > (equal ? kMostScanRanks : kMostUnequalScanRanks)) return best.plan();
  if (!equal) {
    best.offer(earliest_scan_by_nodes(cluster, problem, bound.time, best.before()), bound.source,
               [] { return "windows of nodes that grow piece by piece"; });
    best.offer(earliest_windows_by_ranks(cluster, problem, bound.time, best.before()), bound.source,
               [] { return "windows of ranks that grow piece by piece"; });
    if (P > kMostRoundsOfUnequal) return best.plan();
  }
  const std::int64_t most_radix = std::clamp<std::int64_t>(n + 1, 2, std::max<std::int64_t>(N, 2));
  for (std::int64_t board = 2; board <= std::max<std::int64_t>(2, n); board += 1 + board / 2) {
    for (std::int64_t radix = 2; radix <= most_radix; radix += 1 + radix / 4) {
      for (const FirstRound& first :
           {FirstRound{}, {true, false, false}, {true, false, true}, {true, true, false}, {true, true, true}}) {
        if (first.early && (N == 1 || P > kMostEarlyRanks)) continue;
        best.offer(Scan(cluster, problem).plan(board, radix, first, bound.time), bound.source, [&] {
          std::string text = fmt::format("boards of radix {}, then windows of nodes of radix {}", board, radix);
          if (first.early) text += ", the first while boards work";
          return text;
        });
      }
    }
  }
  return best.plan();
}

}  // namespace chasqui::plan
