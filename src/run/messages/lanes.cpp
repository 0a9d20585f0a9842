// SPDX-License-Identifier: MIT
#include "run/messages/lanes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {
namespace {

constexpr std::int64_t kLaneTicks = 1024;  ///< of a message's flight: plans have a table over time

/// Plans of this process, shared by its communicators (and by the ranks of a simulation).
plan::PlanPtr shared_cluster_plan(const Cluster& cluster, const Problem& problem) {
  static std::mutex mutex;
  static std::map<std::string, plan::PlanPtr> plans;
  constexpr std::size_t kMost = 1024;
  const std::string key = fmt::format("{} {} {}", to_string(problem.kind), problem.root.index, to_string(cluster));
  const std::lock_guard lock(mutex);
  if (const auto found = plans.find(key); found != plans.end()) return found->second;
  if (plans.size() >= kMost) plans.clear();
  return plans.emplace(key, plan::on_cluster(cluster, problem, plan::Lanes::one_entry)).first->second;
}

/// Pieces that a lane takes in a round, and the lanes that have some.
struct LaneShare {
  std::int64_t each, lanes;

  LaneShare(std::size_t pieces, std::int64_t most)
      : each(divide_up(static_cast<std::int64_t>(pieces), std::min(static_cast<std::int64_t>(pieces), most))),
        lanes(divide_up(static_cast<std::int64_t>(pieces), each)) {}
};

/// In a round a lane makes all its sends, then its receptions.
double windows_time(const std::vector<std::vector<plan::WindowPiece>>& rounds, std::int64_t lanes,
                    const LaneCosts& costs) {
  const Level& network = costs.network;
  const double o_r = network.o_r.value;
  double time = costs.allreduce;
  for (const auto& pieces : rounds) {
    const LaneShare share(pieces.size(), lanes);
    const auto each = static_cast<double>(share.each), further = static_cast<double>(share.lanes - 1);
    const double gap = std::max({costs.port, o_r, static_cast<double>(share.lanes) * costs.gamma});
    time += std::max(flight_time(network, costs.bytes) + (each - 1) * gap, each * (network.o_s.value + o_r)) +
            further * (costs.gamma + costs.more_reads) + costs.one_read;
  }
  return time;
}

/// One rank's program, step by step.
class LanesBuilder {
 public:
  LanesBuilder(const Shape& shape, const Nodes& nodes, const std::vector<int>& ranks)
      : shape_(shape), nodes_(nodes), ranks_(ranks), node_(nodes.node_of({shape.rank})),
        place_(static_cast<int>(shape.rank - nodes.first_rank(node_))) {}

  Program broadcast(const plan::Plan& plan) {
    const LocalForm form = plan.local({shape_.rank});
    const Range item{kOutput, shape_.bytes()};
    for (const Send& message : form.receives) program_.receive(rank(message.from), item);
    const bool publishes = !form.publications.empty();
    std::size_t sent = 0;
    for (; publishes && sent < form.sends.size() && form.sends[sent].begin < form.publications[0].begin; ++sent)
      program_.send(rank(form.sends[sent].to), item);
    if (publishes || !form.readings.empty()) {
      const Rank from = publishes ? form.rank : form.readings[0].from;
      program_.board({Kind::broadcast, from.index - shape_.rank + place_, 0, kOutput, kOutput, shape_.count});
    }
    for (; sent < form.sends.size(); ++sent) program_.send(rank(form.sends[sent].to), item);
    program_.finish();
    return std::move(program_);
  }

