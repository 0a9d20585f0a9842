// SPDX-License-Identifier: MIT
// Scan on nodes of any size: windows grow piece by piece, the ranks of a node as one (clusters.md, Theorem 37). What one of them gets by a
// message all others read, so a node has one window, and a large node has many lanes to tell others of it.
#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/scan/board_rounds.hpp"
#include "plan/clusters/timetable.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kFewScanRanks = 512;    ///< up to here all styles are played …
constexpr std::int64_t kSomeScanRanks = 4096;  ///< … up to here some, beyond one
constexpr std::size_t kMostAsked = 3;  ///< of the nodes that could give the next piece: the first and the last so many

struct NodeScanStyle {
  std::int64_t lanes = 1;  ///< the last ranks of a node, so many of them, send and receive
  bool in_order = true;    ///< the messages that a node gets begin one after another, `read` apart
  Time patience{0};        ///< a longer piece may begin so much later
  bool early = false;      ///< a rank may send on before it has all of its node
};

std::vector<NodeScanStyle> styles(const Cluster& cluster) {
  const Time none{0}, read = cluster.nodes.read;
  if (cluster.base.P > kSomeScanRanks) return {{4, true, none, false}};
  std::vector<NodeScanStyle> all;
  const bool few = cluster.base.P <= kFewScanRanks;
  for (const std::int64_t lanes :
       few ? std::vector<std::int64_t>{1, 2, 3, 4, 6, 8} : std::vector<std::int64_t>{1, 4, 8}) {
    for (const bool early : {false, true}) {
      all.push_back({lanes, true, none, early});
      if (few)
        all.insert(all.end(), {{lanes, false, none, early}, {lanes, true, read, early}, {lanes, false, read, early}});
    }
  }
  return all;
}

