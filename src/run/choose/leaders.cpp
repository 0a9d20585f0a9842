// SPDX-License-Identifier: MIT
#include "run/choose/leaders.hpp"

#include <vector>

#include "chasqui/base/error.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/by_messages.hpp"

namespace chasqui::run {
namespace {

/// A leader speaks for a whole node: in place of a block for a rank there is one for all ranks of a node.
Query between_nodes(Query query, std::size_t node) {
  switch (query.kind) {
    case Kind::gather:
    case Kind::scatter:
    case Kind::allgather:
    case Kind::reduce_scatter: query.bytes *= node; break;
    case Kind::alltoall: query.bytes *= node * node; break;
    default: break;
  }
  return query;
}

}  // namespace

Choice leaders_choice(const Query& query, const Topology& topology, const Profile& profile) {
  const Query between = between_nodes(query, static_cast<std::size_t>(topology.largest_node));
  auto list = choices_by_messages(between, message_level(topology, profile), topology.nodes, topology.nodes, profile);
  // The blocks of nodes differ: where there are exchanges, none of them waits for others.
  if (exchanges(query.kind)) std::erase_if(list, [](const Choice& each) { return each.method == Method::windows; });
  Choice best = fastest(list);
  best.why.clear();
  return best;
}

double leaders_boards_time(const Query& query, const Topology& topology, const Profile& profile) {
  const double bytes = static_cast<double>(query.bytes), all = bytes * topology.ranks;
  const auto board = [&](Kind kind, double size) {
    return board_time(profile, kind, size, topology.largest_node, false);
  };
  switch (query.kind) {
    case Kind::broadcast:
    case Kind::reduce:
    case Kind::gather:
    case Kind::scatter: return board(query.kind, bytes);
    case Kind::allreduce:
    case Kind::barrier: return board(Kind::reduce, bytes) + board(Kind::broadcast, bytes);
    case Kind::allgather: return board(Kind::gather, bytes) + board(Kind::broadcast, all);
    case Kind::alltoall: return board(Kind::gather, all) + board(Kind::scatter, all);
    case Kind::reduce_scatter: return board(Kind::reduce, all) + board(Kind::scatter, bytes);
    case Kind::scan: return board(Kind::scan, bytes) + board(Kind::broadcast, bytes);
    default: break;
  }
  CHASQUI_CHECK(false, "{} has no buffers", to_string(query.kind));
  return 0;
}

}  // namespace chasqui::run
