// SPDX-License-Identifier: MIT
#include "chasqui/plan/plain_trees.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/schedule/trace.hpp"
#include "plan/reversed_plan.hpp"

namespace chasqui::plan {
namespace {

/// A tree on the places 0 .. P-1, place 0 the root, parents before children; place v stands for rank root + v (mod P)
/// and the subtree of v is the interval [v, v + size).
struct Branch {
  std::int64_t parent;
  std::int64_t child;
  std::int64_t size;
};

/// In the order in which each parent serves its children.
std::vector<Branch> branches_of(PlainTree tree, std::int64_t P) {
  std::vector<Branch> branches;
  for (std::int64_t v = 0; v < P; ++v) {
    if (tree == PlainTree::chain && v + 1 < P) branches.push_back({v, v + 1, P - v - 1});
    if (tree == PlainTree::flat && v > 0) branches.push_back({0, v, 1});
    if (tree != PlainTree::binomial) continue;
    const auto low = v == 0 ? std::bit_ceil(static_cast<std::uint64_t>(P)) : static_cast<std::uint64_t>(v & -v);
    for (auto reach = static_cast<std::int64_t>(low / 2); reach > 0; reach /= 2) {
      if (v + reach < P) branches.push_back({v, v + reach, std::min(reach, P - v - reach)});
    }
  }
  return branches;
}

/// The least time from `time` on that is at least `distance` away from every member of `taken`.
Time clear_of(const std::set<Time>& taken, Time time, Time distance) {
  for (auto other = taken.upper_bound(time - distance); other != taken.end() && *other < time + distance;
       other = taken.upper_bound(time - distance)) {
    time = *other + distance;
  }
  return time;
}

/// When can a message be sent? Each rank's sends and receptions so far; a new message goes to the earliest legal time
/// that is no earlier than its sender's last send.
class Ports {
 public:
  explicit Ports(const LogP& machine) : machine_(machine), ports_(static_cast<std::size_t>(machine.P)) {}

  /// Books a message that may begin at `ready` and returns when it begins. Time: logarithmic, plus one step per
  /// collision passed over.
  Time place(Rank from, Rank to, Time ready) {
    Port& sender = ports_[static_cast<std::size_t>(from.index)];
    Port& receiver = ports_[static_cast<std::size_t>(to.index)];
    Time begin = ready;
    if (!sender.sends.empty()) begin = std::max(begin, *sender.sends.rbegin() + machine_.gap());
    for (Time next = next_legal(sender, receiver, begin); next != begin; next = next_legal(sender, receiver, begin)) {
      begin = next;
    }
    sender.sends.insert(begin);
    receiver.receptions.insert(begin + machine_.o + machine_.L);
    return begin;
  }

 private:
  struct Port {
    std::set<Time> sends;
    std::set<Time> receptions;
  };
  Time next_legal(const Port& from, const Port& to, Time begin) const {
    const Time flight = machine_.o + machine_.L;
    begin = clear_of(from.sends, begin, machine_.gap());
    begin = clear_of(from.receptions, begin, machine_.o);
    begin = clear_of(to.receptions, begin + flight, machine_.gap()) - flight;
    return clear_of(to.sends, begin + flight, machine_.o) - flight;
  }

  LogP machine_;
  std::vector<Port> ports_;
};

class Builder {
 public:
  Builder(const LogP& machine, const Problem& problem) : ports_(machine) {
    schedule_.machine = machine;
    schedule_.problem = problem;
  }

  std::int64_t P() const { return schedule_.machine.P; }
  Rank rank(std::int64_t place) const {
    return {static_cast<std::int32_t>((schedule_.problem.root.index + place) % P())};
  }

  /// Sends `part` as soon as possible from `ready` on; returns when it is there.
  Time send(std::int64_t from, std::int64_t to, Part part, Time ready) {
    const Time begin = ports_.place(rank(from), rank(to), ready);
    schedule_.sends.push_back({begin, rank(from), rank(to), part});
    return begin + schedule_.machine.lambda();
  }

  /// One item, or fold, down the tree.
  void spread(const std::vector<Branch>& branches, Part part, Time start) {
    std::vector<Time> has(static_cast<std::size_t>(P()), start);
    for (const Branch& b : branches) {
      has[static_cast<std::size_t>(b.child)] = send(b.parent, b.child, part, has[static_cast<std::size_t>(b.parent)]);
    }
  }

