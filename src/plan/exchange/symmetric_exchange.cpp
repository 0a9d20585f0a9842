// SPDX-License-Identifier: MIT
#include "plan/exchange/symmetric_exchange.hpp"

#include <memory>
#include <utility>

#include "chasqui/base/error.hpp"

namespace chasqui::plan {
namespace {

class SymmetricExchange final : public Plan {
 public:
  SymmetricExchange(const LogP& machine, const Problem& problem, Claim claim, SymmetricTimes times)
      : Plan(machine, problem, std::move(claim)), times_(std::move(times)) {}

  LocalForm local(Rank rank) const override {
    const std::int64_t P = machine_.P, r = rank.index;
    CHASQUI_CHECK(r >= 0 && r < P, "rank={} P={}", r, P);
    LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    if (P == 1) return local;
    local.sends.reserve(static_cast<std::size_t>(times_.count()));
    local.receives.reserve(static_cast<std::size_t>(times_.count()));
    for (std::int64_t j = 0; j < times_.count(); ++j) {
      const std::int64_t distance = 1 + j % (P - 1);
      const std::int64_t to = r + distance < P ? r + distance : r + distance - P;
      const std::int64_t from = r >= distance ? r - distance : r - distance + P;
      const Time begin{times_.at(j)};
      local.sends.push_back(exchange_message(machine_, problem_, begin, r, to, j / (P - 1)));
      local.receives.push_back(exchange_message(machine_, problem_, begin, from, r, j / (P - 1)));
    }
    return local;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    const std::int64_t P = machine_.P;
    std::int64_t slot = 0;
    for (std::int64_t repetition = 0; P > 1 && repetition < problem_.items; ++repetition) {
      for (std::int64_t distance = 1; distance < P; ++distance, ++slot) {
        const Time begin{times_.at(slot)};
        for (std::int64_t from = 0; from < P; ++from) {
          schedule.sends.push_back(
              exchange_message(machine_, problem_, begin, from, (from + distance) % P, repetition));
        }
      }
    }
    normalise(schedule);
    return schedule;
  }

 private:
  SymmetricTimes times_;
};

}  // namespace

Send exchange_message(const LogP& machine, const Problem& problem, Time begin, std::int64_t from, std::int64_t to,
                      std::int64_t number) {
  const std::int64_t place = problem.kind == Kind::alltoall ? from * machine.P + to : from;
  const std::int64_t item = place * problem.items + number;
  constexpr std::int64_t word = std::int64_t{1} << 31;
  return {begin,
          Rank{static_cast<std::int32_t>(from)},
          Rank{static_cast<std::int32_t>(to)},
          {static_cast<std::int32_t>(item % word), 1},
          {static_cast<std::int32_t>(item / word), 0}};
}

PlanPtr symmetric_exchange(const LogP& machine, const Problem& problem, Claim claim, SymmetricTimes times) {
  return std::make_shared<SymmetricExchange>(machine, problem, std::move(claim), std::move(times));
}

PlanPtr symmetric_exchange(const LogP& machine, const Problem& problem, Claim claim) {
  SymmetricTimes times = symmetric_times(machine, problem.items * (machine.P - 1));
  require_horizon(times.last(), machine);
  claim.finish = Time{times.last()} + machine.lambda();
  return symmetric_exchange(machine, problem, std::move(claim), std::move(times));
}

}  // namespace chasqui::plan
