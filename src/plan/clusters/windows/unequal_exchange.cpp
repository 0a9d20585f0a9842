// SPDX-License-Identifier: MIT
// All-reduce and barrier on nodes of unequal size: small nodes tell a large one near them, windows of such groups grow, and the large nodes tell the
// small ones (clusters.md, Theorem 35).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/node_parts.hpp"
#include "plan/clusters/trees/folding_tree.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostGroupedRanks = 256;  ///< on the larger clusters that were tried leaders were as fast
constexpr std::int64_t kFewGroupedRanks = 64;    ///< up to here all styles are played
constexpr std::int64_t kMostOneByOne = 24;       ///< ranks that may all send to all
constexpr std::size_t kMostPlayed = 6;           ///< beyond, so many
constexpr std::int64_t kMostSendersLookedAt =
    4096;  ///< ranks of a group times its nodes: otherwise its head alone sends

/// Neighbouring nodes, one of which, the head, talks to other groups.
struct NodeGroup {
  std::int64_t first, end, head;
  std::vector<HandOver> fold;  ///< to the first rank of the head, ranks counted from that of the group
};

struct GroupStyle {
  std::size_t groups = 0;  ///< which division
  std::vector<std::int64_t> radices;
  std::int64_t lanes = 1;  ///< ranks of a head that send and receive
  bool all_read = false;   ///< all ranks of a head read every piece, not the result alone
  bool straight = false;   ///< … and in the last round each gets every piece by a message
};

std::vector<NodeGroup> groups_of(const Nodes& nodes, std::int64_t least) {
  std::vector<std::int64_t> heads;
  for (std::int64_t node = 0; node < nodes.count(); ++node) {
    if (nodes.size(node) >= least) heads.push_back(node);
  }
  std::vector<NodeGroup> groups;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::int64_t first = groups.empty() ? 0 : groups.back().end;
    const std::int64_t end = i + 1 == heads.size() ? nodes.count() : heads[i] + 1 + (heads[i + 1] - heads[i] - 1) / 2;
    groups.push_back({first, end, heads[i], {}});
  }
  return groups;
}

/// Every rank sends its own contribution to all ranks of other nodes, while boards hand out those of the node.
Schedule one_by_one(const Cluster& cluster, const Problem& problem, bool boards_first, Time bound) {
  Timetable table(cluster, problem, 0);
  const auto P = static_cast<std::int32_t>(cluster.base.P);
  const auto boards = [&] {
    std::vector<Time> published;
    for (std::int32_t i = 0; i < P; ++i) {
      const bool alone = cluster.nodes.size(table.node_of(Rank{i})) == 1;
      published.push_back(alone ? Time{0} : table.publish(Rank{i}, {i, 1}, Time{0}));
    }
    for (std::int32_t shift = 1; shift < P; ++shift) {
      for (std::int32_t i = 0; i < P; ++i) {
        const Rank from{i}, to{(i + shift) % P};
        if (table.node_of(from) == table.node_of(to))
          table.read(to, from, {i, 1}, published[static_cast<std::size_t>(i)]);
      }
    }
  };
  if (boards_first) boards();
  for (std::int32_t shift = 1; shift < P; ++shift) {
    for (std::int32_t i = 0; i < P; ++i) {
      const Rank from{i}, to{(i + shift) % P};
      if (table.node_of(from) != table.node_of(to)) table.send(from, to, {i, 1}, Time{0});
    }
  }
  if (!boards_first) boards();
  return std::move(table).schedule(bound);
}

class GroupedExchange {
 public:
  GroupedExchange(const Cluster& cluster, const Problem& problem, const std::vector<NodeGroup>& groups)
      : nodes_(cluster.nodes), where_(cluster.nodes), problem_(problem), groups_(groups),
        K_(static_cast<std::int64_t>(groups.size())), table_(cluster, problem, 0),
        has_(static_cast<std::size_t>(cluster.base.P), Time{0}) {}

  Schedule play(const GroupStyle& style, Time bound) {
    for (const NodeGroup& group : groups_) fold(group, style);
    if (K_ > 1) {
      const auto rounds = node_windows(K_, style.radices);
      for (std::size_t q = 0; q < rounds.size(); ++q)
        style.straight&& q + 1 == rounds.size() ? straight_round(rounds[q]) : round(rounds[q], style);
    }
    for (const NodeGroup& group : groups_) {
      if (!style.all_read) publish_result(group, style);
      tell_the_small(group);
    }
    return std::move(table_).schedule(bound);
  }

