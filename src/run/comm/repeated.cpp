// SPDX-License-Identifier: MIT
// Blocking calls by messages that were made before: no planning, no allocation, no task. Where a message takes a
// millisecond a rank sleeps long enough to find its caches cold, so that what it touches before it sends counts.
#include "run/comm/engine.hpp"
#include "run/comm/operation.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::run {
namespace {

bool goes_by_messages(Method method) {
  return method == Method::tree || method == Method::items || method == Method::exchange || method == Method::windows ||
         method == Method::messages;
}

}  // namespace

/// False: this call goes another way.
bool Engine::run_repeated(const Call& call) {
  if (fabric_.messages == nullptr || size_ == 1 || fabric_.timing.blocks) return false;
  using Repeated = PlanCache::Repeated;
  const Repeated::Key key{call.kind,
                          call.op.commutative,
                          call.exclusive,
                          static_cast<std::int32_t>(call.root),
                          call.kind == Kind::barrier ? 0 : call.bytes(),
                          call.element};
  Group group = tasks_.all_ranks(0);
  if (plans_.latest == nullptr || plans_.latest->key != key) {
    plans_.latest = nullptr;  // it may be forgotten now
    plans_.latest = &plans_.repeated.get(key, [&] {
      const Choice choice = selection_.choose(call, Among::all);
      Repeated fresh{key, choice.method, nullptr, {}};
      auto program = goes_by_messages(choice.method) ? tasks_.program_for(group, call, choice) : nullptr;
      if (program == nullptr || program->scratch > PlanCache::kMostScratch) return fresh;
      fresh.scratch.fit(*program);
      fresh.program = std::move(program);
      return fresh;
    });
  }
  Repeated* const known = plans_.latest;
  if (known->program == nullptr) return false;
  const std::uint64_t number = health_.next();
  note(number, signature_of(call));
  ran(known->method);
  group.tag = tag_of(number, call.kind);
  play_to_end(number, *known->program, group, buffers_of(call, rank_), call.op, known->scratch);
  return true;
}

void Engine::play_to_end(std::uint64_t number, const Program& program, const Group& group, Buffers buffers,
                         const Operator& op, Scratch& scratch) {
  health_.moved();
  try {
    Player player(program, group, buffers, op, scratch);
    Backoff backoff(crowded());
    for (auto moved = player.moved(); !player.ready();) {
      if (player.moved() != moved) {
        moved = player.moved();
        backoff.reset();
        health_.moved();
      } else if (backoff.pause(fabric_.shares_memory)) {
        look_for_failure(number);
      }
    }
  } catch (...) {
    health_.fail(number);
    throw;
  }
}

}  // namespace chasqui::run
