// SPDX-License-Identifier: MIT
#include "plan/clusters/trees/folding_tree.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostFoldingWork = 20'000'000;  ///< looks at a message of a lane
constexpr std::int64_t kMostAloneTried = 3;  ///< lane 0 receives at most so many behind the reports of the lanes
constexpr std::int64_t kMostFoldLanes = 64;
constexpr std::int64_t kEveryNode = std::int64_t{1} << 40U;  ///< more nodes than there can be

struct Busy {
  std::int64_t begin, end;
};

Part interval(std::int64_t begin, std::int64_t end) {
  return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end - begin)};
}

/// Two intervals as one where they touch.
std::pair<Part, Part> joined(const Part& a, const Part& b) {
  if (b.len == 0) return {a, {}};
  if (a.lo + a.len == b.lo) return {{a.lo, a.len + b.len}, {}};
  if (b.lo + b.len == a.lo) return {{b.lo, a.len + b.len}, {}};
  return {a, b};
}

/// A rank of an entered node.
struct OnBoard {
  std::size_t parent = 0;
  std::int64_t told = 0;   ///< when the parent begins with it
  std::int64_t ready = 0;  ///< when it can begin with others
  std::vector<Busy> busy{};
  std::vector<std::size_t> children{};
  Part outside{};  ///< ranks of other nodes
  std::int64_t size = 1, place = 0, depth = 0;

  /// The earliest time at which it has nothing to do for so long.
  std::int64_t first_free(std::int64_t length) const {
    std::int64_t begin = ready;
    for (const Busy& b : busy) {
      if (b.begin >= begin + length) break;
      begin = std::max(begin, b.end);
    }
    return begin;
  }
  void keep_busy(std::int64_t begin, std::int64_t length) {
    if (length == 0) return;
    const auto later = std::find_if(busy.begin(), busy.end(), [&](const Busy& b) { return b.begin > begin; });
    busy.insert(later, {begin, begin + length});
  }
};

/// A node that is entered at its leader: who of it tells whom on the board, backwards in time from the entry on. First its lanes receive(), then
/// the others are told, then all have places in the node.
class EnteredNode {
 public:
  EnteredNode(const SpreadShape& shape, const Habit& habit, std::int64_t first, std::int64_t size, Rank leader)
      : shape_(shape), habit_(habit), first_(first), size_(size), leader_(leader) {}

  /// A lane gets a message with ranks of other nodes. Those of a lane other than the leader lie side by side.
  void receive(std::int64_t lane, std::int64_t begin, const Part& piece) {
    const auto number = static_cast<std::size_t>(lane);
    if (of_lane_.size() <= number) of_lane_.resize(number + 1, 0);
    if (lane > 0 && of_lane_[number] == 0) {
      of_lane_[number] = ranks_.size();
      const std::int64_t told = inform_begin(shape_, habit_) + (lane - 1) * shape_.publish;
      ranks_.push_back({0, told, told + shape_.publish + shape_.read});
      ranks_[0].keep_busy(told, shape_.publish);
    }
    OnBoard& receiver = ranks_[of_lane_[number]];
    receiver.keep_busy(begin, shape_.overhead);
    receiver.outside = receiver.outside.len == 0 ? piece : Part{receiver.outside.lo, receiver.outside.len + piece.len};
    lanes_ = ranks_.size();
  }

  /// All that have nothing to do with other nodes, as soon as somebody has time.
  void tell_the_rest() {
    using Next = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> open;
    const auto add = [&](std::size_t rank) { open.emplace(ranks_[rank].first_free(shape_.publish), rank); };
    for (std::size_t i = 0; i < ranks_.size(); ++i) add(i);
    while (static_cast<std::int64_t>(ranks_.size()) < size_) {
      const auto [begin, parent] = open.top();
      open.pop();
      ranks_[parent].keep_busy(begin, shape_.publish);
      ranks_.push_back({parent, begin, begin + shape_.publish + shape_.read});
      add(parent);
      add(ranks_.size() - 1);
    }
    for (std::size_t i = ranks_.size(); i-- > 1;) {
      ranks_[ranks_[i].parent].size += ranks_[i].size;
      ranks_[ranks_[i].parent].children.push_back(i);
    }
  }

  /// Counted from the leader on around the end of the node; whom a rank tells come behind it, with all whom those tell.
  void take_places() {
    order_told_by_leader();
    for (OnBoard& rank : ranks_) {  // each behind its parent
      std::int64_t place = rank.place + 1;
      for (const std::size_t child : rank.children) {
        ranks_[child].place = place;
        ranks_[child].depth = rank.depth + 1;
        place += ranks_[child].size;
      }
    }
  }

