// SPDX-License-Identifier: MIT
// All-reduce and barrier: all nodes do the same at the same times. In a round with k messages a node, node i receives the windows
// of w nodes that follow its own, and then knows k + 1 windows (clusters.md, Theorem 10).
#include "chasqui/plan/allreduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/node_parts.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostListedRanks = 200'000;  ///< ranks of a leader scheme that is compared with

/// A piece goes from a lane of its sender to the same lane of its receiver.
struct WindowMessage {
  std::int64_t lane = 0, begin = 0;  ///< begin: of the send, counted from the start
  WindowPiece piece;
};

/// What a lane puts on the board after a round: the contributions of `count` nodes from i + window on.
struct WindowPublication {
  std::int64_t lane = 0, begin = 0, window = 0, count = 0;
};

struct WindowReading {
  std::int64_t reader = 0, begin = 0;
  std::size_t publication = 0;
};

/// The whole exchange as one node sees it. Ranks of a node are counted from its first.
struct Exchange {
  std::vector<std::int64_t> radices;
  std::vector<WindowMessage> messages;
  std::vector<WindowPublication> publications;
  std::vector<WindowReading> readings;  ///< of a node of the largest size
  bool flat = true;                     ///< in the beginning everybody reads everybody; otherwise the board folds
  std::int64_t folded = 0;              ///< not flat: when the first rank has the node's own fold
  std::int64_t finish = 0;
};

class Planner {
 public:
  explicit Planner(const Cluster& cluster)
      : nodes_(cluster.nodes), N_(nodes_.count()), most_(nodes_.largest()), least_(nodes_.smallest()),
        lambda_(cluster.base.lambda().ticks), L_(cluster.base.L.ticks), gap_(cluster.base.gap().ticks),
        fold_(BoardFold(nodes_, most_).time()) {}

  /// The fastest exchange with about equal radices, over the number of rounds.
  Exchange best() const {
    Exchange best = play({});
    bool found = N_ == 1;
    for (std::int64_t rounds = 1; rounds < 63; ++rounds) {
      const std::vector<std::int64_t> radices = equal_radices(N_, rounds);
      if (radices.front() - 1 > most_messages()) continue;
      Exchange tried = play(radices);
      if (!found || tried.finish < best.finish) best = std::move(tried), found = true;
      if (radices.front() == 2) break;
    }
    return best;
  }

 private:
  /// A lane makes all sends of a round before its first reception, so that its overheads never overlap (rule 4).
  std::int64_t most_messages() const {
    const std::int64_t each = L_ / std::max(gap_, least_ * nodes_.gamma.ticks) + 1;
    return saturating_multiply(least_, each);
  }

  /// Plays the ranks of one node: has[r] is when rank r has all there is, and is free to go on.
  Exchange play(const std::vector<std::int64_t>& radices) const {
    const std::int64_t p = nodes_.publish.ticks, r = nodes_.read.ticks;
    Exchange x;
    x.radices = radices;
    std::vector<std::int64_t> has(static_cast<std::size_t>(most_), 0);
    if (most_ > 1) {
      const std::int64_t all = p + saturating_multiply(most_ - 1, r);
      x.folded = fold_;
      x.flat = all <= fold_ + p + r;
      std::fill(has.begin(), has.end(), x.flat ? all : fold_ + p + r);
      if (!x.flat) has[0] = fold_ + p;
    }
    if (!radices.empty() && N_ > 1) {
      for (const auto& pieces : node_windows(N_, radices)) play_round(x, pieces, has);
    }
    x.finish = *std::max_element(has.begin(), has.end());
    return x;
  }

