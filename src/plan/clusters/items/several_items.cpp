// SPDX-License-Identifier: MIT
// Broadcasts of several items, each message one of them (clusters.md, Theorem 18).
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/items/items_by_lanes.hpp"
#include "plan/clusters/timetable.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {

std::int64_t root_turns_to_last_item(const Cluster& c, std::int64_t k) {
  const std::int64_t o = c.base.o.ticks, p = c.nodes.publish.ticks, G = c.base.gap().ticks;
  const auto sent = [&](std::int64_t x) { return x == 0 ? 0 : saturating_multiply(x - 1, G); };
  const auto busy = [&](std::int64_t x) {
    return saturating_add(saturating_multiply(x, o), saturating_multiply(k - 1 - x, p));
  };
  if (o >= p) return busy(0);  // neither falls with x
  // One rises with x and the other one falls: the least maximum is where they cross, or just before.
  std::int64_t low = 0, high = k - 1;
  while (low < high) {
    const std::int64_t x = low + (high - low) / 2;
    if (sent(x) >= busy(x)) high = x;
    else low = x + 1;
  }
  const std::int64_t crossed = std::max(sent(low), busy(low));
  return low == 0 ? crossed : std::min(crossed, busy(low - 1));
}

namespace {

/// What all ranks do together, and how long they wait for their first item, shared out among them. What is too much to count counts as
/// 2^63 - 1.
Time time_of_work(const Cluster& c, Rank root, std::int64_t k) {
  const std::int64_t o = c.base.o.ticks, p = c.nodes.publish.ticks, r = c.nodes.read.ticks;
  const std::int64_t home = c.nodes.size(c.nodes.node_of(root)), first = (c.base.L + c.base.o).ticks;
  const auto board = [&](std::int64_t n) { return n == 1 ? 0 : saturating_add(p, saturating_multiply(n - 1, r)); };
  const auto inside = [&](std::int64_t n) { return std::min(board(n), saturating_multiply(n - 1, 2 * o)); };
  std::int64_t each = 0;
  for (const Nodes::Run& run : c.nodes.runs)
    each = saturating_add(each, saturating_multiply(run.count, saturating_add(2 * o, inside(run.size))));
  each -= 2 * o;  // an item does not enter the root's node
  if (c.nodes.count() == 1) each = board(home);
  const std::int64_t waits =
      saturating_add(saturating_multiply(c.base.P - home, first), saturating_multiply(home - 1, std::min(p, first)));
  return Time{divide_up(saturating_add(saturating_multiply(k, each), waits), c.base.P)};
}

/// The fewest ranks of a node that is not the root's. REQUIRES several nodes.
std::int64_t smallest_of_others(const Nodes& nodes, Rank root) {
  const std::int64_t home = nodes.node_of(root);
  std::int64_t least = nodes.largest(), node = 0;
  for (const Nodes::Run& run : nodes.runs) {
    if (run.count > 1 || node != home) least = std::min(least, run.size);
    node += run.count;
  }
  return least;
}

/// clusters.md, Theorem 18.
Bound items_bound(const Cluster& c, Rank root, std::int64_t k) {
  const std::int64_t p = c.nodes.publish.ticks, gamma = c.nodes.gamma.ticks, n = c.nodes.largest();
  Bound one = cluster_broadcast_bound(c, c.nodes.size(c.nodes.node_of(root)));
  if (c.base.P == 1) return one;
  std::int64_t last = n > 1 ? root_turns_to_last_item(c, k) : saturating_multiply(k - 1, c.base.gap().ticks);
  if (c.nodes.count() == 1) last = saturating_multiply(k - 1, p);
  Bound bound{Time{saturating_add(one.time.ticks, last)},
              "the root has the last item to itself for so long; " + one.source};
  const std::int64_t least = c.nodes.smallest();
  if (c.nodes.count() > 1) {
    const std::int64_t informed =
        least == 1 ? 0 : std::min(p + c.nodes.read.ticks, saturating_multiply(least - 1, gamma));
    const Time entered{saturating_add(c.base.lambda().ticks + informed, saturating_multiply(k - 1, gamma))};
    if (entered > bound.time) bound = {entered, "the items enter a node one by one"};
    const std::int64_t by_one = divide_up(k, smallest_of_others(c.nodes, root));
    const Time received{saturating_add(c.base.lambda().ticks, saturating_multiply(by_one - 1, c.base.gap().ticks))};
    if (received > bound.time) bound = {received, "a rank of the smallest node receives one item after another"};
  }
  const Time busy = time_of_work(c, root, k);
  return busy > bound.time ? Bound{busy, "the work of all ranks together"} : bound;
}

/// How often the root's node sends an item at most, and every other node; and whether a rank that an item reaches publishes it
/// before it does anything else with it.
struct Spreading {
  std::int64_t from_root = 1, from_others = 1;
  bool publishes_at_once = true;
};

/// One item after another, each along a tree of its own: of the nodes that can be reached first those are taken that have done
/// least, so that items are passed on by different ones. A rank publishes or reads an item when that lets a node be reached
/// earlier. Everything else is published and read at the end, in the gaps.
class ItemByItem {
 public:
  ItemByItem(const Cluster& c, Rank root, std::int64_t k, const Spreading& how, Lanes lanes)
      : nodes_(c.nodes), root_(root), how_(how), leaders_(lanes == Lanes::leaders),
        table_(c, {.kind = Kind::broadcast, .root = root, .items = k},
               saturating_multiply(c.base.P + c.nodes.count(), k)),
        sent_(static_cast<std::size_t>(c.nodes.count()), 0) {
    for (std::int64_t item = 0; item < k; ++item) spread(item);
    hand_out_the_rest();
  }
  Schedule schedule(Time bound) && { return std::move(table_).schedule(bound); }

