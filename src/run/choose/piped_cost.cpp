// SPDX-License-Identifier: MIT
#include "run/choose/piped_cost.hpp"

#include <algorithm>
#include <vector>

#include "run/choose/board_cost.hpp"
#include "run/choose/by_messages.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/piped.hpp"
#include "run/messages/sized_machine.hpp"

namespace chasqui::run {
namespace {

double item_on_board(Kind kind, double bytes, const Topology& topology, const Profile& profile) {
  return board_time(profile, kind, bytes, topology.largest_node, topology.shares_memory);
}

/// What a collective in items is made of.
std::vector<Kind> ways_of(Kind kind) {
  if (kind == Kind::allreduce) return {Kind::reduce, Kind::broadcast};
  return {kind};
}

}  // namespace

std::optional<Piped> piped_leaders(const Query& query, const Topology& topology, const Profile& profile) {
  const bool reduces = (query.kind == Kind::reduce || query.kind == Kind::allreduce) && query.commutative;
  if (!topology.board || topology.nodes < 2 || topology.largest_node < 2 || !topology.messages) return {};
  if (query.kind != Kind::broadcast && !reduces) return {};
  const Level& network = message_level(topology, profile);
  const auto bytes = static_cast<double>(query.bytes);
  const auto elements = static_cast<std::int64_t>(query.bytes / query.element);
  const std::int64_t most = std::min<std::int64_t>({elements, static_cast<std::int64_t>(query.bytes / 1024), 1024});
  std::optional<Piped> best;
  for (std::int64_t items = 2; items <= most; items += std::max<std::int64_t>(1, items / 8)) {
    const double item = bytes / static_cast<double>(items);
    double time = 0;
    for (const Kind kind : ways_of(query.kind)) {
      const double board = item_on_board(kind, item, topology, profile);
      const auto sized = item_machine(with_board(network, kind, board / 2), topology.nodes, item);
      time += items_time(sized, network, flight_time(network, item), items) + board;
    }
    if (!best || time < best->nanoseconds) best = {items, time};
  }
  if (!best) return {};
  const int nodes = topology.nodes;
  double apart = fastest(choices_by_messages(query, network, nodes, nodes, profile)).nanoseconds;
  for (const Kind kind : ways_of(query.kind)) apart += item_on_board(kind, bytes, topology, profile);
  return best->nanoseconds < apart ? best : std::nullopt;
}

}  // namespace chasqui::run
