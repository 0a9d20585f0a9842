// SPDX-License-Identifier: MIT
#include "plan/clusters/windows/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

/// One way to do it. What is early or straight needs nodes of one size.
struct Style {
  std::vector<std::int64_t> radices;
  std::int64_t lanes = 1;         ///< at most so many ranks of a node receive pieces of one round
  std::int64_t group = 1;         ///< so many neighbouring lanes fold what they got before all others read it
  std::size_t straight_from = 0;  ///< from this round on every rank gets every piece by a message of its own
  /// In the first round every rank sends its own contribution, while the board hands out those of the node.
  enum class First { board, early_published, early_straight } first = First::board;
  bool publish_first = false;  ///< early: the board comes before the messages
};

std::string words(const Style& style, std::int64_t n) {
  std::string text = fmt::format("windows of nodes, radices {}", fmt::join(style.radices, " x "));
  if (style.first != Style::First::board) text += ", the first while the board is read";
  if (style.group > 1) text += fmt::format(", {} lanes fold as one", style.group);
  const bool straight = style.straight_from < style.radices.size() || style.first == Style::First::early_straight;
  if (n > 1 && straight) text += ", messages to every rank";
  return text;
}

/// What one node does, event after event (clusters.md, Lemma 15): a message that it sends it receives too, from its neighbour.
class Player {
 public:
  Player(const Cluster& cluster, const Cluster& one, Time limit)
      : nodes_(cluster.nodes), N_(nodes_.count()), n_(nodes_.largest()), lambda_(cluster.base.lambda()), limit_(limit),
        table_(one, {.kind = Kind::barrier}, 0), has_(static_cast<std::size_t>(n_), Time{0}) {}

  /// Nothing if it does not end before the limit. `own`: when all ranks, and the first one, have their node's contributions.
  std::optional<Exchange> play(const Style& style, const Exchange& own, Time all, Time first) {
    x_ = own;
    const auto rounds = node_windows(N_, style.radices);
    std::size_t q = 0;
    if (style.first == Style::First::board) {
      std::fill(has_.begin(), has_.end(), all);
      has_.front() = first;
    } else {
      early(style, rounds.front());
      q = 1;
    }
    for (; q < rounds.size(); ++q) {
      if (latest() + lambda_ >= limit_) return std::nullopt;
      q >= style.straight_from ? straight(rounds[q]) : published(rounds[q], style.lanes, style.group);
    }
    x_.finish = latest();
    if (x_.finish >= limit_) return std::nullopt;
    x_.how = words(style, n_);
    return std::move(x_);
  }

 private:
  static Rank rank(std::int64_t place) { return {static_cast<std::int32_t>(place)}; }
  Time& has(std::int64_t place) { return has_[static_cast<std::size_t>(place)]; }
  Time latest() const { return *std::max_element(has_.begin(), has_.end()); }
  void reach(std::int64_t place, Time end) { has(place) = std::max(has(place), end); }

  Time send(std::int64_t from, std::int64_t to, std::int64_t sender, const WindowCargo& cargo, Time earliest) {
    const Time end = table_.send(rank(from), rank(to), {}, earliest);
    x_.messages.push_back({from, to, sender, end - lambda_, cargo});
    return end;
  }

  /// Who publishes has it.
  void publish(std::int64_t place, const WindowCargo& cargo, Time earliest) {
    const Time end = table_.publish(rank(place), {}, earliest);
    x_.publications.push_back({place, end - nodes_.publish, cargo});
  }
  /// Everybody else reads what was published since then.
  void read_from(std::size_t first_publication) {
    std::vector<std::size_t> order;
    for (std::size_t i = first_publication; i < x_.publications.size(); ++i) order.push_back(i);
    const auto by_time = [&](std::size_t a, std::size_t b) {
      return x_.publications[a].begin < x_.publications[b].begin;
    };
    std::stable_sort(order.begin(), order.end(), by_time);
    for (const std::size_t i : order) {
      for (std::int64_t reader = 0; reader < n_; ++reader) {
        if (reader != x_.publications[i].place) read(reader, i);
      }
    }
  }
  void read(std::int64_t reader, std::size_t publication) {
    const WindowPublication& p = x_.publications[publication];
    const Time end = table_.read(rank(reader), rank(p.place), {}, p.begin + nodes_.publish);
    x_.readings.push_back({reader, end - nodes_.read, publication});
    reach(reader, end);
  }

