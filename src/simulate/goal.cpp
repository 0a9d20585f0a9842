// SPDX-License-Identifier: MIT
#include "chasqui/simulate/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "simulate/program.hpp"

namespace chasqui::simulate {
namespace {

/// Writes what one rank does. LogGOPS simulators take an operation as ended for its dependants once their processor is free,
/// so a pause must be a calculation on the processor that pauses; no message comes then, or the plan would not be legal.
class RankText {
 public:
  RankText(const Program& program, std::int64_t bytes, std::string& text)
      : program_(program), machine_(program.schedule().machine), bytes_(bytes), text_(text) {}

  void write(Rank rank, const std::vector<std::uint32_t>& receptions) {
    free_ = gap_end_ = Time{0};
    last_ = {};
    for (const std::uint32_t m : receptions) {
      add_line("r{}: recv {}b from {} tag {}", m, bytes_, program_.send(m).from.index, m);
    }
    auto reception = receptions.begin();
    const auto actions = program_.actions_of(rank);
    for (std::uint32_t at = actions.first; at < actions.end; ++at) {
      const std::uint32_t action = program_.action(at);
      const bool adds = action & Program::kAdd;
      const Time begin = adds ? added(action).begin : program_.send(action).begin;
      for (; reception != receptions.end() && available(machine_, program_.send(*reception)) <= begin; ++reception) {
        last_.push_back(fmt::format("r{}", *reception));
        free_ = std::max(free_, available(machine_, program_.send(*reception)));
      }
      if (begin > (adds ? free_ : std::max(free_, gap_end_))) {
        add_operation(fmt::format("p{}", at), fmt::format("calc {}", begin.ticks - free_.ticks));
      }
      if (adds) {
        add_operation(fmt::format("c{}", at), fmt::format("calc {}", added(action).count));
        free_ = begin + Time{added(action).count};
      } else {
        add_operation(fmt::format("s{}", action),
                      fmt::format("send {}b to {} tag {}", bytes_, program_.send(action).to.index, action));
        free_ = begin + machine_.o;
        gap_end_ = begin + machine_.gap();
      }
    }
  }

 private:
  template <typename... Arguments>
  void add_line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  const Add& added(std::uint32_t action) const { return program_.schedule().adds[action & ~Program::kAdd]; }

  /// The operation requires what came last, and is then what came last.
  void add_operation(std::string label, const std::string& what) {
    add_line("{}: {}", label, what);
    for (const std::string& before : last_) add_line("{} requires {}", label, before);
    last_ = {std::move(label)};
  }

  const Program& program_;
  const LogP& machine_;
  std::int64_t bytes_;
  std::string& text_;
  Time free_;                      // when the processor has ended what came last
  Time gap_end_;                   // when the next send may begin
  std::vector<std::string> last_;  // the last operation, and the receptions planned since
};

}  // namespace

std::string to_goal(const Schedule& schedule, std::int64_t bytes) {
  const Program program(schedule);
  const auto& sends = program.schedule().sends;
  std::vector<std::vector<std::uint32_t>> incoming(static_cast<std::size_t>(program.ranks()));
  for (std::uint32_t m = 0; m < sends.size(); ++m) incoming[static_cast<std::size_t>(sends[m].to.index)].push_back(m);

  std::string text = fmt::format("num_ranks {}\n", program.ranks());
  RankText ranks(program, bytes, text);
  for (std::int32_t r = 0; r < program.ranks(); ++r) {
    auto& receptions = incoming[static_cast<std::size_t>(r)];
    std::sort(receptions.begin(), receptions.end(), [&](auto a, auto b) { return sends[a] < sends[b]; });
    text += fmt::format("\nrank {} {{\n", r);
    ranks.write(Rank{r}, receptions);
    text += "}\n";
  }
  return text;
}

}  // namespace chasqui::simulate
