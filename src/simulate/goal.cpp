// SPDX-License-Identifier: MIT
#include "chasqui/simulate/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "simulate/program.hpp"

namespace chasqui::simulate {

std::string to_goal(const Schedule& schedule, std::int64_t bytes) {
  Program program(schedule);
  const auto& sends = program.schedule().sends;
  std::vector<std::vector<std::uint32_t>> incoming(static_cast<std::size_t>(program.ranks()));
  for (std::uint32_t m = 0; m < sends.size(); ++m) incoming[static_cast<std::size_t>(sends[m].to.index)].push_back(m);

  std::string text = fmt::format("num_ranks {}\n", program.ranks());
  const auto out = std::back_inserter(text);
  for (std::int32_t r = 0; r < program.ranks(); ++r) {
    fmt::format_to(out, "\nrank {} {{\n", r);
    auto& receptions = incoming[static_cast<std::size_t>(r)];
    std::sort(receptions.begin(), receptions.end(),
              [&](auto a, auto b) { return program.reception_number(a) < program.reception_number(b); });
    for (const std::uint32_t m : receptions) {
      fmt::format_to(out, "r{}: recv {}b from {} tag {}\n", m, bytes, sends[m].from.index, m);
    }
    std::string previous;
    const auto actions = program.actions_of(Rank{r});
    for (std::uint32_t at = actions.first; at < actions.end; ++at) {
      const std::uint32_t action = program.action(at);
      std::string label;
      if (action & Program::kAdd) {
        label = fmt::format("c{}", action & ~Program::kAdd);
        fmt::format_to(out, "{}: calc {}\n", label, program.schedule().adds[action & ~Program::kAdd].count);
      } else {
        label = fmt::format("s{}", action);
        fmt::format_to(out, "{}: send {}b to {} tag {}\n", label, bytes, sends[action].to.index, action);
      }
      if (!previous.empty()) fmt::format_to(out, "{} requires {}\n", label, previous);
      const std::int32_t need = program.needs(action);
      const std::int32_t first = program.needs_prefix() ? 0 : need;
      const std::int32_t last = program.needs_prefix() ? need - 1 : need + program.needs_also(action);
      for (std::int32_t i = std::max(first, 0); i <= last && last != Program::kImpossible; ++i) {
        fmt::format_to(out, "{} requires r{}\n", label, receptions[static_cast<std::size_t>(i)]);
      }
      previous = label;
    }
    text += "}\n";
  }
  return text;
}

}  // namespace chasqui::simulate