  /// Every rank's own contribution goes to the nodes of the first round.
  void early(const Style& style, const std::vector<WindowPiece>& pieces) {
    x_.own = OwnBoard::listed;
    const auto own_board = [&] {
      const std::size_t first = x_.publications.size();
      for (std::int64_t place = 0; n_ > 1 && place < n_; ++place) publish(place, {0, 1, place}, Time{0});
      read_from(first);
    };
    if (style.publish_first) own_board();
    std::vector<WindowMessage> arrived;
    const bool straight = style.first == Style::First::early_straight;
    for (const WindowPiece& piece : pieces) {
      for (std::int64_t shift = 0; shift < (straight ? n_ : 1); ++shift) {
        for (std::int64_t from = 0; from < n_; ++from) {
          const std::int64_t to = (from + shift) % n_;
          reach(to, send(from, to, piece.sender, {piece.window, 1, from}, Time{0}));
          arrived.push_back(x_.messages.back());
        }
      }
    }
    if (!style.publish_first) own_board();
    if (straight) return;
    const std::size_t first = x_.publications.size();
    for (const WindowMessage& m : arrived) {
      if (n_ > 1) publish(m.to, m.cargo, m.begin + lambda_);
    }
    read_from(first);
  }

  void straight(const std::vector<WindowPiece>& pieces) {
    const std::vector<Time> before = has_;
    for (const WindowPiece& piece : pieces) {
      for (std::int64_t place = 0; place < n_; ++place)
        reach(place,
              send(place, place, piece.sender, {piece.window, piece.count}, before[static_cast<std::size_t>(place)]));
    }
  }

  /// A lane takes neighbouring pieces and publishes them as one; so does the first of a group of lanes, for all of it.
  void published(const std::vector<WindowPiece>& pieces, std::int64_t most_lanes, std::int64_t group) {
    const auto k = static_cast<std::int64_t>(pieces.size());
    const std::int64_t each = divide_up(k, std::min({k, most_lanes, nodes_.smallest()}));
    const std::vector<Time> before = has_;
    std::vector<WindowPublication> got;  // begin: when it is there
    // The first piece of every lane, then the second of every lane: whoever may send goes first.
    const std::int64_t lanes = divide_up(k, each);
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      got.push_back({lane, Time{0}, {pieces[static_cast<std::size_t>(lane * each)].window, 0}});
    for (std::int64_t turn = 0; turn < each; ++turn) {
      for (std::int64_t lane = 0; lane < lanes && lane * each + turn < k; ++lane) {
        const WindowPiece& piece = pieces[static_cast<std::size_t>(lane * each + turn)];
        WindowPublication& whole = got[static_cast<std::size_t>(lane)];
        whole.begin = std::max(whole.begin, send(lane, lane, piece.sender, {piece.window, piece.count},
                                                 before[static_cast<std::size_t>(lane)]));
        whole.cargo.count += piece.count;
      }
    }
    for (const WindowPublication& whole : got) reach(whole.place, whole.begin);
    if (n_ == 1) return;
    const std::vector<WindowPublication> heads = fold_groups(got, group);
    const std::size_t first = x_.publications.size();
    for (const WindowPublication& head : heads) publish(head.place, head.cargo, head.begin);
    read_from(first);
  }

  /// The first lane of each group reads what the others have: what it then has, and since when.
  std::vector<WindowPublication> fold_groups(const std::vector<WindowPublication>& got, std::int64_t group) {
    std::vector<WindowPublication> heads;
    const auto lanes = static_cast<std::int64_t>(got.size());
    for (std::int64_t lane = 0; lane < lanes; lane += group) {
      heads.push_back(got[static_cast<std::size_t>(lane)]);
      const std::size_t first = x_.publications.size();
      for (std::int64_t other = lane + 1; other < std::min(lane + group, lanes); ++other) {
        const WindowPublication& theirs = got[static_cast<std::size_t>(other)];
        publish(other, theirs.cargo, theirs.begin);
        heads.back().cargo.count += theirs.cargo.count;
      }
      for (std::size_t i = first; i < x_.publications.size(); ++i) read(lane, i);
      heads.back().begin = has(lane);
    }
    return heads;
  }

  const Nodes& nodes_;
  std::int64_t N_, n_;
  Time lambda_, limit_;
  Timetable table_;
  std::vector<Time> has_;  ///< by place: since when it has all there is
  Exchange x_;
};

class Chooser {
 public:
  explicit Chooser(const Cluster& cluster)
      : cluster_(cluster), nodes_(cluster.nodes), one_(cluster), N_(nodes_.count()), n_(nodes_.largest()) {
    one_.nodes.runs.clear();
    one_.nodes.add(n_);
    one_.base.P = n_;
    own_board();
    best_.finish = Time{kMaxTime};
  }

  Exchange best() && {
    if (N_ == 1) {
      own_.finish = std::max(all_, first_);
      own_.how = "one node: the board alone";
      return std::move(own_);
    }
    // Without groups first: what is then known keeps most others from being played.
    for (group_ = 1; group_ <= std::min(kMostGroup, n_ / 2 + 1); ++group_) {
      for (std::int64_t rounds = 1; rounds < 63; ++rounds) {
        const std::vector<std::int64_t> radices = equal_radices(N_, rounds);
        if (radices.front() - 1 <= most_pieces()) with_radices(radices, Style::First::board);
        if (radices.front() == 2) break;
      }
      if (nodes_.uniform() && n_ <= kMostEarly) early();
    }
    CHASQUI_CHECK(best_.finish < Time{kMaxTime}, "N={} n={}: no radices", N_, n_);
    return std::move(best_);
  }