  /// The plan is a broadcast on so many lanes a node, backwards: lanes receive where it sends, and lane 0, who is the root or the
  /// first of its node, receives some more and sends on. Before anything arrives the board folds the node, at lane 0; then what
  /// the lanes have received. Where lanes are not the first ranks, or a slot cannot hold a value, one fold does for both: each
  /// lane folds what it receives into its own contribution, and all wait for the last lane.
  Program reduce(const LanePlan& planned, const LaneCosts& costs) {
    const plan::Plan& plan = *planned.plan;
    const std::int64_t lanes = planned.lanes;
    const std::int64_t first = nodes_.first_rank(node_), size = nodes_.size(node_);
    const bool at_root = nodes_.node_of({shape_.root}) == node_;
    const int leader = at_root ? static_cast<int>(shape_.root - first) : 0;
    const std::int64_t own_lane = modulo(place_ - leader, size);
    const auto form_of = [&](std::int64_t lane) {
      return plan.local({static_cast<std::int32_t>(node_ * lanes + lane)});
    };
    int used = 1;
    while (used < lanes && !form_of(used).sends.empty()) ++used;
    const LocalForm form = own_lane < lanes ? form_of(own_lane) : LocalForm{};
    const bool leads = own_lane == 0, twice = costs.in_slots && leader == 0 && used > 1;
    std::vector<Arrival> arrivals;
    std::size_t early = 0;  // before the lanes report
    for (auto send = form.sends.rbegin(); send != form.sends.rend(); ++send) {
      const Address at = program_.more_scratch(shape_.bytes());
      const std::int64_t child = send->to.index / lanes;
      arrivals.push_back(
          {program_.post(ranks_[static_cast<std::size_t>(nodes_.first_rank(child))], {at, shape_.bytes()}), at});
      if (!leads || used == 1 || send->begin >= form.publications.front().begin) ++early;
    }
    if (costs.network.shares_bandwidth) program_.begin(0);
    std::optional<Address> value = kInput;
    const auto fold_on_board = [&](int contributors) {
      const Address out = leads ? program_.more_scratch(shape_.bytes()) : kOutput;  // which nobody else gets
      program_.board({Kind::reduce, leader, contributors, value.value_or(out), out, shape_.count});
      value = leads ? std::optional(out) : std::nullopt;
    };
    if (size > 1 && (twice || used == 1)) fold_on_board(0);
    for (std::size_t i = 0; i < early; ++i) value = value ? with(*value, arrivals[i]) : arrived(arrivals[i]);
    if (size > 1 && used > 1) fold_on_board(twice ? used : 0);
    for (std::size_t i = early; i < arrivals.size(); ++i) value = with(*value, arrivals[i]);
    if (leads && !at_root && costs.network.shares_bandwidth) {
      // Messages that nobody takes yet would share the link with those that are wanted. The plan's times are rounded, and messages to the
      // lanes of a node share its link: what is sent that much early comes in time.
      const Time heard = available(plan.machine(), form.receives.front());
      const double turn = planned.nanoseconds - static_cast<double>(heard.ticks) * planned.tick;
      program_.pause(std::max(0.0, turn - planned.tick - static_cast<double>(lanes) * costs.gamma));
    }
    if (leads && !at_root) program_.send(parent_of(form.receives.front().from, lanes), {*value, shape_.bytes()});
    program_.finish();
    if (shape_.rank == shape_.root) program_.copy(kOutput, {*value, shape_.bytes()});
    return std::move(program_);
  }

  /// All-reduce or barrier. A node's values: that of its own ranks, what it knows of others, and both together.
  Program windows(const std::vector<std::vector<plan::WindowPiece>>& rounds, std::int64_t lanes) {
    const bool shares = nodes_.size(node_) > 1;
    Address own = kInput;
    if (shares) {
      own = program_.more_scratch(shape_.bytes());
      program_.board({shape_.kind, 0, 0, kInput, own, shape_.count});
    }
    std::optional<Address> others;
    Address all = own;
    for (const auto& pieces : rounds) {
      const LaneShare share(pieces.size(), lanes);
      const auto begin = static_cast<std::size_t>(std::min<std::int64_t>(place_ * share.each, std::ssize(pieces)));
      const std::size_t end = std::min(begin + static_cast<std::size_t>(share.each), pieces.size());
      std::vector<Arrival> arrivals;
      for (std::size_t c = begin; c < end; ++c) {
        const Address at = program_.more_scratch(shape_.bytes());
        arrivals.push_back({program_.post(same_place(node_ + pieces[c].sender), {at, shape_.bytes()}), at});
      }
      for (std::size_t c = begin; c < end; ++c) {
        const bool whole = pieces[c].sender == pieces[c].window;
        program_.send(same_place(node_ - pieces[c].sender), {whole ? all : *others, shape_.bytes()});
      }
      std::optional<Address> news;
      for (const Arrival& arrival : arrivals) {
        if (news) news = with(*news, arrival);
        else news = arrived(arrival);
      }
      if (shares) {
        const Address told = program_.more_scratch(shape_.bytes());
        program_.board({shape_.kind, 0, static_cast<int>(share.lanes), news.value_or(told), told, shape_.count});
        news = told;
      }
      others = others ? folded(*others, *news) : *news;
      all = folded(own, *others);
    }
    program_.finish();
    program_.copy(kOutput, {all, shape_.bytes()});
    return std::move(program_);
  }

 private:
  struct Arrival {
    std::int32_t post;
    Address at;
  };

  /// The rank that is a lane of its node in a plan with `lanes` ranks a node.
  int parent_of(Rank planned, std::int64_t lanes) const {
    const std::int64_t node = planned.index / lanes, first = nodes_.first_rank(node);
    const std::int64_t leader = nodes_.node_of({shape_.root}) == node ? shape_.root - first : 0;
    return ranks_[static_cast<std::size_t>(first + (leader + planned.index % lanes) % nodes_.size(node))];
  }