  /// What each rank gives to whoever tells it, the latter's own first. end: when the leader begins with what it has; depth: the leader's own. False where a
  /// lane would have to tell of three intervals.
  bool add_hand_overs(std::int64_t end, std::int64_t depth, std::vector<HandOver>& all) const {
    std::vector<std::size_t> stack{0};
    while (!stack.empty()) {
      const std::size_t i = stack.back();
      const OnBoard& self = ranks_[i];
      stack.pop_back();
      stack.insert(stack.end(), self.children.begin(), self.children.end());
      if (i == 0) continue;
      const Rank rank = rank_at(self.place);
      const std::int64_t before_end = std::min(self.size, first_ + size_ - rank.index);
      const bool around = before_end < self.size && self.place > 0 && rank.index > leader_.index;
      if (around && self.outside.len > 0) return false;
      const std::pair<Part, Part> what =
          around ? std::pair(interval(rank.index, first_ + size_), interval(first_, first_ + self.size - before_end))
                 : joined(interval(rank.index, rank.index + self.size), self.outside);
      all.push_back({rank, rank_at(ranks_[self.parent].place), false, end - (self.told + shape_.publish + shape_.read),
                     depth + self.depth, what});
    }
    return true;
  }

  Rank of_lane(std::int64_t lane) const { return rank_at(lane_at(lane).place); }
  /// Hand-overs from it to the leader.
  std::int64_t depth_of_lane(std::int64_t lane) const { return lane_at(lane).depth; }

 private:
  const OnBoard& lane_at(std::int64_t lane) const { return ranks_[of_lane_[static_cast<std::size_t>(lane)]]; }
  Rank rank_at(std::int64_t place) const {
    return {static_cast<std::int32_t>(first_ + (leader_.index - first_ + place) % size_)};
  }

  /// No lane that has ranks of other nodes may lie around the end of the node: as many as fit before it come first, the others last.
  void order_told_by_leader() {
    std::vector<std::size_t>& told = ranks_[0].children;
    std::sort(told.begin(), told.end());
    std::int64_t behind = first_ + size_ - leader_.index - 1;
    std::vector<std::size_t> before, late;
    for (const std::size_t child : told) {
      if (child >= lanes_) continue;
      const bool fits = ranks_[child].size <= behind;
      (fits ? before : late).push_back(child);
      if (fits) behind -= ranks_[child].size;
    }
    for (const std::size_t child : told) {
      if (child >= lanes_) before.push_back(child);
    }
    before.insert(before.end(), late.begin(), late.end());
    told = std::move(before);
  }

  const SpreadShape& shape_;
  Habit habit_;
  std::int64_t first_, size_;
  Rank leader_;
  std::vector<OnBoard> ranks_ = std::vector<OnBoard>(1);  ///< the leader, the lanes that get messages, the others
  std::vector<std::size_t> of_lane_{0};                   ///< which of them that is
  std::size_t lanes_ = 1;                                 ///< so many of them are the leader and lanes
};

}  // namespace

std::size_t FoldingTree::Hash::operator()(const Place& place) const {
  std::uint64_t h = static_cast<std::uint64_t>(place.begin);
  for (const std::int64_t x : {place.left, place.end})
    h = (h ^ (h >> 29U)) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(x);
  return static_cast<std::size_t>(h ^ (h >> 32U));
}

FoldingTree::FoldingTree(const Cluster& cluster, Rank root, const FoldStyle& style)
    : nodes_(cluster.nodes), root_(root), style_(style),
      shape_(rounded(spread_shape(cluster, cluster.nodes.largest()), style.step, Rounding::up)) {
  std::swap(shape_.publish, shape_.read);
  shape_.serial = true;
  std::int64_t rank = 0;
  for (const Nodes::Run& run : nodes_.runs) {
    for (std::int64_t i = 0; i < run.count; ++i, rank += run.size) {
      node_of_.insert(node_of_.end(), static_cast<std::size_t>(run.size), first_of_.size());
      first_of_.push_back(rank);
    }
  }
  first_of_.push_back(rank);
  Nodes board;
  board.publish = Time{shape_.read};
  board.read = Time{shape_.publish};
  board_labels_ = board_labels(board, nodes_.largest());
}

SpreadShape FoldingTree::shape(std::int64_t lanes) const {
  SpreadShape some = shape_;
  some.lanes = lanes;
  return some;
}

Turns& FoldingTree::turns(const Habit& habit) {
  for (auto& [known, turns] : turns_) {
    if (known == habit) return turns;
  }
  return turns_.emplace_back(habit, Turns(shape(habit.lanes), habit)).second;
}