 private:
  /// Everybody reads the contributions of all others one by one where a round is early: that pays on small nodes only.
  static constexpr std::int64_t kMostEarly = 16;
  static constexpr std::int64_t kMostGroup = 4;        ///< larger ones were never faster
  static constexpr std::int64_t kMostMessages = 4096;  ///< of a node in one round, where every rank gets its own

  void own_board() {
    if (n_ == 1) return;
    const Time publish = nodes_.publish, read = nodes_.read, folded{BoardFold(nodes_, n_).time()};
    const Time flat = publish + Time{saturating_multiply(n_ - 1, read.ticks)};
    own_.own = flat <= folded + publish + read ? OwnBoard::everybody : OwnBoard::first;
    own_.folded = folded;
    const bool everybody = own_.own == OwnBoard::everybody;
    all_ = everybody ? flat : folded + publish + read;
    first_ = everybody ? flat : folded + publish;
  }

  /// As many as the lanes can send before the first arrives, and some more where there are few nodes.
  std::int64_t most_pieces() const {
    const std::int64_t least = nodes_.smallest();
    const std::int64_t each =
        cluster_.base.L.ticks / std::max(cluster_.base.gap().ticks, least * nodes_.gamma.ticks) + 1;
    return std::max<std::int64_t>(8, saturating_multiply(least, each));
  }

  void early() {
    for (std::int64_t first = 2; first <= std::min<std::int64_t>(N_, 4); ++first) {
      const std::int64_t left = divide_up(N_, first);
      for (std::int64_t rounds = left == 1 ? 0 : 1; rounds < 63; ++rounds) {
        std::vector<std::int64_t> radices{first};
        if (rounds > 0) {
          const std::vector<std::int64_t> others = equal_radices(left, rounds);
          radices.insert(radices.end(), others.begin(), others.end());
        }
        if (rounds == 0 || *std::max_element(radices.begin() + 1, radices.end()) - 1 <= most_pieces()) {
          with_radices(radices, Style::First::early_published);
          with_radices(radices, Style::First::early_straight);
        }
        if (rounds == 0 || radices[1] == 2) break;
      }
    }
  }

  /// A style takes about so long, rather less: not worth playing if something better is known.
  Time estimate(const Style& style) const {
    const bool early = style.first != Style::First::board;
    const auto rounds = static_cast<std::int64_t>(style.radices.size()) - (early ? 1 : 0);
    const std::int64_t k = std::max<std::int64_t>(1, *std::min_element(style.radices.begin(), style.radices.end()) - 2);
    const std::int64_t each = divide_up(k, std::min(k, style.lanes)), lanes = divide_up(k, each);
    const Time gap = cluster_.base.gap(), lambda = cluster_.base.lambda();
    Time round = lambda;
    if (style.straight_from == 0) {
      round += (k - 1) * std::max(gap, n_ * nodes_.gamma);
    } else if (style.straight_from == style.radices.size()) {
      round += (each - 1) * std::max(gap, lanes * nodes_.gamma);
      if (n_ > 1) round += nodes_.publish + (divide_up(lanes, style.group) - 1) * nodes_.read;
      if (style.group > 1) round += nodes_.publish + nodes_.read;
    }
    return (early ? lambda : std::min(all_, first_)) + rounds * round;
  }

  void with_radices(const std::vector<std::int64_t>& radices, Style::First first) {
    const bool early = first != Style::First::board;
    const std::int64_t pieces = *std::max_element(radices.begin(), radices.end()) - 1;
    std::set<std::size_t> straight{radices.size()};
    if (nodes_.uniform() && n_ > 1 && saturating_multiply(n_, pieces) <= kMostMessages)
      straight.insert({0, radices.size() - 1});
    const std::int64_t most_lanes = std::min(pieces, nodes_.smallest());
    for (const std::size_t from : straight) {
      for (std::int64_t lanes = 1;; lanes = std::min(2 * lanes, most_lanes)) {
        for (const bool publish_first : {false, true}) {
          if (publish_first && !early) continue;
          if (group_ == 1 || 2 * group_ <= lanes) consider({radices, lanes, group_, from, first, publish_first});
        }
        if (lanes == most_lanes || from == 0) break;
      }
    }
  }

  void consider(const Style& style) {
    if (estimate(style) >= best_.finish) return;
    Player player(cluster_, one_, best_.finish);
    if (auto found = player.play(style, own_, all_, first_)) best_ = std::move(*found);
  }

  const Cluster& cluster_;
  const Nodes& nodes_;
  Cluster one_;  ///< one node of the largest size
  std::int64_t N_, n_, group_ = 1;
  Exchange own_, best_;
  Time all_{0}, first_{0};  ///< when all ranks, and the first one, have the contributions of their node
};

}  // namespace

Exchange best_exchange(const Cluster& cluster) { return Chooser(cluster).best(); }

}  // namespace chasqui::plan