  int rank(Rank planned) const { return ranks_[static_cast<std::size_t>(planned.index)]; }
  int same_place(std::int64_t node) const {
    return ranks_[static_cast<std::size_t>(nodes_.first_rank(modulo(node, nodes_.count())) + place_)];
  }
  Address arrived(const Arrival& arrival) {
    program_.arrive(arrival.post);
    return arrival.at;
  }
  Address with(Address value, const Arrival& arrival) {
    const Address at = arrived(arrival);
    if (shape_.count != 0) program_.fold(value, at, at, shape_.count);
    return at;
  }
  Address folded(Address left, Address right) {
    const Address to = program_.more_scratch(shape_.bytes());
    if (shape_.count != 0) program_.fold(left, right, to, shape_.count);
    return to;
  }

  const Shape& shape_;
  const Nodes& nodes_;
  const std::vector<int>& ranks_;
  std::int64_t node_;
  int place_;
  Program program_;
};

}  // namespace

namespace {

LanePlan broadcast_plan(const SizedMachine& sized, const Nodes& nodes, int root, const LaneCosts& costs, double board) {
  Cluster cluster{sized.machine, nodes};
  cluster.base.P = nodes.ranks();
  const auto ticks = [&](double time) { return Time{std::llround(time / sized.tick)}; };
  cluster.nodes.gamma = std::min(ticks(costs.gamma), sized.machine.gap());
  cluster.nodes.publish = ticks(board * (1 - costs.read_share));
  cluster.nodes.read = ticks(board) - cluster.nodes.publish;
  if (cluster.nodes.publish + cluster.nodes.read > sized.machine.lambda()) return {};
  LanePlan planned{shared_cluster_plan(cluster, {.kind = Kind::broadcast, .root = {root}}), nodes.largest(), 0,
                   sized.tick};
  planned.nanoseconds = static_cast<double>(planned.plan->claim().finish.ticks) * sized.tick;
  return planned;
}

}  // namespace

LanePlan lane_plan(Kind kind, const Nodes& nodes, int root, const LaneCosts& costs) {
  if (kind == Kind::broadcast) {
    const auto sized = machine_for(costs.network, nodes.ranks(), costs.bytes, kLaneTicks);
    return broadcast_plan(sized, nodes, root, costs, costs.broadcast);
  }
  const auto sized = receiving_machine_for(costs.network, nodes.ranks(), costs.bytes, kLaneTicks);
  const std::int64_t root_node = nodes.node_of({root});
  LanePlan best;
  for (std::int64_t lanes = nodes.smallest(); lanes >= 2; lanes = costs.in_slots ? lanes / 2 : 0) {
    Nodes seen;
    seen.add(lanes, nodes.count());
    const double board =
        costs.in_slots ? costs.one_read + static_cast<double>(lanes - 1) * costs.more_reads : costs.reduce;
    LanePlan planned = broadcast_plan(sized, seen, static_cast<int>(root_node * lanes), costs, board);
    if (planned.plan == nullptr) continue;
    planned.nanoseconds +=
        costs.reduce - board;  // nodes fold first what they have, where the broadcast tells the last of them
    if (best.plan == nullptr || planned.nanoseconds < best.nanoseconds) best = std::move(planned);
  }
  return best;
}

LaneWindows lane_windows(std::int64_t N, std::int64_t lanes, const LaneCosts& costs) {
  LaneWindows best;
  for (std::int64_t rounds = 1;; ++rounds) {
    std::vector<std::int64_t> radices = plan::equal_radices(N, rounds);
    constexpr std::int64_t kMost = 4096;  // messages of a node in a round
    if (radices.front() > kMost) continue;
    const auto windows = plan::node_windows(N, radices);
    const double time = windows_time(windows, lanes, costs);
    const bool last = radices.front() == 2;
    if (best.radices.empty() || time < best.nanoseconds) {
      best = {std::move(radices), 1, time};
      for (const auto& pieces : windows) best.lanes = std::max(best.lanes, LaneShare(pieces.size(), lanes).lanes);
    }
    if (last) return best;
  }
}

Program lane_program(const Shape& shape, std::int64_t lanes, const Nodes& nodes, const std::vector<int>& ranks,
                     const LaneCosts& costs) {
  LanesBuilder builder(shape, nodes, ranks);
  if (shape.kind == Kind::allreduce || shape.kind == Kind::barrier) {
    const LaneWindows windows = lane_windows(nodes.count(), lanes, costs);
    return builder.windows(plan::node_windows(nodes.count(), windows.radices), lanes);
  }
  const LanePlan planned = lane_plan(shape.kind, nodes, shape.root, costs);
  CHASQUI_CHECK(planned.plan != nullptr, "no lanes for {} of {} bytes", to_string(shape.kind), shape.bytes());
  return shape.kind == Kind::broadcast ? builder.broadcast(*planned.plan) : builder.reduce(planned, costs);
}

}  // namespace chasqui::run
