// SPDX-License-Identifier: MIT
// Scan on few ranks: windows grow piece by piece, those of every rank by themselves, in many orders drawn at random (clusters.md, Theorem 37).
#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <utility>

#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostRanksInAnyOrder = 24;
constexpr std::int64_t kMostOrders = 1000;
constexpr std::int64_t kOrdersTimesCube = 1'500'000;  ///< one order takes about P^3

/// One order in which ranks choose what they are handed next.
class OneOrder {
 public:
  OneOrder(const Cluster& cluster, const Problem& problem, std::mt19937& random)
      : P_(cluster.base.P), patience_(cluster.base.lambda()), random_(random), table_(cluster, problem, 0),
        windows_(static_cast<std::size_t>(P_)), published_(windows_.size()) {}

  /// Nothing if it does not end before `before`.
  std::optional<Schedule> play(Time bound, Time before) {
    using Turn = std::pair<std::int64_t, std::int64_t>;  // the least goes first; the rank
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (std::int64_t rank = 0; rank < P_; ++rank) {
      window(rank).push_back({rank, Time{0}});
      if (rank > 0) turns.emplace(any_below(kLongestPause), rank);
    }
    while (!turns.empty()) {
      const auto [turn, rank] = turns.top();
      turns.pop();
      const Offer chosen = choose(rank);
      if (chosen.end >= before) return std::nullopt;
      take(rank, chosen);
      if (window(rank).back().low > 0) turns.emplace(turn + any_below(kLongestPause), rank);
    }
    return std::move(table_).schedule(bound);
  }

 private:
  static constexpr std::int64_t kLongestPause = 64;
  static constexpr std::int64_t kLongestOfTen = 6;  ///< in so many of ten choices the longest piece is taken

  /// A window from its upper end on: this piece ends where the one before it begins.
  struct Piece {
    std::int64_t low;
    Time since;
  };
  struct Published {
    Part part;
    Time end;
  };
  struct Offer {
    Time end{kMaxTime};
    Rank from{};
    std::int64_t low = 0;
    Time since{0};          ///< its sender can begin then; what is on the board is there
    bool on_board = false;  ///< published already
  };

  static Rank rank_of(std::int64_t index) { return {static_cast<std::int32_t>(index)}; }
  std::vector<Piece>& window(std::int64_t rank) { return windows_[static_cast<std::size_t>(rank)]; }
  std::int64_t any_below(std::int64_t count) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(count));
  }

  /// Among what can be there not much later than anything else the longest piece, or any.
  Offer choose(std::int64_t rank) {
    collect_offers(rank);
    Time earliest{kMaxTime};
    for (const Offer& offer : offers_) earliest = std::min(earliest, offer.end);
    const Time latest = earliest + Time{any_below(patience_.ticks + 1)};
    const bool longest = any_below(10) < kLongestOfTen;
    Offer best{.low = P_};
    std::int64_t seen = 0;
    for (const Offer& offer : offers_) {
      if (offer.end > latest) continue;
      const bool better = std::pair(offer.low, offer.end) < std::pair(best.low, best.end);
      if (longest ? better : any_below(++seen) == 0) best = offer;
    }
    return best;
  }

  /// All intervals that end just below the window and that another rank can make, then or when it has what it is being handed.
  void collect_offers(std::int64_t rank) {
    offers_.clear();
    const std::int64_t below = window(rank).back().low - 1;
    const Rank to = rank_of(rank);
    for (std::int64_t other = 0; other < P_; ++other) {
      const std::vector<Piece>& has = window(other);
      const auto above = std::lower_bound(has.begin(), has.end(), below + 1,
                                          [](const Piece& piece, std::int64_t low) { return piece.low > low; });
      auto piece = has.begin();
      if (other != below) {
        if (other == rank || above == has.end() || above->low != below + 1) continue;
        piece = above + 1;
      }
      const Rank from = rank_of(other);
      const bool same_node = table_.node_of(from) == table_.node_of(to);
      if (same_node) {
        for (const Published& p : published_[static_cast<std::size_t>(other)]) {
          if (p.part.lo + p.part.len == below + 1)
            offers_.push_back({table_.end_of_reading(to, p.end), from, p.part.lo, p.end, true});
        }
      }
      for (Time since{0}; piece != has.end(); ++piece) {
        since = std::max(since, piece->since);
        const Time end = same_node ? table_.end_of_reading(to, table_.end_of_publication(from, since))
                                   : table_.end_of_send(from, to, since);
        offers_.push_back({end, from, piece->low, since, false});
      }
    }
  }

  void take(std::int64_t rank, const Offer& offer) {
    const Rank to = rank_of(rank);
    const auto low = static_cast<std::int32_t>(offer.low);
    const Part part{low, static_cast<std::int32_t>(window(rank).back().low) - low};
    Time end{0};
    if (table_.node_of(offer.from) != table_.node_of(to)) {
      end = table_.send(offer.from, to, part, offer.since);
    } else {
      Time there = offer.since;
      if (!offer.on_board) {
        there = table_.publish(offer.from, part, offer.since);
        published_[static_cast<std::size_t>(offer.from.index)].push_back({part, there});
      }
      end = table_.read(to, offer.from, part, there);
    }
    window(rank).push_back({offer.low, end});
  }

  std::int64_t P_;
  Time patience_;
  std::mt19937& random_;
  Timetable table_;
  std::vector<std::vector<Piece>> windows_;        ///< by rank
  std::vector<std::vector<Published>> published_;  ///< by rank
  std::vector<Offer> offers_;
};

}  // namespace

std::optional<Schedule> earliest_scan_by_ranks(const Cluster& cluster, const Problem& problem, Time bound,
                                               Time before) {
  const std::int64_t P = cluster.base.P;
  if (P > kMostRanksInAnyOrder) return std::nullopt;
  std::optional<Schedule> best;
  std::mt19937 random(1);  // the same everywhere
  for (std::int64_t order = std::min(kMostOrders, kOrdersTimesCube / (P * P * P)); order > 0 && before > bound;
       --order) {
    if (auto found = OneOrder(cluster, problem, random).play(bound, before)) {
      best = std::move(found);
      before = best->finish;
    }
  }
  return best;
}

}  // namespace chasqui::plan
