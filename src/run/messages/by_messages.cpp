// SPDX-License-Identifier: MIT
// From a call and a choice to the task that runs it.
#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/run/comm.hpp"
#include "run/board/collectives.hpp"
#include "run/board/slots.hpp"
#include "run/call/alone.hpp"
#include "run/comm/plan_cache.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

template <typename State>
Task small(Board& board, Call call) {
  State state(board, call);
  co_await until([&] { return state.poll(); });
}

}  // namespace

std::vector<Choice> Comm::choices_for(const Call& call) const {
  const Query query{call.kind, call.kind == Kind::barrier ? 0 : call.bytes(), call.element,
                    call.op.combine == nullptr || call.op.commutative};
  auto list = choices(query, terrain_, profile());
  if (!fabric_.native) std::erase_if(list, [](const Choice& choice) { return choice.method == Method::native; });
  return list;
}

/// own: the library's collective is left out, as it cannot be started.
const Choice& Comm::choose(const Call& call, bool own) {
  const auto native = [](const Choice& choice) { return choice.method == Method::native; };
  if (forced_ && !(own && native(*forced_))) return *forced_;
  const Cached::ChoiceKey key{call.kind, call.bytes(), call.element, call.op.commutative, own};
  if (const auto found = cached_->choices.find(key); found != cached_->choices.end()) return found->second;
  if (cached_->choices.size() >= Cached::kMost) cached_->choices.clear();
  const auto list = choices_for(call);
  const auto chosen = own ? std::find_if_not(list.begin(), list.end(), native) : list.begin();
  return cached_->choices.emplace(key, chosen != list.end() ? *chosen : Choice{}).first->second;
}

const Level& Comm::level() const { return message_level(terrain_, profile()); }

Task Comm::on_board(Call call) {
  switch (way_of(*fabric_.board, call)) {
    case Way::slots: return small<SmallCall>(*fabric_.board, call);
    case Way::led: return small<LedFold>(*fabric_.board, call);
    case Way::dealt:
    case Way::lent: return small<DealtFold>(*fabric_.board, call);
    case Way::direct: return direct(*fabric_.board, call);
    default: return staged(*fabric_.board, call);
  }
}

Task Comm::task_of(Call call, Choice choice, std::uint32_t tag) {
  switch (choice.method) {
    case Method::slots:
    case Method::staged:
    case Method::direct:
      if (fabric_.board != nullptr) return on_board(call);
      break;
    case Method::across:  // forced, maybe, for a call that has no such way
      if (terrain_.reaches && goes_across(call.kind) && call.bytes() > kSlotPayload) {
        return across(*fabric_.board, *fabric_.reach, call);
      }
      if (fabric_.board != nullptr) return on_board(call);
      break;
    case Method::two_level: return two_level(call, tag);
    default: break;
  }
  Group group{fabric_.messages.get(), {}, fabric_.rank, fabric_.size, tag};
  return by_messages(std::move(group), call, choice);
}

std::shared_ptr<const Program> Comm::program_for(const Group& group, const Call& call, const Choice& choice) {
  const Shape shape = shape_of(call, group.rank, group.size);
  return cached_->program({shape, choice.method, choice.parts, false},
                          [&] { return program_of(shape, choice.method, choice.parts, level(), profile()); });
}

Task Comm::by_messages(Group group, Call call, Choice choice) {
  if (group.size == 1) {
    run_alone(call);
    co_return;
  }
  const Buffers buffers = buffers_of(call, group.rank);
  auto program = program_for(group, call, choice);
  co_await play(std::move(group), std::move(program), buffers, call.op);
}

}  // namespace chasqui::run