 private:
  Rank rank(std::int64_t node, std::int64_t place) const {
    return {static_cast<std::int32_t>(nodes_.first_rank(node) + place)};
  }
  Time& has(Rank rank) { return has_[static_cast<std::size_t>(rank.index)]; }
  void reach(Rank rank, Time end) { has(rank) = std::max(has(rank), end); }
  std::int64_t lanes(const NodeGroup& group, const GroupStyle& style) const {
    return std::min(style.lanes, nodes_.size(group.head));
  }
  /// Of a head, those that are to have every piece.
  std::int64_t readers(const NodeGroup& group, const GroupStyle& style) const {
    return style.all_read ? nodes_.size(group.head) : lanes(group, style);
  }
  const NodeGroup& group(std::int64_t i) const { return groups_[static_cast<std::size_t>(modulo(i, K_))]; }

  /// What `count` groups from a given one on contribute.
  std::pair<Part, Part> parts(std::int64_t first, std::int64_t count) const {
    const std::int64_t from = group(first).first, to = group(first + count - 1).end;
    const std::int64_t N = nodes_.count(), all = modulo(to - from, N);
    return node_parts(where_, problem_, from, all == 0 ? N : all);
  }

  void hand_out(Rank from, const std::pair<Part, Part>& what, std::int64_t node, std::int64_t readers) {
    const Time end = table_.publish(from, what.first, has(from), what.second);
    for (std::int64_t i = 0; i < readers; ++i) {
      const Rank reader = rank(node, i);
      if (reader != from) reach(reader, table_.read(reader, from, what.first, end, what.second));
    }
  }

  /// The readers of the head then have what the group contributes.
  void fold(const NodeGroup& group, const GroupStyle& style) {
    const std::int64_t size = nodes_.size(group.head), read_by = readers(group, style);
    const BoardFold board(nodes_, size);
    const Time flat = nodes_.publish + Time{saturating_multiply(size - 1, nodes_.read.ticks)};
    if (group.end - group.first == 1 && read_by > 1 && flat <= Time{board.time()} + nodes_.publish + nodes_.read) {
      std::vector<Time> published;
      for (std::int64_t i = 0; i < size; ++i)
        published.push_back(table_.publish(rank(group.head, i), {rank(group.head, i).index, 1}, Time{0}));
      for (std::int64_t reader = 0; reader < read_by; ++reader) {
        for (std::int64_t i = 0; i < size; ++i) {
          const Rank from = rank(group.head, i), self = rank(group.head, reader);
          if (i != reader)
            reach(self, table_.read(self, from, {from.index, 1}, published[static_cast<std::size_t>(i)]));
        }
      }
      return;
    }
    const auto offset = static_cast<std::int32_t>(nodes_.first_rank(group.first));
    std::vector<HandOver> all = group.fold;
    for (HandOver& h : all) {
      for (std::int32_t* index : {&h.from.index, &h.to.index, &h.what.first.lo, &h.what.second.lo}) *index += offset;
    }
    book(all, table_, has_);
    if (read_by > 1)
      hand_out(rank(group.head, 0), node_parts(where_, problem_, group.first, group.end - group.first), group.head,
               read_by);
  }

  void round(const std::vector<WindowPiece>& pieces, const GroupStyle& style) {
    struct Got {
      Rank lane;
      std::int64_t window, count;
      Time end;
    };
    const std::vector<Time> before = has_;
    std::vector<std::vector<Got>> got(groups_.size());
    for (std::size_t c = 0; c < pieces.size(); ++c) {
      for (std::int64_t i = 0; i < K_; ++i) {
        const NodeGroup &to = group(i), &from = group(i + pieces[c].sender);
        const auto each = divide_up(static_cast<std::int64_t>(pieces.size()),
                                    std::min(lanes(to, style), static_cast<std::int64_t>(pieces.size())));
        const Rank receiver = rank(to.head, static_cast<std::int64_t>(c) / each);
        const Rank sender = earliest_of(from.head, lanes(from, style), receiver, before);
        const auto [part, second] = parts(i + pieces[c].window, pieces[c].count);
        const Time end = table_.send(sender, receiver, part, before[static_cast<std::size_t>(sender.index)], second);
        auto& list = got[static_cast<std::size_t>(i)];
        if (list.empty() || list.back().lane != receiver) list.push_back({receiver, pieces[c].window, 0, end});
        list.back().count += pieces[c].count;
        list.back().end = std::max(list.back().end, end);
      }
    }
    for (std::int64_t i = 0; i < K_; ++i) {
      auto& list = got[static_cast<std::size_t>(i)];
      for (const Got& g : list) reach(g.lane, g.end);
      const std::int64_t read_by = readers(group(i), style);
      if (read_by < 2) continue;
      std::sort(list.begin(), list.end(), [](const Got& a, const Got& b) { return a.end < b.end; });
      std::vector<Time> published;
      for (const Got& g : list) {
        const auto [part, second] = parts(i + g.window, g.count);
        published.push_back(table_.publish(g.lane, part, g.end, second));
      }
      for (std::size_t k = 0; k < list.size(); ++k) {
        const auto [part, second] = parts(i + list[k].window, list[k].count);
        for (std::int64_t place = 0; place < read_by; ++place) {
          const Rank reader = rank(group(i).head, place);
          if (reader != list[k].lane) reach(reader, table_.read(reader, list[k].lane, part, published[k], second));
        }
      }
    }
  }

