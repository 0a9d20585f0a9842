// SPDX-License-Identifier: MIT
#include "run/comm/tasks.hpp"

#include "run/board/collectives.hpp"
#include "run/board/process_memory.hpp"
#include "run/board/slots.hpp"
#include "run/comm/alone.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

Task alone(Call call) {
  run_alone(call);
  co_return;
}

template <typename State>
Task small(Board& board, Call call) {
  State state(board, call);
  co_await until([&] { return state.poll(); });
}

}  // namespace

Group Tasks::all_ranks(std::uint32_t tag) const {
  return {fabric_.messages.get(), {}, fabric_.rank, fabric_.size, tag, fabric_.timing};
}

Machine Tasks::machine() const {
  const Profile& profile = selection_.profile();
  return {message_level(topology(), profile), profile, topology().nodes};
}

Task Tasks::on_board(Call call, Method method) {
  Board& board = *fabric_.board;
  switch (method) {
    case Method::slots: return small<SlotCall>(board, call);
    case Method::relay: return small<Relay>(board, call);
    case Method::grouped_fold:
      if (call.op.in_order) return small<SlotCall>(board, call);
      return small<GroupedFold>(board, call);
    case Method::level_fold:
      if (call.op.in_order) return small<SlotCall>(board, call);
      return small<LevelFold>(board, call);
    case Method::shared_fold: return small<SharedFold>(board, call);
    case Method::exposed_fold: return small<ExposedFold>(board, call);
    case Method::direct: return direct(board, call);
    case Method::cross_memory: return cross_memory(board, *fabric_.process_memory, call);
    default:
      if (!call.exchanges()) return staged(board, call);
      return staged_exchange(board, topology().cross_memory ? fabric_.process_memory.get() : nullptr, call);
  }
}

Task Tasks::inside_node(Call call) {
  const Query query = query_of(call);
  return on_board(call, *selection_.board_methods().ours(query.kind, query.bytes, query.element));
}

Task Tasks::of(Call call, Choice choice, std::uint32_t tag) {
  if (fabric_.size == 1) return alone(call);
  if (run::on_board(choice.method)) return on_board(call, choice.method);
  if (choice.method == Method::two_level) return by_lanes(call, choice.parts, tag);
  return by_messages(all_ranks(tag), call, choice);
}

std::shared_ptr<const Program> Tasks::program_for(const Group& group, const Call& call, const Choice& choice) {
  const Shape shape = shape_of(call, group.rank, group.size);
  return plans_.program({shape, choice.method, choice.parts, false}, [&] {
    return in_pieces(program_of(shape, choice.method, choice.parts, machine()), fabric_.piece);
  });
}

Task Tasks::by_messages(Group group, Call call, Choice choice) {
  const Buffers buffers = buffers_of(call, group.rank);
  auto program =
      call.uneven()
          ? std::make_shared<const Program>(in_pieces(uneven_program(call, group.rank, group.size), fabric_.piece))
          : program_for(group, call, choice);
  co_await play(std::move(group), std::move(program), buffers, call.op);
}

}  // namespace chasqui::run
