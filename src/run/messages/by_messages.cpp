// SPDX-License-Identifier: MIT
// From a call and a choice to the task that runs it.
#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/run/comm.hpp"
#include "run/board/collectives.hpp"
#include "run/board/fold.hpp"
#include "run/board/slots.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/call/alone.hpp"
#include "run/comm/plan_cache.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/script_of_plan.hpp"

namespace chasqui::run {
namespace {

template <typename State>
Task small(Board& board, Call call) {
  State state(board, call);
  co_await until([&] { return state.poll(); });
}

std::vector<std::size_t> equal_blocks(int ranks, std::size_t bytes) {
  std::vector<std::size_t> offsets(static_cast<std::size_t>(ranks) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = i * bytes;
  return offsets;
}

/// The same where only the blocks that this rank has to do with take room: its own, and those it passes on.
std::vector<std::size_t> touched_blocks(const Script& script, int ranks, int own, std::size_t bytes) {
  std::vector<bool> touched(static_cast<std::size_t>(ranks));
  touched[static_cast<std::size_t>(own)] = true;
  for (const auto* list : {&script.form.sends, &script.form.receives}) {
    for (const Send& send : *list) {
      for (std::int64_t i = 0; i < send.part.len; ++i)
        touched[static_cast<std::size_t>((send.part.lo + i) % ranks)] = true;
    }
  }
  std::vector<std::size_t> offsets = {0};
  for (const bool each : touched) offsets.push_back(offsets.back() + (each ? bytes : 0));
  return offsets;
}

std::vector<std::size_t> shares(int ranks, std::size_t count, std::size_t element) {
  std::vector<std::size_t> offsets(static_cast<std::size_t>(ranks) + 1);
  for (int r = 0; r <= ranks; ++r) offsets[static_cast<std::size_t>(r)] = share_begin(count, ranks, r) * element;
  return offsets;
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

Script Comm::script_for(const Group& group, const Call& call, const Choice& choice) {
  const std::size_t bytes = call.kind == Kind::barrier ? 0 : call.bytes();
  const bool commutative = call.op.combine == nullptr || call.op.commutative;
  const Cached::ScriptKey key = Cached::script_key(group, call, choice);
  if (const auto found = cached_->scripts.find(key); found != cached_->scripts.end()) return found->second;
  if (cached_->scripts.size() >= Cached::kMost) cached_->scripts.clear();
  const int root = static_cast<int>(call.root);
  Script script;
  if (choice.method == Method::exchange || (choice.method == Method::windows && choice.parts > 0)) {
    script = circulant(group.size, group.rank, static_cast<int>(choice.parts));
  } else {
    const bool everybody = call.kind == Kind::allreduce || call.kind == Kind::allgather || call.kind == Kind::scan ||
                           call.kind == Kind::barrier;
    const bool alone = choice.method == Method::items || (choice.method == Method::tree && choice.parts == 1);
    const Level seen = everybody && !alone ? with_everybody_sending(level(), profile()) : level();
    script = plan_script(choice, call.kind, seen, group.size, root, bytes, commutative, call.exclusive, group.rank);
  }
  cached_->scripts.emplace(key, script);
  return script;
}

/// None where messages carry parts of values, or wait for their time.
std::shared_ptr<const Moves> Comm::moves_for(const Group& group, const Call& call, const Choice& choice) {
  const bool everywhere = call.kind == Kind::allreduce || call.kind == Kind::barrier;
  const bool folds = everywhere || call.kind == Kind::reduce || call.kind == Kind::scan;
  const bool tree = choice.method == Method::tree && (folds || call.kind == Kind::broadcast);
  const bool twice = choice.method == Method::items && choice.parts == 1 && everywhere;
  if (!tree && !twice) return nullptr;
  const Cached::ScriptKey key = Cached::script_key(group, call, choice);
  if (const auto found = cached_->moves.find(key); found != cached_->moves.end()) return found->second;
  if (cached_->moves.size() >= Cached::kMost) cached_->moves.clear();
  const Script script = script_for(group, call, choice);
  const bool values = call.kind != Kind::barrier && call.bytes() != 0;
  const bool commutative = call.op.combine == nullptr || call.op.commutative;
  std::shared_ptr<const Moves> moves;
  if (twice) {
    Call spread = call;
    spread.kind = Kind::broadcast;
    spread.root = 0;
    if (script.pace.tick == 0) {
      moves = std::make_shared<Moves>(there_and_back_moves(script, script_for(group, spread, choice), values));
    }
  } else if (call.kind == Kind::broadcast) {
    moves = std::make_shared<Moves>(spread_moves(script));
  } else {
    moves = std::make_shared<Moves>(fold_moves(script, call.kind, group.rank, group.size, static_cast<int>(call.root),
                                               commutative, call.exclusive, values));
  }
  cached_->moves.emplace(key, moves);
  return moves;
}

Task Comm::by_messages(Group group, Call call, Choice choice) {
  const std::size_t bytes = call.bytes();
  const std::size_t element = call.element;
  const bool at_root = has_root(call.kind) && group.rank == static_cast<int>(call.root);
  auto* out = static_cast<std::byte*>(call.out);
  const auto* in = static_cast<const std::byte*>(call.in);
  const std::size_t own = static_cast<std::size_t>(group.rank) * bytes;
  if (group.size == 1) {
    run_alone(call);
    co_return;
  }
  if (auto moves = moves_for(group, call, choice)) {
    co_await play(group, std::move(moves), call);
    co_return;
  }
  const Script script = script_for(group, call, choice);
  const auto count = static_cast<std::size_t>(call.count);
  switch (call.kind) {
    case Kind::broadcast:
      if (choice.method == Method::exchange) {  // scattered along the tree, then all-gathered
        const auto offsets = shares(group.size, count, element);
        Call scatter = call;
        scatter.kind = Kind::scatter;
        Choice tree;
        tree.method = Method::tree;
        co_await move_blocks(group, script_for(group, scatter, tree), out, offsets, element, {});
        co_await move_blocks(group, script, out, offsets, element, {});
        break;
      }
      co_await move_items(group, script, out, count, element, choice.parts, {});
      break;
    case Kind::allgather:
      if (in != nullptr) copy_bytes(out + own, in, bytes);
      co_await move_blocks(group, script, out, equal_blocks(group.size, bytes), element, {});
      break;
    case Kind::gather:
    case Kind::scatter: {
      const bool gathers = call.kind == Kind::gather;
      const auto offsets =
          at_root ? equal_blocks(group.size, bytes) : touched_blocks(script, group.size, group.rank, bytes);
      const bool passes_on = !at_root && offsets.back() > bytes;
      const Room room = room_for(passes_on ? offsets.back() : 0);
      std::byte* const user = gathers == at_root ? out : const_cast<std::byte*>(in);  // nothing is written to `in`
      std::byte* const data = passes_on ? bytes_of(room) : user;
      const std::size_t mine = offsets[static_cast<std::size_t>(group.rank)];
      if (gathers && (at_root || passes_on) && in != nullptr) copy_bytes(data + mine, in, bytes);
      co_await move_blocks(group, script, data, offsets, element, {});
      if (!gathers && (at_root || passes_on) && out != nullptr) copy_bytes(out, data + mine, bytes);
      break;
    }
    default: co_await fold_long(group, call, choice, script); break;
  }
}

/// Long reductions: by shares (reduce-scatter, then gathered where they are wanted) or by items.
Task Comm::fold_long(Group group, Call call, Choice choice, Script script) {
  const std::size_t element = call.element;
  if (call.kind == Kind::barrier) call.count = 0;
  const auto count = static_cast<std::size_t>(call.count);
  const bool everywhere = call.kind == Kind::allreduce || call.kind == Kind::barrier;
  const bool at_root = !everywhere && group.rank == static_cast<int>(call.root);
  Room room = room_for(everywhere || at_root ? 0 : call.bytes());
  std::byte* data = everywhere || at_root ? static_cast<std::byte*>(call.out) : bytes_of(room);
  if (call.in != nullptr) copy_bytes(data, call.in, call.bytes());
  if (choice.method == Method::items) {
    co_await move_items(group, script, data, count, element, choice.parts, call.op);
    if (everywhere) {
      Call spread = call;
      spread.kind = Kind::broadcast;
      spread.root = 0;
      co_await move_items(group, script_for(group, spread, choice), data, count, element, choice.parts, {});
    }
    co_return;
  }
  const auto offsets = shares(group.size, count, element);
  Script folding = script;
  folding.reversed = true;
  co_await move_blocks(group, folding, data, offsets, element, call.op);
  if (everywhere) {
    co_await move_blocks(group, script, data, offsets, element, {});
  } else {
    Call collect = call;
    collect.kind = Kind::gather;
    Choice tree;
    tree.method = Method::tree;
    co_await move_blocks(group, script_for(group, collect, tree), data, offsets, element, {});
  }
}

}  // namespace chasqui::run
