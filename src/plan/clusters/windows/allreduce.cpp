// SPDX-License-Identifier: MIT
// All-reduce and barrier: by windows of nodes (windows.hpp), or by leaders where that is faster.
#include <algorithm>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/node_parts.hpp"
#include "plan/clusters/windows/windows.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

/// Windows are a list of what each rank of a node does; on larger nodes their boards take most of the time, with leaders as with windows.
constexpr std::int64_t kMostListedLanes = 1 << 17;

class ClusterExchange final : public Plan {
 public:
  ClusterExchange(const Cluster& cluster, const Problem& problem, Claim claim, Exchange exchange)
      : Plan(cluster, problem, std::move(claim)), exchange_(std::move(exchange)),
        places_(static_cast<std::size_t>(nodes_.largest())), where_(cluster.nodes), folds_(cluster.nodes) {
    for (std::size_t i = 0; i < exchange_.messages.size(); ++i) {
      at(exchange_.messages[i].from).sends.push_back(i);
      at(exchange_.messages[i].to).receives.push_back(i);
    }
    for (std::size_t i = 0; i < exchange_.publications.size(); ++i)
      at(exchange_.publications[i].place).publications.push_back(i);
    for (std::size_t i = 0; i < exchange_.readings.size(); ++i) at(exchange_.readings[i].reader).readings.push_back(i);
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = where_.node_of(rank);
    events(node, rank.index - where_.first_rank(node), form.publications, form.readings, &form.sends, &form.receives);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    Schedule s = empty_schedule();
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      for (std::int64_t i = 0; i < where_.size(node); ++i)
        events(node, i, s.publications, s.readings, &s.sends, nullptr);
    }
    normalise(s);
    return s;
  }

 private:
  /// What one rank of a node does: indices into the exchange.
  struct Place {
    std::vector<std::size_t> sends, receives, publications, readings;
  };
  Place& at(std::int64_t place) { return places_[static_cast<std::size_t>(place)]; }

  Rank rank(std::int64_t node, std::int64_t lane) const {
    return {static_cast<std::int32_t>(where_.first_rank(modulo(node, nodes_.count())) + lane)};
  }

  /// What rank `local` of a node does.
  void events(std::int64_t node, std::int64_t local, std::vector<Publication>& publications,
              std::vector<Reading>& readings, std::vector<Send>* sends, std::vector<Send>* receives) const {
    const std::int64_t size = where_.size(node);
    const Place& place = places_[static_cast<std::size_t>(local)];
    if (size > 1 && exchange_.own != OwnBoard::listed) own_fold(node, local, size, publications, readings);
    for (const std::size_t i : place.sends)
      sends->push_back(message(exchange_.messages[i], node - exchange_.messages[i].sender));
    for (std::size_t i = 0; receives != nullptr && i < place.receives.size(); ++i)
      receives->push_back(message(exchange_.messages[place.receives[i]], node));
    if (size == 1) return;
    for (const std::size_t i : place.publications) publications.push_back(publication(exchange_.publications[i], node));
    for (const std::size_t i : place.readings) {
      const WindowReading& r = exchange_.readings[i];
      const Publication read = publication(exchange_.publications[r.publication], node);
      readings.push_back({r.begin, rank(node, local), read.rank, read.part, read.second});
    }
  }

  /// The contributions of the node's own ranks, at every one of them.
  void own_fold(std::int64_t node, std::int64_t local, std::int64_t size, std::vector<Publication>& publications,
                std::vector<Reading>& readings) const {
    const Rank self = rank(node, local);
    const std::int64_t first = where_.first_rank(node);
    if (exchange_.own == OwnBoard::everybody) {
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
    folds_.of(size).events(first, first, local, publications, readings);
    const Part own{static_cast<std::int32_t>(first), static_cast<std::int32_t>(size)};
    if (local == 0) {
      publications.push_back({exchange_.folded, self, own});
    } else {
      readings.push_back({exchange_.folded + nodes_.publish, self, rank(node, 0), own});
    }
  }

  /// As the node sees it.
  std::pair<Part, Part> parts(const WindowCargo& cargo, std::int64_t node) const {
    if (cargo.place < 0) return node_parts(where_, problem_, node + cargo.window, cargo.count);
    return {Part{rank(node + cargo.window, cargo.place).index, 1}, Part{}};
  }

  Send message(const WindowMessage& m, std::int64_t receiver) const {
    const auto [part, second] = parts(m.cargo, receiver);
    return {m.begin, rank(receiver + m.sender, m.from), rank(receiver, m.to), part, second};
  }

  Publication publication(const WindowPublication& p, std::int64_t node) const {
    const auto [part, second] = parts(p.cargo, node);
    return {p.begin, rank(node, p.place), part, second};
  }

  Exchange exchange_;
  std::vector<Place> places_;
  NodeIndex where_;
  BoardFolds folds_;
};

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
  const Bound bound = cluster_exchange_bound(cluster);
  Earliest best(allreduce_by_leaders(cluster, problem, bound));
  if (lanes == Lanes::leaders || cluster.nodes.largest() > kMostListedLanes) return best.plan();
  Exchange exchange = best_exchange(cluster);
  const Claim claim{exchange.finish, bound.time, bound.source, exchange.how};
  best.offer(std::make_shared<ClusterExchange>(cluster, problem, claim, std::move(exchange)));
  if (cluster.nodes.uniform()) return best.plan();
  if (auto grouped = earliest_grouped(cluster, problem, bound.time, best.before()))
    best.offer(std::move(grouped->first), bound.source, [&] { return std::move(grouped->second); });
  best.offer(earliest_ring_by_nodes(cluster, problem, bound.time, best.before()), bound.source,
             [] { return "windows of nodes that grow piece by piece round the ring"; });
  best.offer(earliest_windows_by_ranks(cluster, problem, bound.time, best.before()), bound.source,
             [] { return "windows of ranks that grow piece by piece round the ring"; });
  return best.plan();
}

}  // namespace chasqui::plan