  Schedule finished() {
    schedule_.finish = actual_finish(schedule_);
    schedule_.bound = Time{0};
    normalise(schedule_);
    return std::move(schedule_);
  }

 private:
  Ports ports_;
  Schedule schedule_;
};

Part whole(const Builder& b) { return {0, static_cast<std::int32_t>(b.P())}; }
Part item(std::int64_t i) { return {static_cast<std::int32_t>(i), 1}; }

Schedule spread_items(PlainTree tree, const LogP& machine, const Problem& problem) {
  Builder builder(machine, problem);
  const auto branches = branches_of(tree, machine.P);
  for (std::int64_t i = 0; i < problem.items; ++i) builder.spread(branches, item(i), Time{0});
  return builder.finished();
}

Schedule gather_folds(PlainTree tree, const LogP& machine, const Problem& problem) {
  Problem forward = problem;
  forward.kind = Kind::broadcast;
  Schedule schedule = backwards(spread_items(tree, machine, forward), problem);
  if (names_items(problem)) return schedule;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(machine.P), 1);
  for (const Branch& b : branches_of(tree, machine.P)) sizes[static_cast<std::size_t>(b.child)] = b.size;
  for (Send& send : schedule.sends) {
    const std::int64_t place = (send.from.index - problem.root.index + machine.P) % machine.P;
    send.part = {send.from.index, static_cast<std::int32_t>(sizes[static_cast<std::size_t>(place)])};
  }
  return schedule;
}

Schedule gather_then_spread(PlainTree tree, const LogP& machine, const Problem& problem) {
  const Schedule up = gather_folds(tree, machine, {.kind = Kind::reduce});
  Builder builder(machine, problem);
  for (const Send& s : up.sends) builder.send(s.from.index, s.to.index, s.part, s.begin);
  builder.spread(branches_of(tree, machine.P), whole(builder), up.finish);
  return builder.finished();
}

/// Item r travels from the root down the tree to rank r, the farthest first.
Schedule route_items(PlainTree tree, const LogP& machine, const Problem& problem) {
  std::vector<std::int64_t> parent(static_cast<std::size_t>(machine.P), 0);
  for (const Branch& b : branches_of(tree, machine.P)) parent[static_cast<std::size_t>(b.child)] = b.parent;
  Builder builder(machine, problem);
  for (std::int64_t v = machine.P - 1; v > 0; --v) {
    std::vector<std::int64_t> path{v};
    while (path.back() != 0) path.push_back(parent[static_cast<std::size_t>(path.back())]);
    Time has{0};
    for (std::size_t i = path.size() - 1; i > 0; --i) {
      has = builder.send(path[i], path[i - 1], item(builder.rank(v).index), has);
    }
  }
  return builder.finished();
}

/// All-gather without a tree: everybody passes on to its right what came from its left, or sends its own items to everybody.
Schedule pass_round(const LogP& machine, const Problem& problem, bool ring) {
  Builder builder(machine, problem);
  const std::int64_t P = machine.P;
  const std::int64_t k = problem.items;
  std::vector<Time> has(static_cast<std::size_t>(P * k), Time{0});
  for (std::int64_t round = 1; round < P; ++round) {
    std::vector<Time> next(has.size());
    for (std::int64_t r = 0; r < P; ++r) {
      const std::int64_t to = ring ? (r + 1) % P : (r + round) % P;
      const std::int64_t owner = ring ? (r - round + 1 + P) % P : r;
      for (std::int64_t j = 0; j < k; ++j) {
        const Time ready = ring ? has[static_cast<std::size_t>(r * k + j)] : Time{0};
        next[static_cast<std::size_t>(to * k + j)] = builder.send(r, to, item(owner * k + j), ready);
      }
    }
    if (ring) has = next;
  }
  return builder.finished();
}

/// All-gather on a tree: items travel up to rank 0, and from there to all who have not yet seen them.
Schedule gather_then_spread_items(PlainTree tree, const LogP& machine, const Problem& problem) {
  const auto branches = branches_of(tree, machine.P);
  std::vector<std::int64_t> parent(static_cast<std::size_t>(machine.P), 0);
  for (const Branch& b : branches) parent[static_cast<std::size_t>(b.child)] = b.parent;
  Builder builder(machine, problem);
  const std::int64_t items = machine.P * problem.items;
  std::vector<std::vector<Time>> has(static_cast<std::size_t>(items),
                                     std::vector<Time>(static_cast<std::size_t>(machine.P), kNever));
  for (std::int64_t i = 0; i < items; ++i) {
    auto& seen = has[static_cast<std::size_t>(i)];
    std::int64_t v = i / problem.items;
    seen[static_cast<std::size_t>(v)] = Time{0};
    for (; v != 0; v = parent[static_cast<std::size_t>(v)]) {
      const std::int64_t up = parent[static_cast<std::size_t>(v)];
      seen[static_cast<std::size_t>(up)] = builder.send(v, up, item(i), seen[static_cast<std::size_t>(v)]);
    }
  }
  for (std::int64_t i = 0; i < items; ++i) {
    auto& seen = has[static_cast<std::size_t>(i)];
    for (const Branch& b : branches) {
      Time& there = seen[static_cast<std::size_t>(b.child)];
      if (there == kNever) there = builder.send(b.parent, b.child, item(i), seen[static_cast<std::size_t>(b.parent)]);
    }
  }
  return builder.finished();
}

/// All-to-all, every item on its own: straight, round the ring, or by the binary digits of the distance.
Schedule route_blocks(PlainTree tree, const LogP& machine, const Problem& problem) {
  Builder builder(machine, problem);
  const std::int64_t P = machine.P;
  for (std::int64_t distance = 1; distance < P; ++distance) {
    for (std::int64_t r = 0; r < P; ++r) {
      for (std::int64_t j = 0; j < problem.items; ++j) {
        Time has{0};
        std::int64_t at = r;
        for (std::int64_t left = distance; left > 0;) {
          const std::int64_t hop = tree == PlainTree::flat ? left : tree == PlainTree::chain ? 1 : left & -left;
          const std::int64_t to = (at + hop) % P;
          has = builder.send(at, to, item((r * P + (r + distance) % P) * problem.items + j), has);
          at = to;
          left -= hop;
        }
      }
    }
  }
  return builder.finished();
}

Schedule scan_doubling(const LogP& machine, const Problem& problem) {
  Builder builder(machine, problem);
  std::vector<Time> has(static_cast<std::size_t>(machine.P), Time{0});
  for (std::int64_t reach = 1; reach < machine.P; reach *= 2) {
    std::vector<Time> next = has;
    for (std::int64_t r = 0; r + reach < machine.P; ++r) {
      const std::int64_t lo = std::max<std::int64_t>(0, r - reach + 1);
      const Part part{static_cast<std::int32_t>(lo), static_cast<std::int32_t>(r - lo + 1)};
      next[static_cast<std::size_t>(r + reach)] = builder.send(r, r + reach, part, has[static_cast<std::size_t>(r)]);
    }
    has = next;
  }
  return builder.finished();
}

Schedule scan_chain(const LogP& machine, const Problem& problem) {
  Builder builder(machine, problem);
  Time has{0};
  for (std::int64_t r = 0; r + 1 < machine.P; ++r) {
    has = builder.send(r, r + 1, {0, static_cast<std::int32_t>(r + 1)}, has);
  }
  return builder.finished();
}

std::int64_t messages_at_most(PlainTree tree, const LogP& machine, const Problem& problem) {
  const std::int64_t P = machine.P;
  switch (problem.kind) {
    case Kind::alltoall: {
      const std::int64_t hops = tree == PlainTree::flat ? 1 : tree == PlainTree::chain ? P / 2 + 1 : 16;
      return saturating_multiply(saturating_multiply(P, P), saturating_multiply(problem.items, hops));
    }
    case Kind::reduce_scatter:
    case Kind::allgather: return saturating_multiply(saturating_multiply(P, P), problem.items);
    case Kind::scatter:
    case Kind::gather: return tree == PlainTree::chain ? saturating_multiply(P, P) / 2 : saturating_multiply(P, 16);
    case Kind::scan: return saturating_multiply(P, tree == PlainTree::chain ? 1 : 20);
    default: return saturating_multiply(saturating_multiply(P, 2), problem.items);
  }
}

}  // namespace