  void play_round(Exchange& x, const std::vector<WindowPiece>& pieces, std::vector<std::int64_t>& has) const {
    const auto k = static_cast<std::int64_t>(pieces.size());
    const std::int64_t lanes = std::min(k, least_);
    const std::int64_t each = divide_up(k, lanes);
    const std::int64_t spacing = std::max(gap_, lanes * nodes_.gamma.ticks);
    std::int64_t start = *std::max_element(has.begin(), has.begin() + static_cast<std::ptrdiff_t>(lanes));
    for (const WindowMessage& before : x.messages) start = std::max(start, before.begin + gap_);
    const std::size_t first_publication = x.publications.size();
    for (std::int64_t c = 0; c < k; ++c) {
      const std::int64_t lane = c / each;
      const WindowMessage m{lane, start + c % each * spacing + lane * nodes_.gamma.ticks,
                            pieces[static_cast<std::size_t>(c)]};
      x.messages.push_back(m);
      const bool same_lane = x.publications.size() > first_publication && x.publications.back().lane == lane;
      if (!same_lane) x.publications.push_back({lane, 0, m.piece.window, 0});
      x.publications.back().count += m.piece.count;
      x.publications.back().begin = m.begin + lambda_;
      has[static_cast<std::size_t>(lane)] = m.begin + lambda_;
    }
    if (most_ == 1) return;
    const std::size_t last = x.publications.size();
    for (std::size_t i = first_publication; i < last; ++i)
      has[static_cast<std::size_t>(x.publications[i].lane)] += nodes_.publish.ticks;
    for (std::int64_t reader = 0; reader < most_; ++reader) {
      for (std::size_t i = first_publication; i < last; ++i) {
        if (x.publications[i].lane == reader) continue;
        std::int64_t& free = has[static_cast<std::size_t>(reader)];
        const std::int64_t begin = std::max(free, x.publications[i].begin + nodes_.publish.ticks);
        x.readings.push_back({reader, begin, i});
        free = begin + nodes_.read.ticks;
      }
    }
  }

  const Nodes& nodes_;
  std::int64_t N_, most_, least_, lambda_, L_, gap_, fold_;
};

class ClusterExchange final : public Plan {
 public:
  ClusterExchange(const Cluster& cluster, const Problem& problem, Claim claim, Exchange exchange)
      : Plan(cluster, problem, std::move(claim)), exchange_(std::move(exchange)) {
    for (const Nodes::Run& run : nodes_.runs) {
      if (std::none_of(folds_.begin(), folds_.end(), [&](const auto& fold) { return fold.first == run.size; }))
        folds_.emplace_back(run.size, BoardFold(nodes_, run.size));
    }
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = nodes_.node_of(rank);
    events(node, rank.index - nodes_.first_rank(node), form.publications, form.readings, &form.sends, &form.receives);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    Schedule s = empty_schedule();
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      for (std::int64_t i = 0; i < nodes_.size(node); ++i)
        events(node, i, s.publications, s.readings, &s.sends, nullptr);
    }
    normalise(s);
    return s;
  }

 private:
  Rank rank(std::int64_t node, std::int64_t lane) const {
    return {static_cast<std::int32_t>(nodes_.first_rank(modulo(node, nodes_.count())) + lane)};
  }

  /// What rank `local` of a node does.
  void events(std::int64_t node, std::int64_t local, std::vector<Publication>& publications,
              std::vector<Reading>& readings, std::vector<Send>* sends, std::vector<Send>* receives) const {
    const std::int64_t size = nodes_.size(node);
    if (size > 1) own_fold(node, local, size, publications, readings);
    for (const WindowMessage& m : exchange_.messages) {
      if (m.lane != local) continue;
      sends->push_back(message(m, node - m.piece.sender));
      if (receives != nullptr) receives->push_back(message(m, node));
    }
    if (size == 1) return;
    for (const WindowPublication& p : exchange_.publications) {
      if (p.lane == local) publications.push_back(publication(p, node));
    }
    for (const WindowReading& r : exchange_.readings) {
      if (r.reader != local) continue;
      const Publication read = publication(exchange_.publications[r.publication], node);
      readings.push_back({Time{r.begin}, rank(node, local), read.rank, read.part, read.second});
    }
  }

  /// The contributions of the node's own ranks, at every one of them.
  void own_fold(std::int64_t node, std::int64_t local, std::int64_t size, std::vector<Publication>& publications,
                std::vector<Reading>& readings) const {
    const Rank self = rank(node, local);
    const std::int64_t first = nodes_.first_rank(node);
    if (exchange_.flat) {
      publications.push_back({Time{0}, self, {self.index, 1}});
      Time begin = nodes_.publish;
      for (std::int64_t other = 0; other < size; ++other) {
        if (other == local) continue;
        const Rank from = rank(node, other);
        readings.push_back({begin, self, from, {from.index, 1}});
        begin += nodes_.read;
      }
      return;
    }
    const auto same = [&](const auto& fold) { return fold.first == size; };
    const BoardFold& fold = std::find_if(folds_.begin(), folds_.end(), same)->second;
    fold.events(first, first, local, publications, readings);
    const Part own{static_cast<std::int32_t>(first), static_cast<std::int32_t>(size)};
    if (local == 0) {
      publications.push_back({Time{exchange_.folded}, self, own});
    } else {
      readings.push_back({Time{exchange_.folded} + nodes_.publish, self, rank(node, 0), own});
    }
  }

  Send message(const WindowMessage& m, std::int64_t receiver) const {
    Send send{Time{m.begin}, rank(receiver + m.piece.sender, m.lane), rank(receiver, m.lane), {}};
    std::tie(send.part, send.second) = node_parts(nodes_, problem_, receiver + m.piece.window, m.piece.count);
    return send;
  }

  Publication publication(const WindowPublication& p, std::int64_t node) const {
    const auto [part, second] = node_parts(nodes_, problem_, node + p.window, p.count);
    return {Time{p.begin}, rank(node, p.lane), part, second};
  }

  Exchange exchange_;
  std::vector<std::pair<std::int64_t, BoardFold>> folds_;  ///< by size of the node
};

