// SPDX-License-Identifier: MIT
// Collectives of several nodes of which several ranks talk to the others side by side.
#include <algorithm>

#include "run/board/slots.hpp"
#include "run/choose/lane_cost.hpp"
#include "run/comm/tasks.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

/// The first ranks of the node have something for all.
Task fold_of_some(Board& board, Call call, int contributors) {
  SlotCall state(board, call, contributors);
  co_await until([&] { return state.poll(); });
}

}  // namespace

Task Tasks::by_lanes(Call call, std::int64_t lanes, std::uint32_t tag) {
  Shape shape = shape_of(call, fabric_.rank, fabric_.size);
  const auto program = plans_.program({shape, Method::two_level, lanes, false}, [&] {
    const std::vector<int> ranks = nodes_.in_order();
    const auto place = [&](int rank) {
      return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    };
    shape.rank = place(shape.rank);
    shape.root = place(shape.root);
    return in_pieces(
        program_on_lanes(shape, query_of(call), lanes, nodes_.sizes(), ranks, topology(), selection_.profile()),
        fabric_.piece);
  });
  if (program->list.empty()) {
    co_await in_two_levels(*this, call, tag);
    co_return;
  }
  // Shares of different counts may have one length: the ranks of a node compare what was called before what is done for it.
  Signature called = signature_of(call);
  called.what |= Signature::kOfCommunicator;
  fabric_.board->pass_by(called);
  const Group group = all_ranks(tag);
  Scratch scratch;
  scratch.fit(*program);
  Buffers buffers = buffers_of(call, fabric_.rank);
  AlignedBuffer own;  // of a scatter in place, whose root keeps its block
  if (call.kind == Kind::scatter && call.out == nullptr) buffers.output = own.grown_to(call.bytes());
  Player player(*program, group, buffers, call.op, scratch);
  const int place = nodes_.place_of(fabric_.rank);
  for (const BoardStep& step : program->steps) {
    co_await player;
    Call inner = call;
    inner.kind = step.kind;
    inner.root = step.root;
    inner.count = static_cast<std::int64_t>(step.count);
    inner.exclusive = step.exclusive;
    const bool gives = step.kind != Kind::scatter || place == step.root;
    const bool gets = step.kind != Kind::gather || place == step.root;
    inner.in = gives && !(gets && step.in == step.out) ? player.at(step.in) : nullptr;
    inner.out = gets ? player.at(step.out) : nullptr;
    if (step.contributors != 0) co_await fold_of_some(*fabric_.board, inner, step.contributors);
    else co_await inside_node(inner);
  }
  co_await player;
}

}  // namespace chasqui::run
