// SPDX-License-Identifier: MIT
#include "run/choose/by_messages.hpp"

#include <algorithm>
#include <cmath>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/pattern_cost.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/sized_machine.hpp"

namespace chasqui::run {

const Level& message_level(const Topology& topology, const Profile& profile) {
  const Level* found = profile.level(topology.nodes > 1 || !topology.board ? "network" : "node");
  return found != nullptr ? *found : profile.levels.front();
}

bool goes_by(Method method, const Query& query) {
  const Kind kind = query.kind;
  const bool reorders = (kind == Kind::reduce || kind == Kind::allreduce) && query.commutative;
  const bool scatters = kind == Kind::reduce_scatter && query.commutative;
  switch (method) {
    case Method::tree: return kind != Kind::allgather && !exchanges(kind);
    case Method::items: return kind == Kind::broadcast || kind == Kind::barrier || reorders;
    case Method::exchange: return kind == Kind::broadcast || reorders || scatters;
    case Method::windows: return kind == Kind::allgather || exchanges(kind);
    case Method::messages:
      return kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter || exchanges(kind);
    default: return false;
  }
}

namespace {

constexpr int kLargestRadix = 256;  ///< beyond, choosing itself would take long

class ByMessages {
 public:
  ByMessages(const Query& query, const Level& level, int ranks, int nodes, const Profile& profile)
      : query_(query), level_(level), crowd_(with_everybody_sending(level, profile, Senders::of(ranks, nodes))),
        ranks_(ranks) {}

  std::vector<Choice> all() {
    const Kind kind = query_.kind;
    const bool symmetric = kind == Kind::allreduce || kind == Kind::barrier || kind == Kind::scan;
    if (exchanges(kind)) by_digits();
    else if (goes_by(Method::windows, query_)) windows(Method::windows);
    if (goes_by(Method::messages, query_)) direct_messages();
    if (goes_by(Method::tree, query_)) {
      if (symmetric) windows(Method::tree);
      else tree();
    }
    if (goes_by(Method::items, query_)) items(symmetric ? 2 : 1);
    if (goes_by(Method::exchange, query_)) exchange();
    return std::move(list_);
  }

 private:
  double bytes() const { return static_cast<double>(query_.bytes); }

  static double tree_time(const SizedMachine& sized) {
    return static_cast<double>(plan::broadcast_time(plan::broadcast_shape(sized.machine), sized.machine.P).ticks) *
           sized.tick;
  }

  void tree() {
    const bool blocks = query_.kind == Kind::gather || query_.kind == Kind::scatter;
    const bool receives = query_.kind == Kind::reduce;
    const double time =
        tree_time((receives ? receiving_machine_for : machine_for)(level_, ranks_, blocks ? 0 : bytes(), kTreeTicks));
    list_.push_back({Method::tree, blocks ? with_blocks(time) : time, 1, "optimal tree of one message a rank"});
  }

  /// The tree of empty messages takes `empty`; in a gather or scatter every block passes the root's port beside that. Where
  /// bandwidth is shared blocks overlap with the tree: within a sixth of simulated times (16 and 64 ranks, two networks). Where
  /// receives go on at a time the heaviest path counts, a third of the blocks at most there. A twentieth more for the memory that
  /// ranks on the way need: long blocks, where there is nothing to gain, go straight.
  double with_blocks(double empty) const {
    const double all = 1.05 * bytes() * level_.G.value * (ranks_ - 1);
    if (query_.kind == Kind::scatter) return empty + (level_.shares_bandwidth ? 1.15 : 1) * all;
    if (level_.shares_bandwidth) return std::max(empty + all / 2, flight_time(level_, 0) + all);
    return empty + (level_.receives_in_parallel ? all / 3 : all);
  }

  /// Of a pattern of folds in which all ranks send. Where they share something, and where lanes were measured, its waves do not overlap, as
  /// in supersteps. Whether those of blocks that nobody folds do was not measured there; where nothing is shared, simulated all-gathers took
  /// what symmetric_time() says (bench/data/smpi.csv).
  double everybody_time(const LocalPlan& plan, double block) const {
    const double time = symmetric_time(plan, crowd_, block);
    const bool apart = crowd_ == level_ && level_.lane_gaps.empty();
    return apart ? time : std::max(time, superstep_time(plan, crowd_, block));
  }

  /// Symmetric plans that fold whole contributions: parts 0 is the plan for ranks that share something, 1 that for a rank alone.
  void windows(Method method) {
    const double size = query_.kind == Kind::barrier ? 0 : bytes();
    const bool blocks = method == Method::windows;
    const auto plan_for = [&](const Level& seen) {
      Shape shape{.kind = blocks ? Kind::allgather : Kind::allreduce, .size = ranks_};
      shape.count = static_cast<std::size_t>(size);
      return local_plan(shape, method, 1, seen);
    };
    const auto time_of = [&](LocalPlan plan) {
      if (blocks) return symmetric_time(plan, crowd_, size);
      for (auto& send : plan.form.sends) send.part.len = 1;
      for (auto& send : plan.form.receives) send.part.len = 1;
      return everybody_time(plan, size);
    };
    list_.push_back({method, time_of(plan_for(crowd_)), 0, "rounds of the optimal all-reduce plan"});
    if (!blocks && query_.kind != Kind::scan && !(crowd_ == level_)) {
      list_.push_back({method, time_of(plan_for(level_)), 1, "rounds of the plan for one rank alone"});
    }
    for (const int radix : blocks ? radices(ranks_) : std::vector<int>()) {
      list_.push_back({method, symmetric_time(circulant(ranks_, 0, radix), crowd_, size), radix, "circulant windows"});
    }
  }

