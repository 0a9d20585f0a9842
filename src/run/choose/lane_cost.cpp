// SPDX-License-Identifier: MIT
#include "run/choose/lane_cost.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "run/board/shape.hpp"
#include "run/choose/board_cost.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {
namespace {

/// Of how many ranks an adapter takes the messages at a time, where nobody has measured it. Adapters of today carry the messages
/// of more than four; the bytes of one rank are taken to fill them.
constexpr double kRanksAtATime = 4;

bool knows_nodes(const Level& network) { return network.node_g.high > 0 || network.node_G.high > 0; }

double node_gap(const Level& network, double bytes) {
  const double gap = knows_nodes(network) ? network.node_g.value : port_time(network, 0) / kRanksAtATime;
  return std::min(port_time(network, bytes), std::max(gap, node_gap_per_byte(network) * bytes));
}

bool symmetric(Kind kind) { return kind == Kind::allreduce || kind == Kind::barrier; }

}  // namespace

double node_gap_per_byte(const Level& network) { return knows_nodes(network) ? network.node_G.value : network.G.value; }

bool takes_lanes(const Query& query, const Topology& topology) {
  if (!topology.board || topology.nodes < 2 || topology.smallest_node < 2 || !query.commutative) return false;
  if (query.kind == Kind::broadcast || query.kind == Kind::reduce) return true;
  // What the lanes of a node tell it lies in slots; those of larger boards may be shorter.
  const std::size_t slot = std::max(kSlotPayload, BoardShape::for_ranks(topology.largest_node).wide);
  return symmetric(query.kind) && query.bytes <= slot;
}

LaneCosts lane_costs(const Query& query, const Topology& topology, const Profile& profile) {
  LaneCosts costs;
  costs.network = message_level(topology, profile);
  costs.bytes = static_cast<double>(query.bytes);
  costs.gamma = node_gap(costs.network, costs.bytes);
  const int ranks = topology.largest_node;
  const auto on_board = [&](Kind kind) {
    return board_time(profile, kind, costs.bytes, ranks, topology.shares_memory);
  };
  costs.broadcast = on_board(Kind::broadcast);
  costs.reduce = on_board(Kind::reduce);
  costs.allreduce = on_board(symmetric(query.kind) ? query.kind : Kind::allreduce);
  const LineCosts lines = line_costs(profile, ranks);
  const bool beside = query.bytes > kSlotPayload;
  const double further = query.bytes > kLinePayload ? kTwoLines : 1;
  costs.one_read = beside ? costs.broadcast : further * lines.publish;
  const double all = beside_lines_time(lines, Method::slots, Kind::allreduce, costs.bytes) - lines.publish;
  costs.more_reads = beside ? all / (ranks - 1) : further * lines.each;
  return costs;
}

std::optional<Choice> on_lanes(const Query& query, const Topology& topology, const Profile& profile) {
  if (!takes_lanes(query, topology)) return {};
  const LaneCosts costs = lane_costs(query, topology, profile);
  const std::int64_t N = topology.nodes, n = topology.smallest_node;
  if (symmetric(query.kind)) {
    std::optional<LaneWindows> best;
    for (std::int64_t lanes = n; lanes >= 2; lanes /= 2) {
      LaneWindows tried = lane_windows(N, lanes, costs);
      if (tried.lanes > 1 && (!best || tried.nanoseconds < best->nanoseconds)) best = std::move(tried);
    }
    if (!best) return {};
    const std::size_t rounds = best->radices.size();
    return Choice{Method::two_level, best->nanoseconds, best->lanes,
                  fmt::format("{} lanes a node, {} round{} of radix {}", best->lanes, rounds, rounds == 1 ? "" : "s",
                              best->radices.front())};
  }
  Nodes nodes;
  nodes.add(n, N);
  const LanePlan planned = lane_plan(query.kind, nodes, 0, costs);
  if (planned.plan == nullptr) return {};
  std::int64_t lanes = 0;
  for (std::int32_t rank = 0; rank < n; ++rank) {
    const LocalForm form = planned.plan->local({rank});
    if (!form.sends.empty() || !form.receives.empty()) ++lanes;
  }
  if (lanes < 2) return {};
  return Choice{Method::two_level, static_cast<double>(planned.plan->claim().finish.ticks) * planned.tick, lanes,
                fmt::format("{} lanes a node, the tree of the cluster", lanes)};
}

std::string reason_for_lanes(const Query& query, const Topology& topology, const Profile& profile) {
  if (!takes_lanes(query, topology)) return {};
  const LaneCosts costs = lane_costs(query, topology, profile);
  return fmt::format("a rank can send every {:.3g} us, a node every {:.3g} us{}",
                     port_time(costs.network, costs.bytes) / 1e3, costs.gamma / 1e3,
                     knows_nodes(costs.network) ? "" : " (a guess)");
}

}  // namespace chasqui::run