std::string_view to_string(PlainTree tree) {
  constexpr std::array<std::string_view, 3> kNames{"binomial", "chain", "flat"};
  return kNames[static_cast<std::size_t>(tree)];
}

std::string_view summary(PlainTree tree) {
  static constexpr std::array<std::string_view, 3> kSummaries = {
      "the tree that most libraries use: who has it sends to the farthest half", "from rank to rank",
      "the root serves everybody"};
  return kSummaries[static_cast<std::size_t>(tree)];
}

std::optional<PlainTree> plain_tree_from(std::string_view name) {
  for (const PlainTree tree : kPlainTrees) {
    if (name == to_string(tree)) return tree;
  }
  return std::nullopt;
}

PlainSchedule plain_schedule(PlainTree tree, const LogP& machine, const Problem& problem, std::int64_t most) {
  if (messages_at_most(tree, machine, problem) > most) return "it would have too many messages to be drawn";
  switch (problem.kind) {
    case Kind::broadcast: return spread_items(tree, machine, problem);
    case Kind::reduce:
      if (!problem.commutative && problem.root != Rank{0}) return "its folds are in rank order only for root 0";
      return gather_folds(tree, machine, problem);
    case Kind::allreduce:
      if (problem.items > 1) return "plain all-reduces have one item";
      [[fallthrough]];
    case Kind::barrier: return gather_then_spread(tree, machine, problem);
    case Kind::scatter: return route_items(tree, machine, problem);
    case Kind::gather: {
      Problem forward = problem;
      forward.kind = Kind::scatter;
      return backwards(route_items(tree, machine, forward), problem);
    }
    case Kind::allgather:
      if (tree == PlainTree::binomial) return gather_then_spread_items(tree, machine, problem);
      return pass_round(machine, problem, tree == PlainTree::chain);
    case Kind::alltoall: return route_blocks(tree, machine, problem);
    case Kind::reduce_scatter: {
      if (!problem.commutative && tree == PlainTree::binomial) return "its folds are not in rank order";
      const Problem forward{.kind = Kind::allgather, .items = problem.items};
      return backwards(std::get<Schedule>(plain_schedule(tree, machine, forward, most)), problem);
    }
    case Kind::scan:
      if (tree == PlainTree::chain) return scan_chain(machine, problem);
      if (tree == PlainTree::binomial) return scan_doubling(machine, problem);
      return "every rank needs a fold of its own: one rank that serves all does not help";
    default: return "streams and sums have plain forms of their own";
  }
}

