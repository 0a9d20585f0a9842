// SPDX-License-Identifier: MIT
// All-reduce and barrier on nodes of any size: windows grow piece by piece round the ring of nodes, those of a node as one
// (clusters.md, Theorem 39). What one of its ranks gets by a message the lanes of the node read; the others read the result.
#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/timetable.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostRingNodes = 2048, kMostRingRanks = 1 << 16;  ///< of a plan that is made so
constexpr std::int64_t kFewRingNodes = 128, kFewRingRanks = 1024;        ///< up to here all styles are played …
constexpr std::int64_t kSomeRingNodes = 512, kSomeRingRanks = 4096;      ///< … up to here some, beyond one

struct RingStyle {
  std::int64_t lanes = 1;      ///< the first ranks of a node, so many of them, send, and read every piece
  std::int64_t receivers = 0;  ///< the last ranks of a node, so many of them, receive; 0: the lanes do
  Time pace{0};                ///< the messages that a node gets begin so far apart
  std::size_t givers = 8;      ///< of the nodes that could give the next piece: the first and the last so many
};

/// About as fast as the lanes of a node can read what it gets, beside what else they do for it.
Time pace_of_lanes(const Cluster& cluster, std::int64_t lanes) {
  return Time{divide_up(((lanes - 1) * cluster.nodes.read + cluster.nodes.publish + 2 * cluster.base.o).ticks, lanes)};
}

std::vector<RingStyle> ring_styles(const Cluster& cluster) {
  const std::int64_t N = cluster.nodes.count(), P = cluster.base.P;
  if (N > kSomeRingNodes || P > kSomeRingRanks) return {{6, 0, pace_of_lanes(cluster, 6)}};
  const bool few = N <= kFewRingNodes && P <= kFewRingRanks;
  std::vector<RingStyle> all;
  for (const std::int64_t lanes : few ? std::vector<std::int64_t>{1, 4, 6, 16} : std::vector<std::int64_t>{4, 6}) {
    const Time pace = pace_of_lanes(cluster, lanes);
    for (const std::int64_t receivers : few ? std::vector<std::int64_t>{0, 2, 4} : std::vector<std::int64_t>{0, 2}) {
      for (const std::size_t givers : few ? std::vector<std::size_t>{8, 3} : std::vector<std::size_t>{8}) {
        all.push_back({lanes, receivers, pace, givers});
        if (cluster.nodes.read < pace) all.push_back({lanes, receivers, cluster.nodes.read, givers});
      }
    }
  }
  return all;
}

