// SPDX-License-Identifier: MIT
// All-reduce, scan and barrier as plans over the same rounds (window_rounds.hpp): cyclic windows, or windows cut off at
// rank 0. Without commutativity a window is kept in two parts (exchange.md, Theorem 6).
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/earliest.hpp"
#include "plan/exchange/window_rounds.hpp"
#include "plan/in_turn_plan.hpp"

namespace chasqui::plan {
namespace {

Part part(std::int64_t lo, std::int64_t len) { return {static_cast<std::int32_t>(lo), static_cast<std::int32_t>(len)}; }

Rank rank_of(std::int64_t index) { return Rank{static_cast<std::int32_t>(index)}; }

/// Before 2D nobody can pass on what he received, so an all-reduce that ends earlier is an all-gather. That
/// takes 2D or more when P - 1 sends and as many receptions fill 2D. REQUIRES P >= 3.
Time direct_bound(const LogP& machine) {
  const Time twice = 2 * machine.lambda();
  const std::int64_t slot = std::max(machine.gap().ticks, 2 * machine.o.ticks);
  if (saturating_multiply(machine.P - 1, slot) >= twice.ticks) return twice;
  return std::min(twice, allgather_bound(machine));
}

Bound scan_bound(const LogP& machine) {
  return {broadcast_time(broadcast_shape(machine), machine.P),
          "B(P): somebody must hear from all ranks (exchange.md, Theorem 5)"};
}

/// INVARIANT: rounds_ serve P ranks. One rank's part: O(rounds), nothing else is looked at.
class WindowPlan final : public Plan {
 public:
  WindowPlan(const LogP& machine, const Problem& problem, Claim claim, std::vector<WindowRound> rounds)
      : Plan(machine, problem, std::move(claim)), rounds_(std::move(rounds)) {}

  LocalForm local(Rank rank) const override {
    const std::int64_t P = machine_.P;
    CHASQUI_CHECK(rank.index >= 0 && rank.index < P, "rank={} P={}", rank.index, P);
    LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    // The message of `round` from the unreduced index `from` (possibly negative), if there is one.
    const auto add = [&](std::vector<Send>& to_list, const WindowRound& round, std::int64_t from) {
      const std::int64_t to = from + round.distance;
      const std::int64_t hi = from - (round.without_own ? 1 : 0);
      std::int64_t lo = hi - round.width + 1;
      Send send{Time{round.begin}, {}, {}, {}};
      if (cyclic()) {
        send.from = rank_of((from + P) % P);
        send.to = rank_of(to % P);
        lo = (lo + 2 * P) % P;
        if (problem_.commutative || lo + round.width <= P) {
          send.part = part(lo, round.width);
        } else {
          send.part = part(lo, P - lo);
          send.second = part(0, lo + round.width - P);
        }
      } else {
        if (hi < 0 || from < 0 || to >= P) return;
        lo = std::max<std::int64_t>(lo, 0);
        send.from = rank_of(from);
        send.to = rank_of(to);
        send.part = part(lo, hi - lo + 1);
      }
      to_list.push_back(send);
    };
    for (const WindowRound& round : rounds_) {
      add(local.sends, round, rank.index);
      add(local.receives, round,
          cyclic() ? rank.index + (rank.index < round.distance ? P : 0) - round.distance : rank.index - round.distance);
    }
    return local;
  }

  /// Built by following what every rank holds: the message of a round continues the receiver's window, and its sender
  /// is the rank where that stretch ends (or the next one, when that one's own contribution would be too much).
  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    const std::int64_t P = machine_.P;
    schedule.sends.reserve(saturating_multiply(static_cast<std::int64_t>(rounds_.size()), P) < (std::int64_t{1} << 32)
                               ? rounds_.size() * static_cast<std::size_t>(P)
                               : 0);
    std::int64_t held = 1;
    for (const WindowRound& round : rounds_) {
      for (std::int64_t to = 0; to < P; ++to) {
        std::int64_t hi = to - held;
        std::int64_t lo = hi - round.width + 1;
        std::int64_t from = hi + (round.without_own ? 1 : 0);
        Part first, second;
        if (!cyclic()) {
          if (hi < 0) continue;
          lo = std::max<std::int64_t>(lo, 0);
          first = part(lo, hi - lo + 1);
        } else if (hi < 0) {
          if (from < 0) from += P;
          first = part(lo + P, round.width);
        } else if (lo < 0) {
          first = problem_.commutative ? part(lo + P, round.width) : part(lo + P, -lo);
          second = problem_.commutative ? Part{} : part(0, hi + 1);
        } else {
          first = part(lo, round.width);
        }
        schedule.sends.push_back({Time{round.begin}, rank_of(from), rank_of(to), first, second});
      }
      held += round.width;
    }
    normalise(schedule);
    return schedule;
  }

