// SPDX-License-Identifier: MIT
// Collectives of several nodes of which several ranks talk to the others side by side.
#include <algorithm>

#include "run/board/slots.hpp"
#include "run/choose/lane_cost.hpp"
#include "run/comm/engine.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

/// The first ranks of the node have something for all.
Task fold_of_some(Board& board, Call call, int contributors) {
  SlotCall state(board, call, contributors);
  co_await until([&] { return state.poll(); });
}

}  // namespace

Task Engine::by_lanes(Call call, std::int64_t lanes, std::uint32_t tag) {
  Shape shape = shape_of(call, rank_, size_);
  const auto program = plans_.program({shape, Method::two_level, lanes, false}, [&] {
    const std::vector<int> ranks = nodes_.in_order();
    const auto place = [&](int rank) {
      return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    };
    shape.rank = place(shape.rank);
    shape.root = place(shape.root);
    const LaneCosts costs = lane_costs(query_of(call), topology_, *fabric_.profile);
    return in_pieces(lane_program(shape, lanes, nodes_.sizes(), ranks, costs), fabric_.piece);
  });
  const Group group = group_of(tag);
  Scratch scratch;
  scratch.fit(*program);
  Player player(*program, group, buffers_of(call, rank_), call.op, scratch);
  for (const BoardStep& step : program->steps) {
    co_await player;
    Call inner = call;
    inner.kind = step.kind;
    inner.root = step.root;
    inner.in = step.kind == Kind::broadcast ? nullptr : player.at(step.in);
    inner.out = player.at(step.out);
    if (step.contributors != 0) co_await fold_of_some(*fabric_.board, inner, step.contributors);
    else co_await inside_node(inner);
  }
  co_await player;
}

}  // namespace chasqui::run