/// One rank a node folds its node, takes part in the all-reduce of N ranks, and publishes the result.
Schedule by_leaders(const Cluster& cluster, const Problem& problem, Time bound) {
  const Nodes& nodes = cluster.nodes;
  LogP leaders = cluster.base;
  leaders.P = nodes.count();
  const Schedule between = allreduce(leaders, problem.commutative)->schedule();
  Schedule s{cluster.base, problem, {}, bound, {}, {}, {}, {}, {}, nodes};
  const Time folded{BoardFold(nodes, nodes.largest()).time()};
  const auto leader = [&](Rank node) { return Rank{static_cast<std::int32_t>(nodes.first_rank(node.index))}; };
  for (const Send& send : between.sends) {
    Send scaled{send.begin + folded, leader(send.from), leader(send.to), {}};
    const auto scale = [&](const Part& part) {
      return part.len == 0 ? Part{} : node_parts(nodes, problem, part.lo, part.len).first;
    };
    scaled.part = scale(send.part);
    scaled.second = scale(send.second);
    s.sends.push_back(scaled);
  }
  const Time done = folded + (nodes.count() == 1 ? Time{0} : between.finish);
  for (std::int64_t node = 0; node < nodes.count(); ++node) {
    const std::int64_t size = nodes.size(node), first = nodes.first_rank(node);
    if (size == 1) continue;
    const BoardFold fold(nodes, size);
    for (std::int64_t i = 0; i < size; ++i) fold.events(first, first, i, s.publications, s.readings);
    const Part all{0, static_cast<std::int32_t>(cluster.base.P)};
    const Rank from{static_cast<std::int32_t>(first)};
    s.publications.push_back({done, from, all});
    for (std::int64_t i = 1; i < size; ++i)
      s.readings.push_back({done + nodes.publish, Rank{static_cast<std::int32_t>(first + i)}, from, all});
  }
  normalise(s);
  s.finish = actual_finish(s);
  return s;
}

}  // namespace

std::vector<std::int64_t> equal_radices(std::int64_t N, std::int64_t rounds) {
  if (N == 1) return {2};
  const auto product = [&](std::int64_t radix, std::int64_t smaller) {
    std::int64_t total = 1;
    for (std::int64_t i = 0; i < rounds; ++i) total = saturating_multiply(total, i < smaller ? radix - 1 : radix);
    return total;
  };
  std::int64_t radix = 2;
  for (std::int64_t step = std::int64_t{1} << 31U; step > 0; step /= 2) {
    if (product(radix + step - 1, 0) < N) radix += step;
  }
  std::int64_t smaller = 0;
  while (radix > 2 && smaller < rounds - 1 && product(radix, smaller + 1) >= N) ++smaller;
  std::vector<std::int64_t> radices(static_cast<std::size_t>(rounds), radix);
  std::fill_n(radices.rbegin(), smaller, radix - 1);
  return radices;
}

