// SPDX-License-Identifier: MIT
#include "chasqui/run/comm.hpp"

#include <algorithm>
#include <exception>
#include <numeric>

#include "chasqui/base/error.hpp"
#include "run/board/collectives.hpp"
#include "run/board/process_memory.hpp"
#include "run/board/slots.hpp"
#include "run/comm/engine.hpp"
#include "run/comm/operation.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::run {

template <typename Small>
void Engine::wait_for(Small& small, std::uint64_t number) {
  health_.moved();
  const bool crowded = fabric_.board->crowded();
  for (Backoff backoff(crowded, Backoff::looks(crowded)); !small.poll();) {
    if (backoff.pause()) look_for_failure(number);
  }
}

/// The fast path: no allocation, no table.
template <typename Small>
void Engine::run_small(const Call& call) {
  const std::uint64_t number = health_.next();
  try {
    Small small(*fabric_.board, call);
    if (!small.poll()) wait_for(small, number);
  } catch (...) {
    health_.fail(number);
    throw;
  }
}

/// Inside Comm::run: an 8-byte call pays for no further step.
[[gnu::always_inline]] inline void Engine::dispatch(const Call& call) {
  check_usable();
  if (!call.plain()) return run_packed(call);
  if (!in_range(call, rank_, size_)) check_arguments(call);  // contiguous layouts have nothing to check
  // What runs follows from arguments and profile alone: other ranks may have something else in flight.
  const bool here = nothing_in_flight();
  if (by_table_) {
    const auto method = methods_.of(call.kind, call.bytes(), call.element);
    if (method && here) {
      switch (*method) {
        case Method::slots: return run_small<SlotCall>(call);
        case Method::grouped_fold: return run_small<GroupedFold>(call);
        case Method::shared_fold: return run_small<SharedFold>(call);
        case Method::exposed_fold: return run_small<ExposedFold>(call);
        case Method::native: return run_native(call);
        default: return run_long(call, *method);
      }
    }
  } else {
    if (size_ == 1 && here) {
      health_.next();
      return run_alone(call);
    }
    if (forced_) check_forced(call, false);
    if (here && !forced_ && run_repeated(call)) return;
  }
  if (fabric_.native && choose(call).method == Method::native) return run_native(call);
  begin(call, nullptr).wait();
}

void Engine::run_packed(const Call& call) {
  if (call.uneven()) return begin(call, nullptr).wait();
  check_arguments(call);
  const Packed packed(call, rank_, size_);
  run(packed.call);
  try {
    packed.deliver(rank_, size_);
  } catch (...) {
    health_.fail(health_.last());
    throw;
  }
}

Request Engine::begin(const Call& call, std::shared_ptr<const void> kept) {
  check_usable();
  check_arguments(call);
  if (forced_) check_forced(call, true);
  auto operation = std::make_shared<Operation>(call, rank_, size_);
  operation->kept = std::move(kept);
  operation->number = health_.next();
  const Call& packed = operation->packed.call;
  const Choice choice = choose(packed, true);
  operation->uses_board =
      fabric_.board != nullptr && size_ > 1 && (run::on_board(choice.method) || choice.method == Method::two_level);
  note(operation->number, signature_of(call), operation->uses_board);
  operation->activity.emplace(task_of(packed, choice, tag_of(operation->number, call.kind)));
  take_in_flight(operation);
  return {this, operation};
}

Comm::~Comm() = default;
void Comm::run(const Call& call) { Engine::of(*this).dispatch(call); }
Request Comm::start(const Call& call, std::shared_ptr<const void> kept) {
  return Engine::of(*this).begin(call, std::move(kept));
}
bool Comm::progress() { return Engine::of(*this).advance_here(); }
const Topology& Comm::topology() const { return Engine::of(*this).topology_; }
const Profile& Comm::profile() const { return *Engine::of(*this).fabric_.profile; }
void Comm::force(const Choice& choice) { Engine::of(*this).force(choice); }
void Comm::unforce() { Engine::of(*this).force({}); }

std::vector<Choice> Comm::choices_for(const Call& call) const {
  if (call.uneven()) return {{uneven_method(call, topology()), 0, 1, "blocks of different lengths"}};
  return choices(query_of(call), topology(), profile(), Engine::of(*this).methods());
}

std::unique_ptr<Comm> Comm::split(int colour, int key) {
  Engine& engine = Engine::of(*this);
  engine.check_usable();
  if (!engine.fabric_.split) throw Error("this communicator cannot be split");
  engine.finish_in_flight();
  engine.check_usable();
  return engine.fabric_.split(*this, colour, key);
}

void Comm::refuse(const std::string& why) { Engine::of(*this).refuse_call(why); }
void Comm::leave(const std::string& why) { Engine::of(*this).health_.leave(why); }

Comm::SideBySide Comm::side_by_side(std::span<const std::int64_t> in_counts, std::span<const std::int64_t> out_counts) {
  SideBySide blocks{{in_counts.begin(), in_counts.end()}, {}, {out_counts.begin(), out_counts.end()}, {}};
  blocks.in_first.resize(in_counts.size());
  blocks.out_first.resize(out_counts.size());
  std::exclusive_scan(in_counts.begin(), in_counts.end(), blocks.in_first.begin(), std::int64_t{0});
  std::exclusive_scan(out_counts.begin(), out_counts.end(), blocks.out_first.begin(), std::int64_t{0});
  return blocks;
}

void Comm::check_blocks(Kind kind, const SideBySide& blocks, std::int64_t in, std::int64_t out) {
  const auto check = [&](const std::vector<std::int64_t>& counts, std::int64_t room, const char* what) {
    if (counts.size() != static_cast<std::size_t>(size_))
      refuse(fmt::format("{} {} counts for {} ranks: pass one for each", counts.size(), what, size_));
    const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
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