class ScanByNodes {
 public:
  ScanByNodes(const Cluster& cluster, const Problem& problem, const NodeScanStyle& style)
      : nodes_(cluster.nodes), lambda_(cluster.base.lambda()), style_(style),
        table_(cluster, problem, 35 * cluster.base.P), asked_at_(static_cast<std::size_t>(cluster.base.P)) {
    std::int64_t first = 0;
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      const std::int64_t size = nodes_.size(node);
      windows_.emplace_back(first, size, std::min(size, style.lanes));
      first += size;
    }
  }

  /// Nothing if it does not end before `before` or is too long to list.
  std::optional<Schedule> play(Time bound, Time before) {
    const std::int64_t factor = best_board_factor(nodes_);
    for (Window& window : windows_) {
      fold(window, factor);
      share_whole(window);
    }
    // When the next message begins; the larger node first; its number.
    using Turn = std::tuple<Time, std::int64_t, std::size_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (std::size_t node = 1; node < windows_.size(); ++node) turns.emplace(Time{0}, -windows_[node].size(), node);
    std::int64_t events = 0;
    while (!turns.empty()) {
      const auto [begin, order, node] = turns.top();
      turns.pop();
      const Offer offer = best_offer(node, style_.in_order ? begin : Time{0});
      if (offer.begin > begin) {
        turns.emplace(offer.begin, order, node);
        continue;
      }
      events += 2 + windows_[node].size();
      if (offer.begin + lambda_ >= before || !listable(events)) return std::nullopt;
      take(node, offer);
      if (windows_[node].low() > 0) turns.emplace(style_.in_order ? begin + nodes_.read : begin, order, node);
    }
    Schedule found = std::move(table_).schedule(bound);
    if (found.finish >= before) return std::nullopt;
    return found;
  }

 private:
  struct Known {
    std::int64_t low;
    Time since;
  };
  /// Of a node: the contributions of the ranks from low() on, up to its own.
  struct Window {
    Window(std::int64_t first_rank, std::int64_t size, std::int64_t lane_count)
        : first(first_rank), end(first_rank + size), lanes(lane_count), cuts{first_rank},
          read(static_cast<std::size_t>(size), std::vector<Time>{Time{0}}), inside(read.size()),
          whole(read.size(), Time{kMaxTime}), received(read.size(), Time{-kMaxTime}) {
      for (std::int64_t rank = first; rank < end; ++rank) inside[place(rank)].push_back({rank, Time{0}});
    }
    std::int64_t size() const { return end - first; }
    std::int64_t low() const { return cuts.back(); }
    std::size_t place(std::int64_t rank) const { return static_cast<std::size_t>(rank - first); }
    /// The piece below this rank, or their number where none ends there.
    std::size_t piece_below(std::int64_t rank) const {
      const auto cut = std::lower_bound(cuts.begin(), cuts.end(), rank, std::greater<>());
      return cut == cuts.end() || *cut != rank ? cuts.size() : static_cast<std::size_t>(cut - cuts.begin()) + 1;
    }

    std::int64_t first, end, lanes;
    std::vector<std::int64_t> cuts;          ///< piece i: ranks cuts[i] .. cuts[i-1]-1
    std::vector<std::vector<Time>> read;     ///< by rank and piece: since when the rank has it
    std::vector<std::vector<Known>> inside;  ///< by rank: of its node from a rank on up to itself, ever more
    std::vector<Time> whole;                 ///< by rank: since when it has all of the node
    std::vector<Time> received;              ///< by rank: its last message
  };
  /// Somebody wants what ends at rank `upper`, by a message that begins then or later.
  struct Request {
    Rank to;
    std::int64_t upper;
    Time since;
  };
  struct Offer {
    Time begin;
    std::int64_t low;
    Rank from, to;
  };

  static Rank rank_of(std::int64_t index) { return {static_cast<std::int32_t>(index)}; }
  static Part interval_of(std::int64_t low, std::int64_t end) {
    return {static_cast<std::int32_t>(low), static_cast<std::int32_t>(end - low)};
  }
  std::size_t node_of(std::int64_t rank) const { return static_cast<std::size_t>(table_.node_of(rank_of(rank))); }

  /// On the board, in rounds (clusters.md, Theorem 19).
  void fold(Window& window, std::int64_t factor) {
    const std::int64_t size = window.size();
    const auto interval = [&](std::int64_t place, std::int64_t width) {
      return interval_of(window.first + std::max<std::int64_t>(0, place - width + 1), window.first + place + 1);
    };
    for (std::int64_t width = 1; width < size; width = saturating_multiply(width, factor)) {
      std::vector<Time> published;
      for (std::int64_t i = 0; i + width < size; ++i)
        published.push_back(table_.publish(rank_of(window.first + i), interval(i, width),
                                           window.inside[static_cast<std::size_t>(i)].back().since));
      for (std::int64_t i = size; i-- > 0;) {
        std::vector<Known>& has = window.inside[static_cast<std::size_t>(i)];
        for (std::int64_t j = 1; j < factor && i >= j * width; ++j) {
          const std::int64_t from = i - j * width;
          const Part part = interval(from, width);
          const Time end = table_.read(rank_of(window.first + i), rank_of(window.first + from), part,
                                       published[static_cast<std::size_t>(from)]);
          has.push_back({part.lo, std::max(end, has.back().since)});
        }
      }
    }
    window.whole.back() = window.inside.back().back().since;
  }

  /// The last rank has all of its node; the other lanes read it from there.
  void share_whole(Window& window) {
    if (window.lanes < 2 || window.end == nodes_.ranks()) return;
    const Rank last = rank_of(window.end - 1);
    const Part all = interval_of(window.first, window.end);
    const Time there = table_.publish(last, all, window.whole.back());
    for (std::int64_t rank = window.end - window.lanes; rank < window.end - 1; ++rank)
      window.whole[window.place(rank)] = table_.read(rank_of(rank), last, all, there);
  }

  /// Since when a rank can send something that ends at rank `upper`; kMaxTime: never, as far as is planned.
  Time can_send(const Window& window, std::int64_t rank, std::int64_t upper) const {
    if (upper == rank && style_.early) return Time{0};
    if (upper == window.end - 1) return window.whole[window.place(rank)];
    if (upper == rank) return window.inside[window.place(rank)].back().since;
    const std::size_t piece = window.piece_below(upper + 1);
    return piece < window.cuts.size() ? window.read[window.place(rank)][piece] : Time{kMaxTime};
  }

  /// How far down it then reaches at `time`.
  static std::int64_t reaches(const Window& window, std::int64_t rank, std::int64_t upper, Time time) {
    std::size_t next = 1;
    if (upper == rank) {
      std::int64_t low = rank;
      for (const Known& known : window.inside[window.place(rank)]) {
        if (known.since > time) break;
        low = known.low;
      }
      if (low > window.first) return low;
    } else if (upper != window.end - 1) {
      next = window.piece_below(upper + 1);
    }
    const std::vector<Time>& read = window.read[window.place(rank)];
    while (next < read.size() && read[next] <= time) ++next;
    return window.cuts[next - 1];
  }

  void ask(const Window& window, std::int64_t rank, const Request& request) {
    const Time able = can_send(window, rank, request.upper), since = std::max(able, request.since);
    if (able == Time{kMaxTime} || (!offers_.empty() && since > earliest_ + style_.patience)) return;
    const Time begin = table_.end_of_send(rank_of(rank), request.to, since) - lambda_;
    earliest_ = offers_.empty() ? begin : std::min(earliest_, begin);
    offers_.push_back({begin, reaches(window, rank, request.upper, begin), rank_of(rank), request.to});
  }
  void ask_lanes(const Window& window, const Request& request) {
    for (std::int64_t rank = window.end; rank-- > window.end - window.lanes;) ask(window, rank, request);
  }

  /// From the node just below the window, or from one that has a piece that ends there: of what can begin first, or not much later, the longest.
  Offer best_offer(std::size_t node, Time since) {
    const Window& mine = windows_[node];
    Request request{rank_of(mine.end - 1), mine.low() - 1, since};
    for (std::int64_t rank = mine.end - mine.lanes; rank < mine.end; ++rank) {
      if (mine.received[mine.place(rank)] < mine.received[mine.place(request.to.index)]) request.to = rank_of(rank);
    }
    offers_.clear();
    const Window& below = windows_[node_of(request.upper)];
    if (request.upper == below.end - 1) ask_lanes(below, request);
    else ask(below, request.upper, request);
    const std::vector<std::size_t>& others = asked_at_[static_cast<std::size_t>(request.upper)];
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (i < kMostAsked || i + kMostAsked >= others.size()) ask_lanes(windows_[others[i]], request);
    }
    Offer best = offers_.front();
    for (const Offer& offer : offers_) {
      if (offer.begin > earliest_ + style_.patience) continue;
      const bool late = best.begin > earliest_ + style_.patience;
      if (late || std::pair(offer.low, offer.begin) < std::pair(best.low, best.begin)) best = offer;
    }
    return best;
  }

  void take(std::size_t node, const Offer& offer) {
    Window& mine = windows_[node];
    const Part part = interval_of(offer.low, mine.low());
    const Time end = table_.send(offer.from, offer.to, part, offer.begin);
    asked_at_[static_cast<std::size_t>(mine.low() - 1)].push_back(node);
    mine.cuts.push_back(offer.low);
    mine.received[mine.place(offer.to.index)] = end;
    mine.read[mine.place(offer.to.index)].push_back(end);
    if (mine.size() == 1) return;
    const Time there = table_.publish(offer.to, part, end);
    for (std::int64_t rank = mine.end; rank-- > mine.first;) {
      if (rank == offer.to.index) continue;
      mine.read[mine.place(rank)].push_back(table_.read(rank_of(rank), offer.to, part, there));
    }
  }

  const Nodes& nodes_;
  Time lambda_;
  NodeScanStyle style_;
  Timetable table_;
  std::vector<Window> windows_;                     ///< by node
  std::vector<std::vector<std::size_t>> asked_at_;  ///< by rank: the nodes whose windows have a piece that ends there
  std::vector<Offer> offers_;
  Time earliest_{0};  ///< of them
};

}  // namespace

std::optional<Schedule> earliest_scan_by_nodes(const Cluster& cluster, const Problem& problem, Time bound,
                                               Time before) {
  if (cluster.nodes.count() == 1) return std::nullopt;
  return earliest_of(styles(cluster), bound, before, [&](const NodeScanStyle& style, Time limit) {
    return ScanByNodes(cluster, problem, style).play(bound, limit);
  });
}

}  // namespace chasqui::plan
