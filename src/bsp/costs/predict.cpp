// SPDX-License-Identifier: MIT
#include "chasqui/bsp/predict.hpp"

#include <algorithm>
#include <map>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::bsp {

static constexpr std::int64_t Totals::*kFields[] = {&Totals::supersteps, &Totals::messages, &Totals::blocks,
                                                    &Totals::bytes,      &Totals::work,     &Totals::nanoseconds};

// Not in the unnamed namespace: over_splits() finds it by its argument.
static Totals& operator+=(Totals& a, const Totals& b) {
  for (const auto field : kFields) a.*field = saturating_add(a.*field, b.*field);
  return a;
}

namespace {

void take_max(Totals& a, const Totals& b) {
  for (const auto field : kFields) a.*field = std::max(a.*field, b.*field);
}

/// Sums over the tree of machines of a ledger: supersteps follow each other, submachines of one split run side by side.
/// own(whole machine) and, for each split below it, what keep_most keeps of its submachines' sums. Without recursion: ledgers
/// may be nested deeply. REQUIRES parents before children. Time: O(machines · log).
template <typename Sum, typename Own, typename TakeMax>
Sum over_splits(const Ledger& ledger, const Own& own, const TakeMax& keep_most) {
  std::map<std::uint64_t, std::map<std::uint64_t, Sum>> splits;  // by machine, then split
  Sum sum{};
  for (auto machine = ledger.machines.rbegin(); machine != ledger.machines.rend(); ++machine) {
    sum = own(*machine);
    if (auto below = splits.extract(machine->id); !below.empty()) {
      for (const auto& [split, largest] : below.mapped()) sum += largest;
    }
    if (machine->parent != 0) keep_most(splits[machine->parent][machine->split], sum);
  }
  return sum;
}

}  // namespace

Totals totals(const Ledger& ledger) {
  const auto own = [](const MachineCosts& machine) {
    Totals sum;
    for (const Superstep& step : machine.supersteps) {
      sum += {1, step.messages, step.blocks, step.bytes, step.work, step.nanoseconds};
    }
    return sum;
  };
  return over_splits<Totals>(ledger, own, [](Totals& a, const Totals& b) { take_max(a, b); });
}

Work settle(Work work, const Ledger& ledger) {
  if (work != Work::automatic) return work;
  for (const MachineCosts& machine : ledger.machines) {
    for (const Superstep& step : machine.supersteps) {
      if (step.work > 0) return Work::charged;
    }
  }
  return Work::measured;
}

double predict(const Superstep& step, std::int64_t size, Work work, const Machine& machine) {
  const auto w = static_cast<double>(work == Work::charged ? step.work : step.nanoseconds);
  if (const auto* bsp = std::get_if<Bsp>(&machine)) return superstep_cost(*bsp, w, static_cast<double>(step.messages));
  if (const auto* star = std::get_if<BspStar>(&machine)) {
    return superstep_cost(*star, w, static_cast<double>(step.blocks),
                          static_cast<double>(step.bytes) / star->unit_bytes);
  }
  return superstep_cost(std::get<DBsp>(machine), size, w, static_cast<double>(step.messages));
}

double predict(const Ledger& ledger, const Machine& machine, Work work) {
  work = settle(work, ledger);
  const auto own = [&](const MachineCosts& one) {
    double sum = 0;
    for (const Superstep& step : one.supersteps) sum += predict(step, one.size, work, machine);
    return sum;
  };
  return over_splits<double>(ledger, own, [](double& a, double b) { a = std::max(a, b); });
}

std::string to_string(const Machine& machine) {
  return std::visit([](const auto& one) { return chasqui::to_string(one); }, machine);
}

}  // namespace chasqui::bsp
