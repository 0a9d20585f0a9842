// SPDX-License-Identifier: MIT
#include "explorer/engine/played.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/simulate/simulate.hpp"
#include "chasqui/solve/worst_case.hpp"

namespace chasqui::explorer {
namespace {

/// Beyond this the exact search for the worst case can take longer than people wait.
constexpr std::size_t kFewMessages = 16;

/// A message that takes no time at all is refused by the simulator; what the page asks for is rounded into the range.
Time least_latency(const LogP& machine, const Play& how) {
  const Time floor{machine.o == Time{0} ? 1 : 0};
  return std::clamp(Time{how.low}, std::min(floor, machine.L), machine.L);
}

simulate::Latency policy(const LogP& machine, const Play& how) {
  const Time low = least_latency(machine, how);
  if (how.latency == "exact") return simulate::exactly_L(machine);
  if (how.latency == "uniform") return simulate::uniform(machine, low, machine.L, how.seed);
  if (how.latency == "two-level") return simulate::two_level(machine, how.group, low, machine.L);
  throw Error("latency {}: use exact, uniform, two-level or adversarial", how.latency);
}

Played play_adversary(const Schedule& schedule, const Play& how, simulate::Options options) {
  solve::AdversaryOptions search;
  search.low = least_latency(schedule.machine, how);
  search.states = 20'000;
  search.plays = std::clamp<std::uint64_t>(200'000 / std::max<std::size_t>(1, schedule.sends.size()), 20, 2'000);
  search.seed = how.seed;
  const bool few = schedule.sends.size() <= kFewMessages;
  const solve::WorstCase worst =
      few ? solve::worst_case(schedule, search) : solve::worst_case_heuristic(schedule, search);
  options.ties = simulate::Ties::given;
  options.order = worst.order;
  const auto latency = simulate::table(schedule.machine, worst.latencies);
  const std::string note = worst.late == Time{0} && !worst.exact ? "the search found no way to make it late"
                           : worst.exact ? fmt::format("exact: the worst of all latencies {}..{}, {} states searched",
                                                       search.low.ticks, schedule.machine.L.ticks, worst.explored)
                                         : fmt::format(
                                               "the worst of {} plays with latencies {}..{}, not proved to be the "
                                               "worst of all",
                                               worst.explored, search.low.ticks, schedule.machine.L.ticks);
  return {simulate::simulate(schedule, latency, options), note};
}

}  // namespace

bool is_plain(const Play& how) { return how.latency == "exact" && !how.event_driven && how.late_rank < 0; }

Played play(const Schedule& schedule, const Play& how) {
  simulate::Options options;
  options.critical_path = false;
  options.mode = how.event_driven ? simulate::Mode::event_driven : simulate::Mode::timed;
  if (how.late_rank >= 0) {
    if (how.late_rank >= schedule.machine.P) {
      throw Error("late rank {} does not exist: ranks are 0..{}", how.late_rank, schedule.machine.P - 1);
    }
    options.stragglers.push_back(
        {Rank{static_cast<std::int32_t>(how.late_rank)}, Time{how.late_by}, schedule.machine.o, schedule.machine.g});
  }
  if (how.latency == "adversarial" && !schedule.sends.empty()) return play_adversary(schedule, how, options);
  if (how.latency == "adversarial")
    return {simulate::simulate(schedule, simulate::exactly_L(schedule.machine), options), ""};
  return {simulate::simulate(schedule, policy(schedule.machine, how), options), ""};
}

}  // namespace chasqui::explorer