 private:
  bool cyclic() const { return problem_.kind != Kind::scan; }

  std::vector<WindowRound> rounds_;
};

PlanPtr windows(const LogP& machine, const Problem& problem) {
  validate(machine);
  const SendTimes times = window_send_times(machine);
  Bound bound = problem.kind == Kind::scan ? scan_bound(machine) : allreduce_bound(machine);
  Claim claim;
  claim.bound = bound.time;
  claim.bound_source = std::move(bound.source);
  claim.finish = times.empty() ? Time{0} : Time{times.back()} + machine.lambda();
  claim.construction = machine.is_postal() ? "windows ceil(P f_t / f_T), a send every tick"
                                           : "windows ceil(P F_j / F_last) over searched send times";
  return std::make_shared<WindowPlan>(machine, problem, std::move(claim), window_rounds(machine, times));
}

/// All-reduce or barrier. A reduction and a broadcast in turn end earlier where a gap is longer than a message.
PlanPtr windows_or_trees(const LogP& machine, const Problem& problem) {
  Earliest best(windows(machine, problem));
  if (best.optimal()) return best.plan();
  Claim claim = best.plan()->claim();
  claim.construction = "a reduction to rank 0, then a broadcast";
  const Part all{0, static_cast<std::int32_t>(machine.P)};
  best.offer(std::make_shared<InTurnPlan>(problem, std::move(claim), reduce(machine, {}, problem.commutative),
                                          broadcast(machine), all));
  return best.plan();
}

/// Along a chain: rank r sends the fold of 0..r to rank r+1 as soon as it has it. One message a rank, so the gap never
/// matters: optimal where the gap is so long that a broadcast, too, is a chain (exchange.md, Theorem 8). Time: (P-1)D.
class ChainScan final : public Plan {
 public:
  ChainScan(const LogP& machine, const Problem& problem, Claim claim) : Plan(machine, problem, std::move(claim)) {}

  LocalForm local(Rank rank) const override {
    CHASQUI_CHECK(rank.index >= 0 && rank.index < machine_.P, "rank={} P={}", rank.index, machine_.P);
    LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    if (rank.index + 1 < machine_.P) local.sends.push_back(from(rank.index));
    if (rank.index > 0) local.receives.push_back(from(rank.index - 1));
    return local;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    Time begin;
    for (std::int32_t r = 1; r < machine_.P; ++r, begin += machine_.lambda()) {
      schedule.sends.push_back({begin, Rank{r - 1}, Rank{r}, {0, r}});
    }
    return schedule;
  }

 private:
  Send from(std::int64_t rank) const {
    const auto r = static_cast<std::int32_t>(rank);
    return {rank * machine_.lambda(), Rank{r}, Rank{r + 1}, {0, r + 1}};
  }
};

}  // namespace

Bound allreduce_bound(const LogP& machine) {
  Bound bound = scan_bound(machine);
  if (machine.P < 3) return bound;
  if (const Time time = machine.gap() + machine.lambda(); time > bound.time)
    bound = {time, "P messages are too few, so some rank sends twice (exchange.md, Theorem 7)"};
  if (const Time time = direct_bound(machine); time > bound.time)
    bound = {time, "before 2(L + 2o) nothing received is passed on, as in an all-gather (exchange.md, Theorem 7)"};
  return bound;
}

PlanPtr allreduce(const LogP& machine, bool commutative) {
  return windows_or_trees(machine, {.kind = Kind::allreduce, .commutative = commutative});
}

PlanPtr barrier(const LogP& machine) { return windows_or_trees(machine, {.kind = Kind::barrier}); }

PlanPtr scan(const LogP& machine, bool exclusive) {
  const Problem problem{.kind = Kind::scan, .commutative = false, .exclusive = exclusive};
  PlanPtr best = windows(machine, problem);
  const Time chain{saturating_multiply(machine.P - 1, machine.lambda().ticks)};
  if (chain >= best->claim().finish) return best;
  Claim claim = best->claim();
  claim.finish = chain;
  claim.construction = "chain: rank r passes the fold of 0..r on to r+1";
  return std::make_shared<ChainScan>(machine, problem, std::move(claim));
}

}  // namespace chasqui::plan
