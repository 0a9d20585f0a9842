// SPDX-License-Identifier: MIT
#include "chasqui/run/comm.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "run/board/collectives.hpp"
#include "run/board/process_memory.hpp"
#include "run/board/slots.hpp"
#include "run/call/in_range.hpp"
#include "run/comm/alone.hpp"
#include "run/comm/engine.hpp"
#include "run/comm/gathered.hpp"
#include "run/comm/operation.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::run {

/// A copy of what has begun: the state of those who need not wait stays in registers.
template <typename Small>
[[gnu::noinline]] void Engine::wait_for(Small small, std::uint64_t number) {
  health_.moved();
  const bool crowded = fabric_.board->crowded();
  for (Backoff backoff(crowded, Backoff::looks(crowded)); !small.poll();) {
    if (!backoff.pause()) continue;
    fabric_.board->settle();
    look_for_failure(number);
  }
}

/// The fast path: no allocation, no table.
template <typename Small>
[[gnu::always_inline]] inline void Engine::run_small(const Call& call) {
  const std::uint64_t number = health_.next();
  try {
    Small small(*fabric_.board, call);
    if (!small.poll()) wait_for(small, number);
  } catch (...) {
    health_.fail(number);
    throw;
  }
}

/// In code of its own: everybody waits for the root. Where everybody reads what everybody writes, a shorter way was slower on 16 cores.
[[gnu::noinline, gnu::flatten]] void Engine::run_broadcast(const Call& call) { run_small<SlotBroadcast>(call); }

/// REQUIRES contiguous data, good arguments.
[[gnu::always_inline]] inline void Engine::run_checked(const Call& call) {
  // What runs follows from arguments and profile alone: other ranks may have something else in flight.
  const bool here = in_flight_.none();
  if (selection_.by_table()) {
    const auto method = selection_.look_up(call);
    if (method && here) {
      switch (*method) {
        [[likely]] case Method::slots : return call.kind == Kind::broadcast ? run_broadcast(call)
                                                                            : run_small<SlotCall>(call);
        case Method::relay: return run_small<Relay>(call);
        case Method::grouped_fold: return run_small<GroupedFold>(call);
        case Method::level_fold: return run_small<LevelFold>(call);
        case Method::shared_fold: return run_small<SharedFold>(call);
        case Method::exposed_fold: return run_small<ExposedFold>(call);
        case Method::native: return run_native(call);
        default: return run_long(call, *method);
      }
    }
  }
  run_chosen(call, here);
}

/// Not by the table. `here`: nothing is in flight.
[[gnu::noinline]] void Engine::run_chosen(const Call& call, bool here) {
  or_broken([&] {
    if (!selection_.by_table()) {
      if (size_ == 1 && here) {
        health_.next();
        return run_alone(call);
      }
      check_forced(call, Among::all);
      if (selection_.gathers(call)) return run_gathered(call);
      if (here && !selection_.forced() && run_repeated(call)) return;
    }
    if (fabric_.native && !call.op.in_order && selection_.choose(call, Among::all).method == Method::native)
      return run_native(call);
    begin(call, nullptr).wait();
  });
}

/// Inside Comm::run: an 8-byte call pays for no further step.
[[gnu::always_inline]] inline void Engine::dispatch(const Call& call) {
  check_usable();
  if (!call.plain()) return run_packed(call);
  if (!in_range(call, rank_, size_)) check_arguments(call);  // contiguous layouts have nothing to check
  run_checked(call);
}

void Engine::run_packed(const Call& call) {
  if (call.uneven()) return begin(call, nullptr).wait();
  check_arguments(call);
  std::optional<Packed> packed;
  or_broken([&] { refusing([&] { packed.emplace(call, rank_, size_); }); });
  run(packed->call);
  try {
    packed->deliver(rank_, size_);
  } catch (...) {
    health_.fail(health_.last());
    throw;
  }
}

Request Engine::begin(const Call& call, std::shared_ptr<const void> kept) {
  check_usable();
  return or_broken([&] { return begin_checked(call, std::move(kept)); });
}

Request Engine::begin_checked(const Call& call, std::shared_ptr<const void> kept) {
  check_arguments(call);
  if (selection_.gathers(call)) {
    if (call.uneven()) refuse("reduce_scatter in rank order between nodes: blocks of one length only");
    const auto gathered = std::make_shared<const Gathered>(call, std::move(kept), rank_, size_);
    return begin(gathered->call(), gathered);
  }
  check_forced(call, Among::ours);
  std::shared_ptr<Operation> operation;
  refusing([&] { operation = std::make_shared<Operation>(call, rank_, size_); });
  operation->kept = std::move(kept);
  operation->number = health_.next();
  const Call& packed = operation->packed.call;
  const Choice choice = selection_.choose(packed, Among::ours);
  operation->uses_board =
      fabric_.board != nullptr && size_ > 1 && (run::on_board(choice.method) || choice.method == Method::two_level);
  note(operation->number, signature_of(call), operation->uses_board);
  if (size_ > 1 && !run::on_board(choice.method)) ran(choice.method);
  operation->activity.emplace(tasks_.of(packed, choice, tag_of(operation->number, call.kind)));
  in_flight_.add(operation);
  return {this, operation};
}