  /// Radices of circulant windows worth a look: those that need fewer rounds than the one before.
  static std::vector<int> radices(int ranks) {
    std::vector<int> list = {2};
    for (int radix = 3; radix <= std::min(4, ranks); ++radix)
      list.push_back(radix);  // more than the ranks is the same again
    for (int rounds = 4; rounds >= 1; --rounds) {
      int radix = list.back();
      while (radix <= kLargestRadix && std::pow(radix, rounds) < ranks) ++radix;
      if (radix > list.back() && radix <= kLargestRadix) list.push_back(radix);
    }
    return list;
  }

  /// Blocks on their way to all, several in one message.
  void by_digits() {
    for (const int radix : radices(ranks_)) {
      if (radix >= ranks_) break;  // straight
      list_.push_back({Method::windows, symmetric_time(by_distance(ranks_, 0, radix), crowd_, bytes()), radix,
                       "several blocks in a message, by digits of the distance"});
    }
  }

  void exchange() {
    const double block = query_.kind == Kind::reduce_scatter ? bytes() : bytes() / ranks_;
    for (const int radix : radices(ranks_)) {
      const LocalPlan windows = circulant(ranks_, 0, radix);
      const double gather = everybody_time(windows, block);
      LocalPlan reversed = windows;
      reversed.reversed = true;
      const double folding = everybody_time(reversed, block);
      // Blocks between the root and all, along the tree.
      const double rooted = tree_time(machine_for(level_, ranks_, 0, kTreeTicks)) + bytes() * level_.G.value;
      switch (query_.kind) {
        case Kind::broadcast:
          list_.push_back({Method::exchange, rooted + gather, radix, "scatter, then all-gather, in rounds"});
          break;
        case Kind::reduce_scatter:
          list_.push_back({Method::exchange, folding, radix, "all-gather in rounds, backwards"});
          break;
        case Kind::reduce:
          list_.push_back({Method::exchange, folding + rooted, radix, "reduce-scatter, then gather, in rounds"});
          break;
        default:
          list_.push_back({Method::exchange, folding + gather, radix, "reduce-scatter, then all-gather, in rounds"});
      }
    }
  }

  /// The buffer in k items along the k-item plan (twice for all-reduce: there and back); the best k.
  void items(int times) {
    const std::int64_t elements = static_cast<std::int64_t>(query_.bytes / std::max<std::size_t>(1, query_.element));
    const std::int64_t most = std::min<std::int64_t>({elements, static_cast<std::int64_t>(query_.bytes / 256), 4096});
    Choice best;
    if (times == 2) {  // one item: the tree, there and back
      best = {Method::items, 2 * tree_time(machine_for(level_, ranks_, bytes(), kTreeTicks)), 1,
              "along a tree, there and back"};
    }
    for (std::int64_t k = 2; k <= most; k += std::max<std::int64_t>(1, k / 8)) {
      const double item = bytes() / static_cast<double>(k);
      const double time = times * items_time(item_machine(level_, ranks_, item), level_, flight_time(level_, item), k);
      if (best.nanoseconds == 0 || time < best.nanoseconds)
        best = {Method::items, time, k, "cut into items that follow each other"};
    }
    if (best.nanoseconds > 0) list_.push_back(best);
  }

  void direct_messages() {
    const bool everybody = query_.kind == Kind::allgather || exchanges(query_.kind);
    const Level& level = everybody ? crowd_ : level_;
    double gap = everybody                     ? spread_step(level, bytes())
                 : query_.kind == Kind::gather ? receive_port_time(level, bytes())
                                               : port_time(level, bytes());
    // Where bandwidth is shared the receiver's own work comes beside the link.
    if (query_.kind == Kind::gather && level.shares_bandwidth)
      gap = std::max(gap, level.o_r.value + level.G.value * bytes());
    list_.push_back(
        {Method::messages, flight_time(level, bytes()) + (ranks_ - 2) * gap, 1, "every block straight to its reader"});
  }

  const Query& query_;
  const Level& level_;  ///< as one rank sees it that sends alone
  const Level crowd_;   ///< as it sees it while all send
  int ranks_;
  std::vector<Choice> list_;
};

}  // namespace

std::vector<Choice> choices_by_messages(const Query& query, const Level& level, int ranks, int nodes,
                                        const Profile& profile) {
  return ByMessages(query, level, ranks, nodes, profile).all();
}

const Choice& fastest(const std::vector<Choice>& choices) {
  CHASQUI_CHECK(!choices.empty(), "nothing applies, choices={}", choices.size());
  return *std::min_element(choices.begin(), choices.end(),
                           [](const Choice& a, const Choice& b) { return a.nanoseconds < b.nanoseconds; });
}

}  // namespace chasqui::run
