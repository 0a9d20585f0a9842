// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/schedule/metrics.hpp"
#include "plan/published/plain_branches.hpp"

namespace chasqui::plan {

Schedule plain_sum(PlainTree tree, const LogP& machine, std::int64_t n) {
  CHASQUI_CHECK(n >= 1, "n={}", n);
  const std::int64_t ranks = std::min(machine.P, n);
  Schedule schedule;
  schedule.machine = machine;
  schedule.problem = {.kind = Kind::sum};
  schedule.operands.assign(static_cast<std::size_t>(machine.P), 0);
  std::vector<Time> free(static_cast<std::size_t>(ranks));  // everything so far is added
  std::vector<Time> heard(free.size(), Time{0} - machine.gap());
  for (std::int64_t v = 0; v < ranks; ++v) {
    const std::int64_t own = n / ranks + (v < n % ranks ? 1 : 0);
    const Rank rank{static_cast<std::int32_t>(v)};
    schedule.operands[static_cast<std::size_t>(v)] = own;
    if (own > 1) schedule.adds.push_back({Time{0}, rank, rank, own - 1});
    free[static_cast<std::size_t>(v)] = Time{own - 1};
  }
  // From the leaves to the root, a parent's nearest child first: subtrees stay intervals, operands stay in order.
  std::vector<Branch> branches = branches_of(tree, ranks);
  std::sort(branches.begin(), branches.end(), [](const Branch& a, const Branch& b) {
    return std::pair(-a.parent, a.child) < std::pair(-b.parent, b.child);
  });
  for (const Branch& b : branches) {
    const auto child = static_cast<std::size_t>(b.child), parent = static_cast<std::size_t>(b.parent);
    const Time flight = machine.o + machine.L;
    const Time begin = std::max({free[child], free[parent] - flight, heard[parent] + machine.gap() - flight});
    const Rank from{static_cast<std::int32_t>(b.child)}, to{static_cast<std::int32_t>(b.parent)};
    schedule.sends.push_back({begin, from, to, {from.index, static_cast<std::int32_t>(b.size)}});
    heard[parent] = begin + flight;
    const Time there = begin + machine.lambda();
    schedule.adds.push_back({there, to, from, 1});
    free[parent] = there + Time{1};
  }
  schedule.finish = actual_finish(schedule);
  normalise(schedule);
  return schedule;
}

}  // namespace chasqui::plan
