// SPDX-License-Identifier: MIT
#include "chasqui/bsp/predict.hpp"

#include <algorithm>

#include "bsp/over_splits.hpp"

namespace chasqui::bsp {

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