  void straight_round(const std::vector<WindowPiece>& pieces) {
    const std::vector<Time> before = has_;
    for (const WindowPiece& piece : pieces) {
      for (std::int64_t i = 0; i < K_; ++i) {
        const std::int64_t to = group(i).head, from = group(i + piece.sender).head;
        const auto [part, second] = parts(i + piece.window, piece.count);
        for (std::int64_t place = 0; place < nodes_.size(to); ++place) {
          const Rank sender = earliest_of(from, nodes_.size(from), rank(to, place), before);
          const Time since = before[static_cast<std::size_t>(sender.index)];
          reach(rank(to, place), table_.send(sender, rank(to, place), part, since, second));
        }
      }
    }
  }

  /// Of the first ranks of a node, who can reach the receiver first.
  Rank earliest_of(std::int64_t node, std::int64_t count, Rank receiver, const std::vector<Time>& since) const {
    Rank sender{};
    Time earliest{kMaxTime};
    for (std::int64_t i = 0; i < count; ++i) {
      const Rank r = rank(node, i);
      const Time end = table_.end_of_send(r, receiver, since[static_cast<std::size_t>(r.index)]);
      if (end < earliest) earliest = end, sender = r;
    }
    return sender;
  }

  Part everything() const { return {0, static_cast<std::int32_t>(nodes_.ranks())}; }

  void publish_result(const NodeGroup& group, const GroupStyle& style) {
    const std::int64_t size = nodes_.size(group.head), done = lanes(group, style);
    if (done == size) return;
    Rank first = rank(group.head, 0);
    for (std::int64_t i = 1; i < done; ++i) {
      if (has(rank(group.head, i)) < has(first)) first = rank(group.head, i);
    }
    const Time end = table_.publish(first, everything(), has(first));
    for (std::int64_t i = done; i < size; ++i)
      reach(rank(group.head, i), table_.read(rank(group.head, i), first, everything(), end));
  }

  /// The larger ones first; whoever can reach a node first sends.
  void tell_the_small(const NodeGroup& group) {
    std::vector<std::int64_t> order;
    for (std::int64_t node = group.first; node < group.end; ++node) {
      if (node != group.head) order.push_back(node);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return nodes_.size(a) > nodes_.size(b); });
    const std::int64_t ranks = nodes_.first_rank(group.end) - nodes_.first_rank(group.first);
    const bool all_send = saturating_multiply(ranks, group.end - group.first) <= kMostSendersLookedAt;
    std::vector<Rank> senders;
    for (std::int64_t i = 0; i < nodes_.size(group.head); ++i) senders.push_back(rank(group.head, i));
    for (const std::int64_t node : order) {
      const Rank receiver = rank(node, 0);
      Rank sender{};
      Time earliest{kMaxTime};
      for (const Rank r : senders) {
        if (const Time end = table_.end_of_send(r, receiver, has(r)); end < earliest) earliest = end, sender = r;
      }
      has(receiver) = table_.send(sender, receiver, everything(), has(sender));
      if (nodes_.size(node) > 1) hand_out(receiver, {everything(), {}}, node, nodes_.size(node));
      for (std::int64_t i = 0; all_send && i < nodes_.size(node); ++i) senders.push_back(rank(node, i));
    }
  }

  const Nodes& nodes_;
  NodeIndex where_;
  const Problem& problem_;
  const std::vector<NodeGroup>& groups_;
  std::int64_t K_;
  Timetable table_;
  std::vector<Time> has_;  ///< by rank: since when it has all that it has heard of
};

