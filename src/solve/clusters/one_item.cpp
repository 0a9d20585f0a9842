// SPDX-License-Identifier: MIT
// Tick by tick every rank that has the item and is free sends, publishes or waits; who can read reads. States that failed with as
// much time left are remembered, with ranks of a node and nodes in order of their state, so that names do not matter. A reduction is
// sought backwards in time: a broadcast that publishes for one reader at a time, publishing and reading exchanged. It is a tree, and a
// schedule once its ranks have names for which all that is folded are intervals.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_set>

#include "chasqui/base/error.hpp"
#include "solve/clusters/climb.hpp"
#include "solve/clusters/interval_names.hpp"

namespace chasqui::solve {
namespace {

/// Ticks from now: a state is a short text.
using Ticks = std::int8_t;
constexpr std::int64_t kTooLong = kMostClusterTicks + 1;  ///< what takes longer makes no difference
static_assert(kTooLong <= std::numeric_limits<Ticks>::max());

/// A rank, with times counted from now. Who receives or reads has the item and is busy until then.
struct RankState {
  bool informed = false;
  Ticks busy = 0;  ///< so long
  Ticks next = 0;  ///< until it may send again
  Ticks told = 0;  ///< backwards: until it may publish again
  friend auto operator<=>(const RankState&, const RankState&) = default;
};

/// A few of something in their order, copied without asking for memory: states are copied all the time.
template <typename T>
class Few {
 public:
  void push_back(const T& value) { all_[count_++] = value; }
  void resize(std::size_t count) { count_ = count; }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return all_[i]; }
  auto begin() { return all_.begin(); }
  auto end() { return all_.begin() + static_cast<std::ptrdiff_t>(count_); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.begin() + static_cast<std::ptrdiff_t>(count_); }

 private:
  std::array<T, kMostRanks> all_{};
  std::size_t count_ = 0;
};

struct NodeState {
  Ticks adapter = 0;      ///< until the node may send again
  Ticks published = -1;   ///< until something is on the board; -1: nobody has published
  Rank publisher{};       ///< who did
  Few<Ticks> receptions;  ///< begins that lie less than gamma back or ahead; a rank receives once
  Few<RankState> ranks;
};

/// Backwards: one rank publishes, and another one of its node reads as soon as it can.
struct Telling {
  Time begin;
  Rank from, to;
};

class OneItem final : public ClusterSearch {
 public:
  OneItem(const Cluster& cluster, Rank root, bool backwards, NodeEntries entries)
      : cluster_(cluster), root_(root), backwards_(backwards), entries_(entries) {
    const auto ticks = [](Time time) { return static_cast<Ticks>(std::min(time.ticks, kTooLong)); };
    lambda_ = ticks(cluster.base.lambda());
    gap_ = ticks(cluster.base.gap());
    overhead_ = ticks(cluster.base.o);
    flight_ = ticks(cluster.base.L + cluster.base.o);
    gamma_ = ticks(cluster.nodes.gamma);
    publish_ = ticks(cluster.nodes.publish);
    read_ = ticks(cluster.nodes.read);
    if (backwards) std::swap(publish_, read_);
  }

  Verdict within(Time T, const Stop& stop) override {
    CHASQUI_CHECK(cluster_.base.P <= kMostRanks && T <= Time{kMostClusterTicks}, "{}", to_string(cluster_));
    stop_ = &stop;
    stopped_ = false;
    failed_.clear();
    nameless_ = 0;
    tellings_.clear();
    reduction_.reset();
    found_ =
        Schedule{cluster_.base, {.kind = Kind::broadcast, .root = root_}, {}, {}, {}, {}, {}, {}, {}, cluster_.nodes};
    std::vector<NodeState> nodes(static_cast<std::size_t>(cluster_.nodes.count()));
    for (std::size_t i = 0; i < nodes.size(); ++i)
      nodes[i].ranks.resize(static_cast<std::size_t>(cluster_.nodes.size(static_cast<std::int64_t>(i))));
    const std::int64_t node = cluster_.nodes.node_of(root_);
    nodes[static_cast<std::size_t>(node)]
        .ranks[static_cast<std::size_t>(root_.index - cluster_.nodes.first_rank(node))]
        .informed = true;
    horizon_ = static_cast<int>(T.ticks);
    if (tick(std::move(nodes), horizon_) || nameless_ > 0) return Verdict::satisfiable;
    return stopped_ ? Verdict::unknown : Verdict::unsatisfiable;
  }

