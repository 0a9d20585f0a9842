// SPDX-License-Identifier: MIT
#include "run/choose/network_cost.hpp"

#include <algorithm>

#include "run/board/shape.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/line_cost.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {

bool knows_nodes(const Level& network) { return network.node_g.high > 0 || network.node_G.high > 0; }

double node_gap(const Level& network, double bytes) {
  const double gap = network.node_gap(port_time(network, 0));
  return std::min(port_time(network, bytes), std::max(gap, node_gap_per_byte(network) * bytes));
}

double node_gap_per_byte(const Level& network) { return knows_nodes(network) ? network.node_G.value : network.G.value; }

Profile with_shared_adapter(const Profile& profile, const Topology& topology, int lanes) {
  Profile shared = profile;
  const Level& network = message_level(topology, profile);
  for (Level& level : shared.levels) {
    if (level.name != network.name) continue;
    level.G.value = std::max(level.G.value, lanes * node_gap_per_byte(network));
    level.g.value = std::max(level.g.value, lanes * node_gap(network, 0));
    if (level.lane_gaps.empty()) continue;
    const Level busy = with_everybody_sending(network, profile, {topology.nodes, lanes});
    level.lane_gaps = {{1, busy.g, busy.G}};
  }
  return shared;
}

Nodes sizes_alike(const Topology& topology) {
  const std::int64_t N = topology.nodes, smallest = topology.smallest_node, more = topology.largest_node - smallest;
  Nodes nodes;
  if (more == 0) {
    nodes.add(smallest, N);
    return nodes;
  }
  const std::int64_t rest = topology.ranks - N * smallest, large = rest / more, between = rest % more;
  if (large > 0) nodes.add(topology.largest_node, large);
  if (between > 0) nodes.add(smallest + between);
  nodes.add(smallest, N - large - (between > 0 ? 1 : 0));
  return nodes;
}

std::int64_t usual_node(const Nodes& nodes) {
  return nodes.uniform() ? 0 : nodes.node_of({static_cast<std::int32_t>(nodes.ranks() / 2)});
}

bool fits_slot(const Query& query, const Topology& topology) {
  return query.bytes <= std::max(kSlotPayload, BoardShape::for_slots(topology.largest_node).wide);
}

LaneCosts lane_costs(const Query& query, const Topology& topology, const Profile& profile) {
  LaneCosts costs;
  costs.network = message_level(topology, profile);
  costs.bytes = static_cast<double>(query.bytes);
  const int ranks = topology.largest_node;
  if (symmetric(query.kind) && !costs.network.lane_gaps.empty()) {
    costs.network = with_everybody_sending(costs.network, profile, {topology.nodes, ranks});
    costs.port = crowded_port_time(costs.network, costs.bytes);
    costs.gamma = costs.port / ranks;
  } else {
    costs.port = port_time(costs.network, costs.bytes);
    costs.gamma = node_gap(costs.network, costs.bytes);
  }
  const auto on_board = [&](Kind kind) {
    return board_time(profile, kind, costs.bytes, ranks, topology.shares_memory);
  };
  costs.broadcast = on_board(Kind::broadcast);
  if (const Level* node = profile.level("node")) costs.read_share = node->read_share();
  costs.reduce = on_board(Kind::reduce);
  costs.allreduce = on_board(symmetric(query.kind) ? query.kind : Kind::allreduce);
  const LineCosts lines = line_costs(profile, ranks);
  const bool beside = query.bytes > kSlotPayload;
  const double further = query.bytes > kLinePayload ? kTwoLines : 1;
  costs.one_read = beside ? costs.broadcast : further * lines.publish;
  const double all = beside_lines_time(lines, Method::slots, Kind::allreduce, costs.bytes) - lines.publish;
  costs.more_reads = beside ? all / (ranks - 1) : further * lines.each;
  costs.in_slots = fits_slot(query, topology);
  return costs;
}

}  // namespace chasqui::run