/// About when it ends, rather early.
Time about(const Cluster& cluster, const std::vector<NodeGroup>& groups, const GroupStyle& style) {
  Time fold{0};
  for (const NodeGroup& group : groups) {
    if (!group.fold.empty())
      fold = std::max(
          fold, Time{group.fold.back().begin} +
                    (group.fold.back().message ? cluster.base.lambda() : cluster.nodes.publish + cluster.nodes.read));
  }
  Time all = fold;
  const bool alone = static_cast<std::int64_t>(groups.size()) == cluster.nodes.count();
  for (const std::int64_t radix : style.radices) {
    const std::int64_t pieces = radix - 1, each = divide_up(pieces, std::min(pieces, style.lanes));
    all += cluster.base.lambda() + (each - 1) * cluster.base.gap();
    if (style.lanes > 1) all += cluster.nodes.publish + divide_up(pieces, each) * cluster.nodes.read;
  }
  return alone ? all : all + cluster.base.lambda();
}

}  // namespace

std::optional<std::pair<Schedule, std::string>> earliest_grouped(const Cluster& cluster, const Problem& problem,
                                                                 Time bound, Time before) {
  const Nodes& nodes = cluster.nodes;
  if (cluster.base.P > kMostGroupedRanks || bound >= before) return std::nullopt;
  const bool few = cluster.base.P <= kFewGroupedRanks;
  std::set<std::int64_t> sizes;
  for (const Nodes::Run& run : nodes.runs) sizes.insert(run.size);
  while (sizes.size() > 5) {  // some of them, least and largest among them
    std::set<std::int64_t> half{*sizes.begin(), *sizes.rbegin()};
    std::size_t i = 0;
    for (const std::int64_t size : sizes) {
      if (i++ % 2 == 0) half.insert(size);
    }
    sizes = std::move(half);
  }
  std::vector<std::vector<NodeGroup>> divisions;
  std::vector<std::pair<Time, GroupStyle>> styles;
  for (const std::int64_t least : sizes) {
    divisions.push_back(groups_of(nodes, least));
    bool folded = true;
    for (NodeGroup& group : divisions.back()) {
      Cluster part = cluster;
      part.nodes.runs.clear();
      for (std::int64_t node = group.first; node < group.end; ++node) part.nodes.add(nodes.size(node));
      part.base.P = part.nodes.ranks();
      const Rank root{static_cast<std::int32_t>(nodes.first_rank(group.head) - nodes.first_rank(group.first))};
      if (part.base.P == 1) continue;
      auto tree = quick_folding(part, root, before);
      if (!tree) {
        folded = false;
        break;
      }
      group.fold = std::move(*tree);
    }
    if (!folded) continue;
    const auto K = static_cast<std::int64_t>(divisions.back().size());
    for (std::int64_t rounds = 1; rounds < 63; ++rounds) {
      const std::vector<std::int64_t> radices = K == 1 ? std::vector<std::int64_t>{} : equal_radices(K, rounds);
      for (std::int64_t lanes = 1; lanes <= std::min<std::int64_t>(8, nodes.largest()); lanes += 1 + lanes / 4) {
        for (const auto& [all_read, straight] : {std::pair(false, false), {true, false}, {true, true}}) {
          const GroupStyle style{divisions.size() - 1, radices, lanes, all_read, straight};
          styles.emplace_back(about(cluster, divisions.back(), style), style);
        }
      }
      if (K == 1 || radices.front() == 2) break;
    }
  }
  std::stable_sort(styles.begin(), styles.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!few && styles.size() > kMostPlayed) styles.resize(kMostPlayed);
  std::optional<Schedule> best;
  const GroupStyle* chosen = nullptr;
  for (const auto& [expected, style] : styles) {
    if (!few && expected >= (best ? best->finish : before)) continue;
    Schedule found = GroupedExchange(cluster, problem, divisions[style.groups]).play(style, bound);
    if (found.finish >= (best ? best->finish : before)) continue;
    best = std::move(found);
    chosen = &style;
  }
  for (const bool boards_first : {false, true}) {
    if (cluster.base.P > kMostOneByOne) break;
    Schedule found = one_by_one(cluster, problem, boards_first, bound);
    if (found.finish >= (best ? best->finish : before)) continue;
    best = std::move(found);
    chosen = nullptr;
  }
  if (!best) return std::nullopt;
  if (chosen == nullptr) return std::pair(std::move(*best), std::string("every contribution to every rank"));
  const std::size_t K = divisions[chosen->groups].size();
  std::string how =
      K == 1 ? "everything to the largest node and back"
             : fmt::format("windows of {} groups of nodes, radices {}", K, fmt::join(chosen->radices, " x "));
  return std::pair(std::move(*best), std::move(how));
}

}  // namespace chasqui::plan