 private:
  /// An item at a node.
  struct Copy {
    std::int64_t item = 0;
    Rank entry;  ///< who has it
    Time since;
    std::optional<Time> published;
    std::map<std::int32_t, Time> readers;  ///< since when others have it
    std::int64_t sends = 0;
  };
  /// A rank that may send it, by the time at which it reached somebody when it was last asked.
  struct Sender {
    Time arrival;
    std::int64_t turn;  ///< of two, the one that was there before
    Rank rank;

    friend bool operator<(const Sender& a, const Sender& b) {  // the earliest is the top of a queue
      return std::tie(a.arrival, a.turn) > std::tie(b.arrival, b.turn);
    }
  };
  struct Reached {
    Sender by;
    Rank entry;
    Time arrival;
  };

  void spread(std::int64_t item) {
    senders_ = {};
    copies_.assign(static_cast<std::size_t>(nodes_.count()), {});
    left_ = by_work(item);
    enter(item, root_, Time{0});
    while (!left_.empty()) {
      const Reached next = reach_another(item);
      const Time there = table_.send(next.by.rank, next.entry, item_part(item), get(next.by.rank));
      ++copy(next.by.rank).sends;
      ++sent_[static_cast<std::size_t>(table_.node_of(next.by.rank))];
      senders_.push({there, next.by.turn, next.by.rank});
      left_.erase(std::next(std::find(left_.rbegin(), left_.rend(), table_.node_of(next.entry))).base());
      enter(item, next.entry, there);
    }
    std::move(copies_.begin(), copies_.end(), std::back_inserter(handed_out_));
  }

  void enter(std::int64_t item, Rank at, Time since) {
    copy(at) = {.item = item, .entry = at, .since = since, .published = {}, .readers = {}};
    const std::int64_t node = table_.node_of(at), size = nodes_.size(node), own = at.index - nodes_.first_rank(node);
    if (how_.publishes_at_once && size > 1) published(copy(at));
    for (std::int64_t i = 1; i < size && !leaders_; ++i)
      senders_.push({since, turns_++, rank_at(nodes_, node, own + i)});
    senders_.push({since, turns_++, at});
  }

  /// When the rank would have the item.
  Time available(Rank rank) const {
    const Copy& here = copies_[static_cast<std::size_t>(table_.node_of(rank))];
    if (rank == here.entry) return here.since;
    if (const auto reader = here.readers.find(rank.index); reader != here.readers.end()) return reader->second;
    const Time published = here.published ? *here.published : table_.end_of_publication(here.entry, here.since);
    return table_.end_of_reading(rank, published);
  }
  /// Sees to it that the rank has it: since when.
  Time get(Rank rank) {
    Copy& here = copy(rank);
    if (rank == here.entry) return here.since;
    const auto [reader, fresh] = here.readers.try_emplace(rank.index);
    if (fresh) reader->second = table_.read(rank, here.entry, item_part(here.item), published(here));
    return reader->second;
  }
  Time published(Copy& here) {
    if (!here.published) here.published = table_.publish(here.entry, item_part(here.item), here.since);
    return *here.published;
  }

  /// Who of the senders reaches which of the nodes that are left first. A rank that is busier than it was when it was last asked
  /// waits for its turn again.
  Reached reach_another(std::int64_t item) {
    for (;;) {
      Sender next = senders_.top();
      senders_.pop();
      const bool home = table_.node_of(next.rank) == table_.node_of(root_);
      if (copy(next.rank).sends >= (home ? how_.from_root : how_.from_others)) continue;
      const Reached found = reach_from(next, item);
      if (senders_.empty() || found.arrival <= senders_.top().arrival || found.arrival == next.arrival) return found;
      next.arrival = found.arrival;
      senders_.push(next);
    }
  }
  Reached reach_from(const Sender& by, std::int64_t item) const {
    const Time since = available(by.rank);
    std::optional<Reached> best;
    for (std::size_t i = 1; i <= std::min(left_.size(), kNodesTried); ++i) {
      const std::int64_t node = left_[left_.size() - i],
                         lanes = leaders_ ? 1 : std::min(nodes_.size(node), kLanesTried);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const Rank entry = rank_at(nodes_, node, leaders_ ? 0 : item + lane);
        const Time arrival = table_.end_of_send(by.rank, entry, since);
        if (!best || arrival < best->arrival) best = {by, entry, arrival};
      }
    }
    return *best;
  }

