// SPDX-License-Identifier: MIT
#include "chasqui/bsp/predict.hpp"

#include <algorithm>
#include <map>

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
  std::map<std::uint64_t, std::vector<const MachineCosts*>> children;
  const MachineCosts* whole = nullptr;
  for (const MachineCosts& one : ledger.machines) {
    if (one.parent == 0) whole = &one;
    else children[one.parent].push_back(&one);
  }
  if (whole == nullptr) return 0;
  const auto total = [&](const auto& self, const MachineCosts& one) -> double {
    double sum = 0;
    for (const Superstep& step : one.supersteps) sum += predict(step, one.size, work, machine);
    std::map<std::uint64_t, double> splits;
    if (const auto found = children.find(one.id); found != children.end()) {
      for (const MachineCosts* child : found->second) {
        double& slowest = splits[child->split];
        slowest = std::max(slowest, self(self, *child));
      }
    }
    for (const auto& [split, slowest] : splits) sum += slowest;
    return sum;
  };
  return total(total, *whole);
}

std::string to_string(const Machine& machine) {
  return std::visit([](const auto& one) { return chasqui::to_string(one); }, machine);
}

}  // namespace chasqui::bsp