std::vector<Habit> FoldingTree::habits(std::int64_t lanes, std::int64_t left) {
  std::int64_t most = std::min(lanes, kMostFoldLanes);
  if (shape_.gamma > 0) most = std::min(most, shape_.gap / shape_.gamma + 1);
  std::vector<Habit> all{{0, 1}};
  if (most < 2) return all;
  if (!style_.every_habit) {
    if (static_cast<std::int64_t>(tables_.size()) <= most) tables_.resize(static_cast<std::size_t>(most) + 1);
    std::optional<Spread>& table = tables_[static_cast<std::size_t>(most)];
    if (!table || table->time() < left)
      table.emplace(shape(most), kEveryNode, false, std::max(horizon_, shape_.lambda));
    if (const Habit& best = table->habit(left); best.lanes > 1) all.push_back(best);
    return all;
  }
  for (std::int64_t l = 2; l <= most; l += std::max<std::int64_t>(1, l / 4)) {
    for (std::int64_t alone = 0; alone <= kMostAloneTried; ++alone) {
      if (lane_ready(shape_, {alone, l}, 1) + shape_.lambda > left) break;
      all.push_back({alone, l});
    }
  }
  return all;
}

std::size_t FoldingTree::skipping(const std::vector<std::int64_t>& begins, std::size_t from, std::int64_t last,
                                  const Range& skipped) {
  std::int64_t at = skipped.begin;
  for (std::size_t i = from; i < begins.size() && begins[i] <= last; ++i) {
    at = way({at, last - begins[i], skipped.end}).reach;
    if (at == skipped.end) return i - from + 1;
  }
  return 0;
}

std::int64_t FoldingTree::deal(const Way& way, std::int64_t left, const Range& skipped, const std::vector<Range>& pools,
                               std::vector<Slot>* slots) {
  std::int64_t over = 0;
  for (const Range& pool : pools) over += pool.end - pool.begin;
  if (way.habit.lanes == 0) return over;
  const std::int64_t last = left - shape_.lambda;
  const auto give = [&](std::int64_t lane, std::int64_t begin, std::int64_t from, std::int64_t end) {
    const Place place{from, last - begin, end};
    const std::int64_t reach = this->way(place).reach;
    if (reach > from && slots != nullptr) slots->push_back({lane, begin, place, reach});
    return reach;
  };
  const Turns& all = turns(way.habit);
  std::size_t skip_end = 0;
  if (skipped.end > skipped.begin) {
    const auto& begins = all.of_lane(0);
    skip_end = way.skip_from + skipping(begins, way.skip_from, last, skipped);
    std::int64_t at = skipped.begin;
    for (std::size_t i = way.skip_from; i < skip_end; ++i) at = give(0, begins[i], at, skipped.end);
  }
  std::size_t pool = 0;
  std::int64_t at = pools.empty() ? 0 : pools[0].begin;
  for (std::int64_t lane = 0; lane < way.habit.lanes; ++lane) {
    const auto& begins = all.of_lane(lane);
    bool has_some = false;
    for (std::size_t i = 0; i < begins.size() && begins[i] <= last; ++i) {
      if (lane == 0 && i >= way.skip_from && i < skip_end) continue;
      while (pool < pools.size() && at == pools[pool].end) {
        if (++pool < pools.size()) at = pools[pool].begin;
        if (lane > 0 && has_some) break;  // what a lane tells of other nodes is one interval
      }
      if (pool == pools.size()) return over;
      if (lane > 0 && has_some && at == pools[pool].begin) break;
      ++work_;
      const std::int64_t reach = give(lane, begins[i], at, pools[pool].end);
      has_some = has_some || reach > at;
      over -= reach - at;
      at = reach;
    }
  }
  return over;
}

void FoldingTree::try_entry(std::int64_t first, std::int64_t end, const Place& place, Way& best) {
  const std::int64_t size = end - first, last = place.left - shape_.lambda;
  const std::int64_t folded =
      std::upper_bound(board_labels_.begin(), board_labels_.end(), place.left) - board_labels_.begin();
  if (first == place.begin && (style_.parts || folded >= size)) {
    const std::int64_t reach = std::min(end, first + folded);
    if (reach > best.reach) best = {reach, first, reach};
  }
  if (folded < size || last < 0 || (first == place.begin && end == place.end)) return;
  for (const Habit& habit : habits(size, place.left)) {
    Turns& all = turns(habit);
    const std::size_t made = all.begun(last, static_cast<std::size_t>(kEveryNode));
    if (made == 0) continue;
    Way way{0, first, end, habit, 0};
    const Range skipped{place.begin, first};
    if (first > place.begin) {
      const auto& begins = all.of_lane(0);
      auto from = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), last) - begins.begin());
      while (from > 0 && skipping(begins, from - 1, last, skipped) == 0) --from;
      if (from == 0) continue;
      way.skip_from = from - 1;
    }
    way.reach = place.end - deal(way, place.left, skipped, {{end, place.end}}, nullptr);
    if (way.reach > best.reach) best = way;
  }
}