  std::string_view how() const override { return "everything tried"; }
  /// Empty for a reduction whose ranks have no names that make intervals of all that is folded, in none of the trees that were tried.
  std::optional<Schedule> found() const override {
    if (backwards_) return reduction_;
    Schedule schedule = found_;
    normalise(schedule);
    schedule.finish = actual_finish(schedule);
    return schedule;
  }

 private:
  static constexpr int kMostNameless = 10'000;

  Rank rank(std::size_t node, std::size_t i) const {
    return {static_cast<std::int32_t>(cluster_.nodes.first_rank(static_cast<std::int64_t>(node)) +
                                      static_cast<std::int64_t>(i))};
  }
  Time now(int left) const { return Time{horizon_ - left}; }

  bool give_up() {
    if (++visited_ % 1024 == 0 && (*stop_)()) stopped_ = true;
    return stopped_;
  }

  static std::string key_of(const NodeState& node) {
    Few<RankState> ranks = node.ranks;
    std::sort(ranks.begin(), ranks.end());
    Few<Ticks> receptions = node.receptions;
    std::sort(receptions.begin(), receptions.end());
    std::string key{static_cast<char>(node.adapter), static_cast<char>(node.published),
                    static_cast<char>(receptions.size())};
    for (const Ticks begin : receptions) key += static_cast<char>(begin);
    for (const RankState& r : ranks)
      key += {static_cast<char>(r.informed), static_cast<char>(r.busy), static_cast<char>(r.next),
              static_cast<char>(r.told)};
    return key;
  }

  /// All that may happen from now on, with so many ticks left.
  bool tick(std::vector<NodeState> nodes, int left) {
    if (give_up()) return false;
    bool complete = true;
    const std::size_t readings = found_.readings.size();
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (nodes[node].published == 0 && read_ <= left) read_published(nodes, node, left);
      complete = complete && !has_uninformed(nodes[node]);
    }
    if (complete) return !backwards_ || becomes_schedule();
    bool done = false;
    const int nameless = nameless_;
    if (left >= std::min<int>(lambda_, read_ + (publish_ > 0 ? 1 : 0))) {
      std::vector<std::string> parts;
      for (const NodeState& node : nodes) parts.push_back(key_of(node));
      std::sort(parts.begin(), parts.end());
      std::string key{static_cast<char>(left)};
      for (const std::string& part : parts) key += part + "|";
      if (failed_.count(key) == 0) {
        done = act(nodes, 0, 0, left);
        if (!done && !stopped_ && nameless_ == nameless) failed_.insert(std::move(key));
      }
    }
    if (!done) found_.readings.resize(readings);
    return done;
  }

  /// What rank i of a node does at this tick, then those after it.
  bool act(std::vector<NodeState>& nodes, std::size_t node, std::size_t i, int left) {
    if (give_up()) return false;
    if (node == nodes.size()) return tick(after_one_tick(nodes), left - 1);
    if (i == nodes[node].ranks.size()) return act(nodes, node + 1, 0, left);
    const RankState self = nodes[node].ranks[i];
    const bool free = self.informed && self.busy == 0;
    if (free && self.next == 0 && nodes[node].adapter == 0 && lambda_ <= left && send(nodes, node, i, left))
      return true;
    if (backwards_ && free && self.told == 0 && publish_ + read_ <= left && tell(nodes, node, i, left)) return true;
    if (!backwards_ && free && nodes[node].published < 0 && publish_ + read_ <= left && has_uninformed(nodes[node])) {
      if (publish(nodes, node, i, left)) return true;
    }
    return act(nodes, node, i + 1, left);
  }