std::vector<std::vector<WindowPiece>> node_windows(std::int64_t N, const std::vector<std::int64_t>& radices) {
  std::vector<std::int64_t> windows(radices.size() + 1, N);
  for (std::size_t q = radices.size(); q-- > 0;) windows[q] = divide_up(windows[q + 1], radices[q]);
  CHASQUI_CHECK(windows[0] == 1, "{} radices do not reach N={}", radices.size(), N);
  std::vector<std::vector<WindowPiece>> rounds(radices.size());
  for (std::size_t q = 0; q < radices.size(); ++q) {
    const std::int64_t w = windows[q], k = radices[q] - 1;
    std::int64_t window = w;
    std::int64_t short_ones = w + k * w - windows[q + 1];  // so many pieces leave their sender's own node out
    for (std::int64_t c = 0; c < k; ++c, --short_ones) {
      const std::int64_t count = short_ones > 0 ? w - 1 : w;
      if (count == 0) continue;
      rounds[q].push_back({short_ones > 0 ? window - 1 : window, window, count});
      window += count;
    }
  }
  std::erase_if(rounds, [](const auto& pieces) { return pieces.empty(); });
  return rounds;
}

PlanPtr allreduce_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  Bound bound = cluster_broadcast_bound(cluster);
  if (Bound reduce = cluster_reduce_bound(cluster); reduce.time > bound.time) bound = std::move(reduce);
  const bool listed = cluster.base.P <= kMostListedRanks;
  if (lanes == Lanes::leaders && !listed)
    throw Error("{} ranks are too many to list for leaders (at most {}): ask for fewer nodes", cluster.base.P,
                kMostListedRanks);
  Exchange exchange = Planner(cluster).best();
  if (listed) {
    Schedule leaders = by_leaders(cluster, problem, bound.time);
    if (lanes == Lanes::leaders || leaders.finish <= Time{exchange.finish})
      return std::make_shared<ListedClusterPlan>(std::move(leaders), bound.source, "leaders: one rank a node talks");
  }
  std::string how = "one node: the board alone";
  if (cluster.nodes.count() > 1) how = fmt::format("windows of nodes, radices {}", fmt::join(exchange.radices, " x "));
  const Claim claim{Time{exchange.finish}, bound.time, bound.source, how};
  return std::make_shared<ClusterExchange>(cluster, problem, claim, std::move(exchange));
}

PlanPtr on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  validate(cluster);
  validate(problem, cluster.base);
  switch (problem.kind) {
    case Kind::broadcast:
      if (problem.items > 1) return items_on_cluster(cluster, problem.root, problem.items, lanes);
      return broadcast_on_cluster(cluster, problem.root, lanes);
    case Kind::reduce:
      if (problem.items > 1) break;
      return reduce_on_cluster(cluster, problem.root, problem.commutative, lanes);
    case Kind::allreduce:
    case Kind::barrier:
      if (problem.items > 1) break;
      return allreduce_on_cluster(cluster, problem, lanes);
    case Kind::scatter: return scatter_on_cluster(cluster, problem.root, lanes);
    case Kind::gather: return gather_on_cluster(cluster, problem.root, lanes);
    case Kind::allgather:
    case Kind::reduce_scatter:
    case Kind::alltoall: return exchange_on_cluster(cluster, problem, lanes);
    case Kind::scan: return scan_on_cluster(cluster, problem, lanes);
    default: throw Error("{} is not planned on clusters: leave -N out, or choose another", to_string(problem.kind));
  }
  throw Error("{} of {} items is not planned on clusters: ask for one item", to_string(problem.kind), problem.items);
}

}  // namespace chasqui::plan