const FoldingTree::Way& FoldingTree::way(const Place& place) {
  if (const auto known = ways_.find(place); known != ways_.end()) return known->second;
  work_ += 8;
  if (work_ > kMostFoldingWork) throw TableTooLong("too many pieces");
  Way best{place.begin};
  if (place.left >= 0) {
    const std::size_t node = node_of_[static_cast<std::size_t>(place.begin)];
    const std::int64_t end = std::min(first_of_[node + 1], place.end);
    try_entry(place.begin, end, place, best);
    std::int64_t largest = end - place.begin;
    for (std::size_t next = node + 1; static_cast<std::int64_t>(next - node) <= style_.ahead; ++next) {
      if (next + 1 >= first_of_.size() || first_of_[next] >= place.end) break;
      const std::int64_t its_end = std::min(first_of_[next + 1], place.end);
      if (its_end - first_of_[next] <= largest) continue;
      largest = its_end - first_of_[next];
      try_entry(first_of_[next], its_end, place, best);
    }
  }
  return ways_.emplace(place, best).first->second;
}

bool FoldingTree::build(const Entered& at, std::int64_t T, std::vector<HandOver>& all, std::vector<Entered>& open) {
  std::vector<Slot> slots;
  deal(at.way, at.left, at.skipped, at.pools, &slots);
  EnteredNode node(shape_, at.way.habit, at.way.first, at.way.end - at.way.first, at.leader);
  for (const Slot& slot : slots) node.receive(slot.lane, slot.begin, interval(slot.place.begin, slot.reach));
  node.tell_the_rest();
  node.take_places();
  if (!node.add_hand_overs(T - at.label, at.depth, all)) return false;
  for (const Slot& slot : slots) {
    const Way& way = this->way(slot.place);
    const std::int64_t label = at.label + slot.begin + shape_.lambda;
    const std::int64_t depth = at.depth + node.depth_of_lane(slot.lane) + 1;
    const Rank leader{static_cast<std::int32_t>(way.first)};
    all.push_back(
        {leader, node.of_lane(slot.lane), true, T - label, depth, {interval(slot.place.begin, way.reach), {}}});
    open.push_back(
        {way, leader, label, slot.place.left, {slot.place.begin, way.first}, {{way.end, slot.place.end}}, depth});
  }
  return true;
}

std::optional<std::vector<HandOver>> FoldingTree::within(std::int64_t T) {
  horizon_ = std::max(horizon_, T);
  const std::size_t node = node_of_[static_cast<std::size_t>(root_.index)];
  const std::int64_t first = first_of_[node], end = first_of_[node + 1];
  const std::vector<Range> pools{{end, first_of_.back()}, {0, first}};
  if (board_labels_[static_cast<std::size_t>(end - first - 1)] > T) return std::nullopt;
  for (const Habit& habit : habits(end - first, T)) {
    turns(habit).begun(T - shape_.lambda, static_cast<std::size_t>(kEveryNode));
    const Way way{0, first, end, habit, 0};
    if (deal(way, T, {first, first}, pools, nullptr) > 0) continue;
    std::vector<HandOver> all;
    std::vector<Entered> open{{way, root_, 0, T, {first, first}, pools, 0}};
    bool told = true;
    while (told && !open.empty()) {
      const Entered at = std::move(open.back());
      open.pop_back();
      told = build(at, T, all, open);
    }
    if (!told) continue;
    std::sort(all.begin(), all.end(), [](const HandOver& a, const HandOver& b) {
      return std::tuple(a.begin, -a.depth, a.from.index) < std::tuple(b.begin, -b.depth, b.from.index);
    });
    return all;
  }
  return std::nullopt;
}

void book(const std::vector<HandOver>& all, Timetable& table, std::vector<Time>& has) {
  const auto since = [&](Rank rank) -> Time& { return has[static_cast<std::size_t>(rank.index)]; };
  for (const HandOver& h : all) {
    const auto& [part, second] = h.what;
    const Time end = h.message
                         ? table.send(h.from, h.to, part, since(h.from), second)
                         : table.read(h.to, h.from, part, table.publish(h.from, part, since(h.from), second), second);
    since(h.to) = std::max(since(h.to), end);
  }
}

}  // namespace chasqui::plan