  static bool has_informed(const NodeState& node) {
    return std::any_of(node.ranks.begin(), node.ranks.end(), [](const RankState& r) { return r.informed; });
  }
  static bool has_uninformed(const NodeState& node) {
    return std::any_of(node.ranks.begin(), node.ranks.end(), [](const RankState& r) { return !r.informed; });
  }

  bool publish(std::vector<NodeState>& nodes, std::size_t node, std::size_t i, int left) {
    const NodeState saved = nodes[node];
    nodes[node].published = publish_;
    nodes[node].publisher = rank(node, i);
    if (overhead_ > 0) nodes[node].ranks[i].busy = publish_;
    found_.publications.push_back({now(left), rank(node, i), {0, 1}});
    const std::size_t readings = found_.readings.size();
    if (publish_ == 0) read_published(nodes, node, left);
    if (act(nodes, node, next_to_act(i), left)) return true;
    found_.readings.resize(readings);
    found_.publications.pop_back();
    nodes[node] = saved;
    return false;
  }

  /// All ranks of the node that lack the item read it.
  void read_published(std::vector<NodeState>& nodes, std::size_t node, int left) {
    for (std::size_t i = 0; i < nodes[node].ranks.size(); ++i) {
      RankState& r = nodes[node].ranks[i];
      if (r.informed) continue;
      r = {true, read_, read_};
      found_.readings.push_back({now(left), rank(node, i), nodes[node].publisher, {0, 1}});
    }
  }

  /// Who acts after rank i has published. A send without overhead fits beside a publication, any send beside one that takes no time; and where
  /// reading takes none either, all of the node have the item now.
  std::size_t next_to_act(std::size_t i) const {
    if (publish_ + read_ == 0) return 0;
    return overhead_ > 0 && publish_ > 0 ? i + 1 : i;
  }

  /// Publishes for one reader, who is idle until then.
  bool tell(std::vector<NodeState>& nodes, std::size_t node, std::size_t i, int left) {
    const auto whom = std::find_if(nodes[node].ranks.begin(), nodes[node].ranks.end(),
                                   [](const RankState& r) { return !r.informed; });
    if (whom == nodes[node].ranks.end()) return false;
    const NodeState saved = nodes[node];
    const auto told = static_cast<Ticks>(publish_ + read_);
    *whom = {true, told, told, told};
    nodes[node].ranks[i].told = publish_;
    if (overhead_ > 0) nodes[node].ranks[i].busy = publish_;
    const auto place = static_cast<std::size_t>(whom - nodes[node].ranks.begin());
    tellings_.push_back({now(left), rank(node, i), rank(node, place)});
    if (act(nodes, node, next_to_act(i), left)) return true;
    tellings_.pop_back();
    nodes[node] = saved;
    return false;
  }

  bool send(std::vector<NodeState>& nodes, std::size_t node, std::size_t i, int left) {
    std::vector<std::string> tried;
    for (std::size_t to = 0; to < nodes.size(); ++to) {
      if (to == node) continue;
      NodeState& target = nodes[to];
      const auto whom =
          std::find_if(target.ranks.begin(), target.ranks.end(), [](const RankState& r) { return !r.informed; });
      if (whom == target.ranks.end() || (entries_ == NodeEntries::one && has_informed(target))) continue;
      const bool close = std::any_of(target.receptions.begin(), target.receptions.end(),
                                     [&](Ticks begin) { return std::abs(begin - flight_) < gamma_; });
      std::string key = key_of(target);
      if (close || std::find(tried.begin(), tried.end(), key) != tried.end()) continue;
      tried.push_back(std::move(key));
      const NodeState saved_target = target;
      const NodeState saved = nodes[node];
      const auto place = static_cast<std::size_t>(whom - target.ranks.begin());
      *whom = {true, lambda_, lambda_};
      if (gamma_ > 0) target.receptions.push_back(flight_);
      nodes[node].adapter = gamma_;
      nodes[node].ranks[i].busy = std::max(nodes[node].ranks[i].busy, overhead_);
      nodes[node].ranks[i].next = gap_;
      found_.sends.push_back(send_item(now(left), rank(node, i), rank(to, place), 0));
      if (act(nodes, node, overhead_ > 0 ? i + 1 : i, left)) return true;
      found_.sends.pop_back();
      nodes[to] = saved_target;
      nodes[node] = saved;
    }
    return false;
  }