Schedule plain_sum(PlainTree tree, const LogP& machine, std::int64_t n) {
  CHASQUI_CHECK(n >= 1, "n={}", n);
  const std::int64_t ranks = std::min(machine.P, n);
  Schedule schedule;
  schedule.machine = machine;
  schedule.problem = {.kind = Kind::sum};
  schedule.operands.assign(static_cast<std::size_t>(machine.P), 0);
  std::vector<Time> free(static_cast<std::size_t>(ranks));  // everything so far is added
  std::vector<Time> heard(free.size(), Time{0} - machine.gap());
  for (std::int64_t v = 0; v < ranks; ++v) {
    const std::int64_t own = n / ranks + (v < n % ranks ? 1 : 0);
    const Rank rank{static_cast<std::int32_t>(v)};
    schedule.operands[static_cast<std::size_t>(v)] = own;
    if (own > 1) schedule.adds.push_back({Time{0}, rank, rank, own - 1});
    free[static_cast<std::size_t>(v)] = Time{own - 1};
  }
  // From the leaves to the root, a parent's nearest child first: subtrees stay intervals, operands stay in order.
  std::vector<Branch> branches = branches_of(tree, ranks);
  std::sort(branches.begin(), branches.end(), [](const Branch& a, const Branch& b) {
    return std::pair(-a.parent, a.child) < std::pair(-b.parent, b.child);
  });
  for (const Branch& b : branches) {
    const auto child = static_cast<std::size_t>(b.child), parent = static_cast<std::size_t>(b.parent);
    const Time flight = machine.o + machine.L;
    const Time begin = std::max({free[child], free[parent] - flight, heard[parent] + machine.gap() - flight});
    const Rank from{static_cast<std::int32_t>(b.child)}, to{static_cast<std::int32_t>(b.parent)};
    schedule.sends.push_back({begin, from, to, {from.index, static_cast<std::int32_t>(b.size)}});
    heard[parent] = begin + flight;
    const Time there = begin + machine.lambda();
    schedule.adds.push_back({there, to, from, 1});
    free[parent] = there + Time{1};
  }
  schedule.finish = actual_finish(schedule);
  normalise(schedule);
  return schedule;
}

}  // namespace chasqui::plan