  /// All nodes but the root's, another one last with every item, those that have sent least at the end.
  std::vector<std::int64_t> by_work(std::int64_t item) const {
    const std::int64_t N = nodes_.count(), home = nodes_.node_of(root_);
    std::vector<std::int64_t> order;
    for (std::int64_t d = N - 2; d >= 0; --d) order.push_back((home + 1 + (d + item) % (N - 1)) % N);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return sent_[static_cast<std::size_t>(a)] * nodes_.size(b) > sent_[static_cast<std::size_t>(b)] * nodes_.size(a);
    });
    return order;
  }

  void hand_out_the_rest() {
    const auto in_order_of = [&](auto when) {
      std::stable_sort(handed_out_.begin(), handed_out_.end(),
                       [&](const Copy& a, const Copy& b) { return when(a) < when(b); });
    };
    std::erase_if(handed_out_, [&](const Copy& each) { return nodes_.size(table_.node_of(each.entry)) == 1; });
    in_order_of([](const Copy& each) { return each.since; });
    for (Copy& each : handed_out_) published(each);
    in_order_of([](const Copy& each) { return *each.published; });
    for (const Copy& each : handed_out_) {
      const std::int64_t node = table_.node_of(each.entry), own = each.entry.index - nodes_.first_rank(node);
      for (std::int64_t i = 1; i < nodes_.size(node); ++i) {
        const Rank reader = rank_at(nodes_, node, own + i);
        if (!each.readers.contains(reader.index))
          table_.read(reader, each.entry, item_part(each.item), *each.published);
      }
    }
  }

  Copy& copy(Rank rank) { return copies_[static_cast<std::size_t>(table_.node_of(rank))]; }

  static constexpr std::size_t kNodesTried = 8;
  static constexpr std::int64_t kLanesTried = 2;

  NodeIndex nodes_;
  Rank root_;
  Spreading how_;
  bool leaders_;
  Timetable table_;
  std::vector<std::int64_t> sent_;  ///< by each node
  std::vector<Copy> handed_out_;
  // Of the item that spreads:
  std::priority_queue<Sender> senders_;
  std::int64_t turns_ = 0;
  std::vector<Copy> copies_;        ///< by node
  std::vector<std::int64_t> left_;  ///< nodes that do not have it; those at the end are tried
};

/// Up to here lists of all events are made in any case, and of more than one style.
constexpr std::int64_t kMostTried = 500'000;

/// What is tried; less where the schedule is long.
std::vector<Spreading> spreadings(const Cluster& c, std::int64_t k) {
  constexpr std::int64_t kLong = 50'000;
  const std::int64_t others = std::max<std::int64_t>(1, c.nodes.count() - 1);
  const Spreading quick{std::min<std::int64_t>(2, others), others, true};
  if (saturating_multiply(c.base.P, k) > kMostTried) return {quick};
  if (saturating_multiply(c.base.P, k) > kLong) return {{1, others, false}, quick};
  std::vector<Spreading> all;
  for (std::int64_t from_root = 1; from_root <= std::min<std::int64_t>(3, others); ++from_root) {
    for (const std::int64_t degree : std::set<std::int64_t>{1, std::min<std::int64_t>(4, others), others}) {
      for (const bool at_once : {true, false}) all.push_back({from_root, degree, at_once});
    }
  }
  return all;
}

}  // namespace

PlanPtr items_on_cluster(const Cluster& cluster, Rank root, std::int64_t k, Lanes lanes) {
  const Problem problem{.kind = Kind::broadcast, .root = root, .items = k};
  const Bound bound = items_bound(cluster, root, k);
  const std::int64_t events = saturating_multiply(cluster.base.P + cluster.nodes.count(), k);
  PlanPtr in_step = items_in_step(cluster, problem, lanes, bound);
  if (!in_step) {
    throw Error("broadcast of {} items on {} unequal nodes: make the nodes equal, or ask for fewer nodes", k,
                cluster.nodes.count());
  }
  Earliest best(std::move(in_step));
  // Some seconds; few items of unequal nodes, which would go on few lanes, as far as they can be listed.
  const bool far = !cluster.nodes.uniform() && best.plan()->claim().gap().ticks > bound.time.ticks / 2;
  if (far ? !listable(events) : events > kMostTried) return best.plan();
  for (const Spreading& how : spreadings(cluster, k)) {
    if (best.optimal()) break;
    best.offer(ItemByItem(cluster, root, k, how, lanes).schedule(bound.time), bound.source, [&] {
      return fmt::format("a tree of nodes for each item, degree {} at the root and at most {} below{}", how.from_root,
                         how.from_others, lanes == Lanes::leaders ? ", by leaders" : "; any lane sends");
    });
  }
  return best.plan();
}

}  // namespace chasqui::plan