  /// Turns the tree that was found round in time. False if there are no names for it and other trees are to be tried.
  bool becomes_schedule() {
    std::vector<Rank> parent(static_cast<std::size_t>(cluster_.base.P));
    for (const Send& send : found_.sends) parent[static_cast<std::size_t>(send.to.index)] = send.from;
    for (const Telling& telling : tellings_) parent[static_cast<std::size_t>(telling.to.index)] = telling.from;
    const std::optional<NamedTree> tree = interval_names(cluster_.nodes, root_, parent);
    if (!tree) return ++nameless_ >= kMostNameless;
    const auto name = [&](Rank rank) { return tree->name[static_cast<std::size_t>(rank.index)]; };
    const Time end{horizon_}, publish = cluster_.nodes.publish, read = cluster_.nodes.read;
    Schedule& schedule = reduction_.emplace(
        Schedule{cluster_.base, {.kind = Kind::reduce, .root = root_}, {}, {}, {}, {}, {}, {}, {}, cluster_.nodes});
    for (const Send& send : found_.sends) {
      const auto& [part, second] = tree->subtree[static_cast<std::size_t>(send.to.index)];
      schedule.sends.push_back(
          {end - send.begin - cluster_.base.lambda(), name(send.to), name(send.from), part, second});
    }
    for (const Telling& telling : tellings_) {
      const auto& [part, second] = tree->subtree[static_cast<std::size_t>(telling.to.index)];
      const Time reads = end - telling.begin - read;
      schedule.publications.push_back({reads - publish, name(telling.to), part, second});
      schedule.readings.push_back({reads, name(telling.from), name(telling.to), part, second});
    }
    normalise(schedule);
    schedule.finish = actual_finish(schedule);
    return true;
  }

  std::vector<NodeState> after_one_tick(std::vector<NodeState> nodes) const {
    for (NodeState& node : nodes) {
      const auto pass = [](Ticks& ticks) { ticks = std::max<Ticks>(1, ticks) - 1; };
      pass(node.adapter);
      if (node.published > 0) --node.published;
      for (Ticks& begin : node.receptions) --begin;
      // Sends from now on are received after flight_ ticks or more.
      const auto gone = [&](Ticks begin) { return flight_ - begin >= gamma_; };
      const auto kept = std::remove_if(node.receptions.begin(), node.receptions.end(), gone);
      node.receptions.resize(static_cast<std::size_t>(kept - node.receptions.begin()));
      for (RankState& r : node.ranks) {
        pass(r.busy);
        pass(r.next);
        pass(r.told);
      }
    }
    return nodes;
  }

  const Cluster& cluster_;
  Rank root_;
  bool backwards_;  ///< a reduction
  NodeEntries entries_;
  const Stop* stop_ = nullptr;
  Ticks lambda_, gap_, overhead_, flight_, gamma_, publish_, read_;
  int horizon_ = 0;
  std::unordered_set<std::string> failed_;  ///< states from which not all can be informed in time
  std::uint64_t visited_ = 0;
  bool stopped_ = false;
  Schedule found_;                     ///< forwards; backwards its sends
  std::vector<Telling> tellings_;      ///< backwards
  std::optional<Schedule> reduction_;  ///< backwards: the tree with names
  int nameless_ = 0;                   ///< trees without
};

}  // namespace

ClusterSearchPtr search_one_item(const Cluster& cluster, const Problem& problem, NodeEntries entries) {
  return std::make_unique<OneItem>(cluster, problem.root, problem.kind == Kind::reduce, entries);
}

}  // namespace chasqui::solve
