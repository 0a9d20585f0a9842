// SPDX-License-Identifier: MIT
// Scan, all-reduce and barrier on few ranks: windows grow piece by piece, those of every rank by themselves, in many orders drawn at random
// (clusters.md, Theorems 37 and 39).
#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
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
      : P_(cluster.base.P), problem_(problem), ring_(problem.kind != Kind::scan), patience_(cluster.base.lambda()),
        random_(random), table_(cluster, problem, 0), windows_(static_cast<std::size_t>(P_)),
        published_(windows_.size()) {}

  /// Nothing if it does not end before `before`.
  std::optional<Schedule> play(Time bound, Time before) {
    using Turn = std::pair<std::int64_t, std::int64_t>;  // the least goes first; the rank
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (std::int64_t rank = 0; rank < P_; ++rank) {
      window(rank).push_back({rank, rank + 1, Time{0}});
      if (room(rank) > 0) turns.emplace(any_below(kLongestPause), rank);
    }
    while (!turns.empty()) {
      const auto [turn, rank] = turns.top();
      turns.pop();
      const Offer chosen = choose(rank);
      if (chosen.end >= before) return std::nullopt;
      take(rank, chosen);
      if (room(rank) > 0) turns.emplace(turn + any_below(kLongestPause), rank);
    }
    return std::move(table_).schedule(bound);
  }

 private:
  static constexpr std::int64_t kLongestPause = 64;
  static constexpr std::int64_t kLongestOfTen = 6;  ///< in so many of ten choices the longest piece is taken

  /// What a rank was handed as one: the contributions of the ranks low .. end-1, counted on below 0 and from P on.
  struct Tile {
    std::int64_t low, end;
    Time since;
  };
  struct Published {
    std::int64_t low, len;
    Time there;
  };
  struct Offer {
    Time end{kMaxTime};
    Rank from{};
    std::int64_t low = 0, len = 0;  ///< of what is handed over
    std::int64_t gain = 0;          ///< by so much the window grows …
    bool below = true;              ///< … downwards
    Time since{0};                  ///< its sender can begin then; what is on the board is there
    bool on_board = false;          ///< published already
  };

  static Rank rank_of(std::int64_t index) { return {static_cast<std::int32_t>(index)}; }
  std::vector<Tile>& window(std::int64_t rank) { return windows_[static_cast<std::size_t>(rank)]; }
  /// By how much the window may still grow.
  std::int64_t room(std::int64_t rank) {
    return ring_ ? P_ - (window(rank).back().end - window(rank).front().low) : window(rank).front().low;
  }
  bool cut_at_will() const { return problem_.kind == Kind::barrier; }
  std::int64_t any_below(std::int64_t count) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(count));
  }
  std::pair<Part, Part> parts(std::int64_t low, std::int64_t len) const {
    const std::int64_t from = modulo(low, P_), before_end = std::min(len, P_ - from);
    const auto small = [](std::int64_t x) { return static_cast<std::int32_t>(x); };
    if (before_end == len || problem_.commutative) return {{small(from), small(len)}, {}};
    return {{small(from), small(before_end)}, {0, small(len - before_end)}};
  }

  /// Among what can be there not much later than anything else the longest piece, or any.
  Offer choose(std::int64_t rank) {
    collect_offers(rank);
    Time earliest{kMaxTime};
    for (const Offer& offer : offers_) earliest = std::min(earliest, offer.end);
    const Time latest = earliest + Time{any_below(patience_.ticks + 1)};
    const bool longest = any_below(10) < kLongestOfTen;
    Offer best;
    std::int64_t seen = 0;
    for (const Offer& offer : offers_) {
      if (offer.end > latest) continue;
      const bool better = std::pair(-offer.gain, offer.end) < std::pair(-best.gain, best.end);
      if (longest ? better : any_below(++seen) == 0) best = offer;
    }
    return best;
  }

  /// All intervals that end just below the window, or begin just above it, and that another rank can make, then or when it has what it is
  /// being handed.
  void collect_offers(std::int64_t rank) {
    offers_.clear();
    const std::int64_t most = room(rank), low = window(rank).front().low, end = window(rank).back().end;
    for (std::int64_t other = 0; other < P_; ++other) {
      if (other == rank) continue;
      const Rank from = rank_of(other), to = rank_of(rank);
      const bool same_node = table_.node_of(from) == table_.node_of(to);
      for (const bool below : {true, false}) {
        if (!below && !ring_) continue;
        if (same_node) {
          for (const Published& p : published_[static_cast<std::size_t>(other)]) {
            std::int64_t gain = below ? low - p.low : p.low + p.len - end;
            if (ring_) gain = modulo(gain - 1, P_) + 1;
            if (cut_at_will() ? gain > p.len : gain != p.len || gain > most) continue;
            offers_.push_back(
                {table_.end_of_reading(to, p.there), from, p.low, p.len, std::min(gain, most), below, p.there, true});
          }
        }
        runs_of(other, below ? low : end, below, most, [&](std::int64_t len, Time since) {
          const Time there = same_node ? table_.end_of_reading(to, table_.end_of_publication(from, since))
                                       : table_.end_of_send(from, to, since);
          offers_.push_back({there, from, below ? low - len : end, len, len, below, since, false});
        });
      }
    }
  }

  /// Calls report(length, since when it has them) for all its neighbouring tiles from that border on, downwards or upwards.
  template <typename Report>
  void runs_of(std::int64_t other, std::int64_t border, bool below, std::int64_t most, Report report) {
    const std::vector<Tile>& has = window(other);
    const auto touches = [&](const Tile& tile) {
      const std::int64_t apart = (below ? tile.end : tile.low) - border;
      return ring_ ? modulo(apart, P_) == 0 : apart == 0;
    };
    auto tile = std::find_if(has.begin(), has.end(), touches);
    Time since{0};
    for (std::int64_t len = 0; tile != has.end();) {
      len += tile->end - tile->low;
      if (len > most) return;
      since = std::max(since, tile->since);
      report(len, since);
      if (below && tile == has.begin()) return;
      below ? --tile : ++tile;
    }
  }

  void take(std::int64_t rank, const Offer& offer) {
    const Rank to = rank_of(rank);
    const auto [part, second] = parts(offer.low, offer.len);
    Time end{0};
    if (table_.node_of(offer.from) != table_.node_of(to)) {
      end = table_.send(offer.from, to, part, offer.since, second);
    } else {
      Time there = offer.since;
      if (!offer.on_board) {
        there = table_.publish(offer.from, part, offer.since, second);
        published_[static_cast<std::size_t>(offer.from.index)].push_back({offer.low, offer.len, there});
      }
      end = table_.read(to, offer.from, part, there, second);
    }
    std::vector<Tile>& mine = window(rank);
    const std::int64_t step = cut_at_will() ? 1 : offer.gain;
    for (std::int64_t grown = 0; grown < offer.gain; grown += step) {
      if (offer.below) mine.insert(mine.begin(), {mine.front().low - step, mine.front().low, end});
      else mine.push_back({mine.back().end, mine.back().end + step, end});
    }
  }

  std::int64_t P_;
  const Problem& problem_;
  bool ring_;
  Time patience_;
  std::mt19937& random_;
  Timetable table_;
  std::vector<std::vector<Tile>> windows_;         ///< by rank, ascending
  std::vector<std::vector<Published>> published_;  ///< by rank
  std::vector<Offer> offers_;
};

}  // namespace

std::optional<Schedule> earliest_windows_by_ranks(const Cluster& cluster, const Problem& problem, Time bound,
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