Comm::~Comm() = default;
void Comm::run(const Call& call) { Engine::of(*this).dispatch(call); }
void run_again(Comm& comm, const Call& call) {
  Engine& engine = Engine::of(comm);
  engine.check_usable();
  engine.run_checked(call);
}
Request Comm::start(const Call& call, std::shared_ptr<const void> kept) {
  return Engine::of(*this).begin(call, std::move(kept));
}
bool Comm::progress() { return Engine::of(*this).in_flight_.advance_all(); }
const Topology& Comm::topology() const { return Engine::of(*this).selection_.topology(); }
const Profile& Comm::profile() const { return *Engine::of(*this).fabric_.profile; }
void Comm::force(const Choice& choice) { Engine::of(*this).force(choice); }
void Comm::unforce() { Engine::of(*this).force({}); }

std::vector<Choice> Comm::choices_for(const Call& call) const { return Engine::of(*this).selection_.choices_for(call); }

std::unique_ptr<Comm> Comm::split(int colour, int key) {
  Engine& engine = Engine::of(*this);
  engine.check_usable();
  if (!engine.fabric_.split) throw Error("this communicator cannot be split");
  engine.finish_in_flight();
  engine.check_usable();
  return engine.or_broken([&] { return engine.fabric_.split(*this, colour, key); });
}

void Comm::refuse(const std::string& why) { Engine::of(*this).refuse_call(why); }
void Comm::leave(const std::string& why) {
  if (!Engine::of(*this).forked()) Engine::of(*this).health_.leave(why);
}

namespace {

/// Where a block ends. Counts that are negative or whose sum fits no integer are refused later.
std::int64_t block_end(std::int64_t before, std::int64_t count) {
  return saturating_add(before, std::max<std::int64_t>(0, count));
}

}  // namespace

Comm::SideBySide Comm::side_by_side(std::span<const std::int64_t> in_counts, std::span<const std::int64_t> out_counts) {
  SideBySide blocks{{in_counts.begin(), in_counts.end()}, {}, {out_counts.begin(), out_counts.end()}, {}};
  blocks.in_first.resize(in_counts.size());
  blocks.out_first.resize(out_counts.size());
  std::exclusive_scan(in_counts.begin(), in_counts.end(), blocks.in_first.begin(), std::int64_t{0}, block_end);
  std::exclusive_scan(out_counts.begin(), out_counts.end(), blocks.out_first.begin(), std::int64_t{0}, block_end);
  return blocks;
}

void Comm::check_blocks(Kind kind, const SideBySide& blocks, std::int64_t in, std::int64_t out) {
  const auto check = [&](const std::vector<std::int64_t>& counts, std::int64_t room, const char* what) {
    if (counts.size() != static_cast<std::size_t>(size_))
      refuse(fmt::format("{} {} counts for {} ranks: pass one for each", counts.size(), what, size_));
    const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0}, block_end);
    if (all > room) refuse(fmt::format("{} blocks of {} elements together in a buffer of {}", what, all, room));
  };
  check(blocks.in_counts, in, "input");
  if (kind == Kind::alltoall) return check(blocks.out_counts, out, "output");
  const std::int64_t own = blocks.in_counts[static_cast<std::size_t>(rank_)];
  if (own > out) refuse(fmt::format("reduce-scatter: room for {} elements where rank {} gets {}", out, rank_, own));
}

void Comm::refuse_counts(Kind kind, std::int64_t in, std::int64_t out) {
  if (kind == Kind::scatter) refuse(fmt::format("scatter: {} elements for {} ranks of {}", in, size_, out));
  if (kind == Kind::alltoall || kind == Kind::reduce_scatter) {
    refuse(fmt::format("{}: {} elements in and room for {} out, on {} ranks: pass a block for each rank",
                       to_string(kind), in, out, size_));
  }
  if (combines(kind)) {
    refuse(fmt::format("{}: {} elements in and room for {} out: they must be the same", to_string(kind), in, out));
  }
  refuse(fmt::format("{}: room for {} elements where {} ranks bring {}", to_string(kind), out, size_, in * size_));
}

Request::Request(Engine* engine, std::shared_ptr<Operation> operation)
    : engine_(engine), operation_(std::move(operation)) {}

bool Request::test() {
  if (operation_ == nullptr) return true;
  if (!operation_->finished) {
    engine_->advance_some(*operation_);
    if (!operation_->finished) engine_->look_at(*operation_);
  }
  if (!operation_->finished) return false;
  end();
  return true;
}

void Request::wait() {
  if (operation_ == nullptr) return;
  engine_->wait(*operation_);
  end();
}

void Request::end() {
  const auto operation = std::exchange(operation_, nullptr);
  if (operation->error) std::rethrow_exception(operation->error);
}

}  // namespace chasqui::run