class RingByNodes {
 public:
  RingByNodes(const Cluster& cluster, const Problem& problem, const RingStyle& style)
      : problem_(problem), style_(style), lambda_(cluster.base.lambda()), P_(cluster.base.P),
        table_(cluster, problem, 0), nodes_(table_.nodes()), N_(nodes_.count()), cut_at_(static_cast<std::size_t>(N_)) {
    first_.push_back(0);
    for (const Nodes::Run& run : nodes_.runs) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        windows_.emplace_back(static_cast<std::int64_t>(windows_.size()), run.size, std::min(run.size, style.lanes));
        first_.push_back(first_.back() + run.size);
      }
    }
  }

  /// Nothing if it does not end before `before` or is too long to list.
  std::optional<Schedule> play(Time bound, Time before) {
    std::map<std::int64_t, BoardFold> folds;
    for (Window& window : windows_) fold(window, folds.try_emplace(window.size, nodes_, window.size).first->second);
    for (std::size_t node = 0; node < windows_.size(); ++node)
      next_.push({Time{0}, kTurn, -windows_[node].size, node, 0, 0});
    std::int64_t events = 3 * P_;
    while (!next_.empty()) {
      const Next now = next_.top();
      next_.pop();
      Window& mine = windows_[now.node];
      if (now.order == kReading) {
        read_when_free(mine, now);
        continue;
      }
      const Offer offer = best_offer(now.node, now.begin);
      if (offer.begin > now.begin) {
        next_.push({offer.begin, kTurn, now.size, now.node, 0, 0});
        continue;
      }
      events += 2 + mine.lanes;
      if (offer.begin + lambda_ >= before || !listable(events)) return std::nullopt;
      take(mine, offer);
      if (mine.low() > limit(mine)) next_.push({now.begin + style_.pace, kTurn, now.size, now.node, 0, 0});
    }
    for (const Window& window : windows_) hand_out(window);
    Schedule found = std::move(table_).schedule(bound);
    if (found.finish >= before) return std::nullopt;
    return found;
  }

 private:
  /// One of them on the board.
  struct Piece {
    Rank at;
    Time there;  ///< kMaxTime: it is not
  };
  /// Of a node: the contributions of the nodes from low() on up to itself. Nodes below 0 are counted from the last one down.
  struct Window {
    Window(std::int64_t which, std::int64_t ranks, std::int64_t lane_count)
        : node(which), size(ranks), lanes(lane_count), cuts{which}, since(static_cast<std::size_t>(lane_count)) {}
    std::int64_t low() const { return cuts.back(); }

    std::int64_t node, size, lanes;
    std::vector<std::int64_t> cuts;        ///< piece i: nodes cuts[i] .. cuts[i-1]-1; the first one: the node itself
    std::vector<std::vector<Time>> since;  ///< by lane and piece: since when the lane has it
    std::vector<Piece> pieces;             ///< but the first
    std::vector<Time> received;            ///< by receiver: its last message
  };
  /// What happens next: a node gets a message, or a lane reads a piece. At one time messages go first, to the larger nodes before the smaller.
  static constexpr int kTurn = 0, kReading = 1;
  struct Next {
    Time begin;
    int order;
    std::int64_t size;  ///< negative
    std::size_t node;
    std::int64_t lane;
    std::size_t piece;
    friend bool operator>(const Next& a, const Next& b) {
      return std::tie(a.begin, a.order, a.piece, a.size, a.node, a.lane) >
             std::tie(b.begin, b.order, b.piece, b.size, b.node, b.lane);
    }
  };
  struct Request {
    Rank to;
    std::int64_t upper;  ///< what is wanted ends there …
    std::int64_t limit;  ///< … and begins here or above
    Time since;
  };
  struct Offer {
    Time begin;
    std::int64_t low;
    Rank from, to;
  };

  std::int64_t limit(const Window& window) const { return window.node - N_ + 1; }
  bool exact() const { return problem_.kind != Kind::barrier; }
  Rank rank(const Window& window, std::int64_t place) const {
    return {static_cast<std::int32_t>(first_[static_cast<std::size_t>(window.node)] + place)};
  }
  std::int64_t receivers(const Window& window) const {
    return style_.receivers == 0 ? window.lanes : std::min(window.size, style_.receivers);
  }
  Rank receiver(const Window& window, std::int64_t i) const {
    return rank(window, style_.receivers == 0 ? i : window.size - 1 - i);
  }

  /// Of the nodes low .. end-1.
  std::pair<Part, Part> parts(std::int64_t low, std::int64_t end) const {
    const std::int64_t from = modulo(low, N_), to = from + end - low;
    const auto at = [&](std::int64_t node) {
      return static_cast<std::int32_t>(first_[static_cast<std::size_t>(node)]);
    };
    const auto all = static_cast<std::int32_t>(P_), lo = at(from);
    if (to <= N_) return {{lo, at(to) - lo}, {}};
    if (problem_.commutative) return {{lo, all - lo + at(to - N_)}, {}};
    return {{lo, all - lo}, {0, at(to - N_)}};
  }

  /// The first rank folds what its node has; the other lanes read it from there.
  void fold(Window& window, const BoardFold& board) {
    window.received.assign(static_cast<std::size_t>(receivers(window)), Time{-kMaxTime});
    window.since[0].push_back(Time{window.size == 1 ? 0 : board.time()});
    if (window.size == 1) return;
    const std::int64_t first = rank(window, 0).index;
    std::vector<Publication> publications;
    std::vector<Reading> readings;
    for (std::int64_t place = 0; place < window.size; ++place)
      board.events(first, first, place, publications, readings);
    for (const Publication& p : publications) table_.publish(p.rank, p.part, p.begin, p.second);
    for (const Reading& r : readings) table_.read(r.rank, r.from, r.part, r.begin, r.second);
    if (window.lanes < 2) return;
    const Part own = parts(window.node, window.node + 1).first;
    const Time there = table_.publish(rank(window, 0), own, window.since[0][0]);
    for (std::int64_t lane = 1; lane < window.lanes; ++lane)
      window.since[static_cast<std::size_t>(lane)].push_back(
          table_.read(rank(window, lane), rank(window, 0), own, there));
  }

  void ask(const Window& giver, const Request& request) {
    const std::int64_t upper = giver.node - modulo(giver.node - request.upper, N_), shift = request.upper - upper;
    // The first piece that it can give.
    const auto cut = std::lower_bound(giver.cuts.begin(), giver.cuts.end(), upper, std::greater<>());
    if (cut == giver.cuts.end()) return;
    const auto piece = static_cast<std::size_t>(cut - giver.cuts.begin());
    if (exact() && *cut + shift < request.limit) return;
    for (std::int64_t lane = 0; lane < giver.lanes; ++lane) {
      const std::vector<Time>& has = giver.since[static_cast<std::size_t>(lane)];
      if (has[piece] == Time{kMaxTime}) continue;
      const Time since = std::max(has[piece], request.since);
      if (!offers_.empty() && since > earliest_) continue;
      const Rank from = rank(giver, lane);
      const Time begin = table_.end_of_send(from, request.to, since) - lambda_;
      earliest_ = offers_.empty() ? begin : std::min(earliest_, begin);
      Offer best{begin, request.upper + 1, from, request.to};
      for (std::size_t i = piece; i < has.size() && has[i] <= begin; ++i) {
        std::int64_t low = giver.cuts[i] + shift;
        if (low < request.limit) {
          if (exact()) break;
          low = request.limit;
        }
        best.low = low;
        if (low == request.limit) break;
      }
      offers_.push_back(best);
    }
  }

  /// From the node just below the window, or from one that has a piece that ends there (for a barrier: from one whose window goes on there): of what
  /// can begin first, the longest.
  Offer best_offer(std::size_t node, Time since) {
    const Window& mine = windows_[node];
    const auto longest_ago = std::min_element(mine.received.begin(), mine.received.end()) - mine.received.begin();
    const Request request{receiver(mine, longest_ago), mine.low() - 1, limit(mine), since};
    offers_.clear();
    const auto below = static_cast<std::size_t>(modulo(request.upper, N_));
    ask(windows_[below], request);
    const std::vector<std::size_t>& others = cut_at_[below];
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (i < style_.givers || i + style_.givers >= others.size()) ask(windows_[others[i]], request);
    }
    for (std::size_t i = 1; !exact() && i <= style_.givers; ++i) {
      const std::size_t above = (below + i) % windows_.size();
      if (above == node) break;
      ask(windows_[above], request);
    }
    Offer best = offers_.front();
    for (const Offer& offer : offers_) {
      if (offer.begin > earliest_) continue;
      if (best.begin > earliest_ || std::pair(offer.low, offer.begin) < std::pair(best.low, best.begin)) best = offer;
    }
    return best;
  }

  void take(Window& mine, const Offer& offer) {
    const auto [part, second] = parts(offer.low, mine.low());
    const Time end = table_.send(offer.from, offer.to, part, offer.begin, second);
    if (exact())
      cut_at_[static_cast<std::size_t>(modulo(mine.low() - 1, N_))].push_back(static_cast<std::size_t>(mine.node));
    mine.cuts.push_back(offer.low);
    const std::int64_t place = offer.to.index - rank(mine, 0).index;
    const std::int64_t i = style_.receivers == 0 ? place : mine.size - 1 - place;
    mine.received[static_cast<std::size_t>(i)] = end;
    mine.pieces.push_back({offer.to, Time{kMaxTime}});
    if (mine.lanes > 1 || place > 0) mine.pieces.back().there = table_.publish(offer.to, part, end, second);
    for (std::int64_t lane = 0; lane < mine.lanes; ++lane) {
      auto& has = mine.since[static_cast<std::size_t>(lane)];
      has.push_back(lane == place ? end : Time{kMaxTime});
      if (lane != place)
        next_.push({mine.pieces.back().there, kReading, -mine.size, static_cast<std::size_t>(mine.node), lane,
                    mine.pieces.size()});
    }
  }

  /// Booked when it begins, so that a lane sends rather than reads.
  void read_when_free(Window& mine, Next now) {
    const Rank reader = rank(mine, now.lane);
    const Time free = table_.end_of_reading(reader, now.begin) - nodes_.read;
    if (free > now.begin) {
      now.begin = free;
      next_.push(now);
      return;
    }
    const auto [part, second] = parts(mine.cuts[now.piece], mine.cuts[now.piece - 1]);
    mine.since[static_cast<std::size_t>(now.lane)][now.piece] =
        table_.read(reader, mine.pieces[now.piece - 1].at, part, now.begin, second);
  }

  /// When a lane has all pieces but the last `left`.
  static Time has_but(const Window& window, std::int64_t lane, std::size_t left) {
    const auto& has = window.since[static_cast<std::size_t>(lane)];
    return *std::max_element(has.begin(), has.end() - static_cast<std::ptrdiff_t>(left));
  }

  /// Who is no lane reads the fold of most pieces and then the last ones.
  void hand_out(const Window& window) {
    if (window.lanes == window.size) return;
    std::size_t best_left = 0;
    std::int64_t best_lane = 0;
    Time earliest{kMaxTime};
    for (std::size_t left = 0; left <= std::min<std::size_t>(window.pieces.size(), 6); ++left) {
      if (left > 0 && window.pieces[window.pieces.size() - left].there == Time{kMaxTime}) break;
      for (std::int64_t lane = 0; lane < window.lanes; ++lane) {
        Time end = table_.end_of_publication(rank(window, lane), has_but(window, lane, left)) + nodes_.read;
        for (std::size_t i = window.pieces.size() - left; i < window.pieces.size(); ++i)
          end = std::max(end, window.pieces[i].there) + nodes_.read;
        if (end < earliest) earliest = end, best_left = left, best_lane = lane;
      }
    }
    const std::size_t last = window.cuts.size() - 1;
    const auto [part, second] = parts(window.cuts[last - best_left], window.node + 1);
    const Rank from = rank(window, best_lane);
    const Time there = table_.publish(from, part, has_but(window, best_lane, best_left), second);
    for (std::int64_t place = window.lanes; place < window.size; ++place) {
      table_.read(rank(window, place), from, part, there, second);
      for (std::size_t i = last - best_left; i < last; ++i) {
        const auto [piece, around] = parts(window.cuts[i + 1], window.cuts[i]);
        if (window.pieces[i].at != rank(window, place))
          table_.read(rank(window, place), window.pieces[i].at, piece, window.pieces[i].there, around);
      }
    }
  }

  const Problem& problem_;
  RingStyle style_;
  Time lambda_;
  std::int64_t P_;
  Timetable table_;
  const Nodes& nodes_;
  std::int64_t N_;
  std::vector<std::int64_t> first_;               ///< rank, by node
  std::vector<Window> windows_;                   ///< by node
  std::vector<std::vector<std::size_t>> cut_at_;  ///< by node: the nodes whose windows have a piece that ends there
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;
  std::vector<Offer> offers_;
  Time earliest_{0};  ///< of them
};

}  // namespace

std::optional<Schedule> earliest_ring_by_nodes(const Cluster& cluster, const Problem& problem, Time bound,
                                               Time before) {
  const std::int64_t N = cluster.nodes.count();
  if (N == 1 || N > kMostRingNodes || cluster.base.P > kMostRingRanks) return std::nullopt;
  return earliest_of(ring_styles(cluster), bound, before, [&](const RingStyle& style, Time limit) {
    return RingByNodes(cluster, problem, style).play(bound, limit);
  });
}

}  // namespace chasqui::plan
