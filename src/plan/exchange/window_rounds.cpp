// SPDX-License-Identifier: MIT
#include "plan/exchange/window_rounds.hpp"

#include <algorithm>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/exchange/window_search.hpp"

namespace chasqui::plan {
namespace {

constexpr std::size_t kMaxRounds = std::size_t{1} << 25;

[[noreturn]] void too_many_rounds(const LogP& machine) {
  throw Error("{}: a rank would send more than 2^25 messages: reduce P, or use a coarser gap g", to_string(machine));
}

/// Adds send times by `next(times)` until the windows hold P, or `best` is not beaten.
template <typename Next>
void grow(const LogP& machine, const Spacing& spacing, SendTimes& best, Next next) {
  SendTimes times;
  std::vector<std::int64_t> reach = {1};
  std::size_t arrived = 0;
  while (reach.back() < machine.P) {
    const std::int64_t t = next(times);
    if (!best.empty() && (t > best.back() || (t == best.back() && times.size() + 1 >= best.size()))) return;
    require_horizon(t, machine);
    if (times.size() == kMaxRounds) too_many_rounds(machine);
    times.push_back(t);
    while (arrived < times.size() && times[arrived] <= t - spacing.D) ++arrived;
    reach.push_back(saturating_add(reach.back(), reach[arrived]));
  }
  best = std::move(times);
}

}  // namespace

std::vector<std::int64_t> window_growth(const SendTimes& times, const Spacing& spacing) {
  std::vector<std::int64_t> reach = {1};
  std::size_t arrived = 0;
  for (const std::int64_t t : times) {
    while (times[arrived] <= t - spacing.D) ++arrived;
    reach.push_back(saturating_add(reach.back(), reach[arrived]));
  }
  return reach;
}

std::vector<WindowRound> window_rounds(const LogP& machine, const SendTimes& times) {
  const Spacing spacing(machine);
  const std::vector<std::int64_t> reach = window_growth(times, spacing);
  CHASQUI_CHECK(reach.back() >= machine.P, "reach={} P={}", reach.back(), machine.P);
  __extension__ using Wide = unsigned __int128;
  const auto window = [&](std::size_t j) {
    const Wide last = static_cast<Wide>(reach.back());
    return static_cast<std::int64_t>((static_cast<Wide>(machine.P) * static_cast<Wide>(reach[j]) + last - 1) / last);
  };
  std::vector<WindowRound> rounds;
  std::size_t arrived = 0;
  std::int64_t before = window(0);
  for (std::size_t j = 1; j < reach.size(); ++j) {
    const std::int64_t begin = times[j - 1];
    while (times[arrived] <= begin - spacing.D) ++arrived;
    const std::int64_t after = window(j);
    const std::int64_t width = after - before;
    const bool without_own = width != window(arrived);
    CHASQUI_CHECK(width + (without_own ? 1 : 0) == window(arrived), "round {} of {}", j, to_string(machine));
    if (width > 0) rounds.push_back({begin, before - (without_own ? 1 : 0), width, without_own});
    before = after;
  }
  return rounds;
}

SendTimes window_send_times(const LogP& machine) {
  const Spacing spacing(machine);
  SendTimes best;
  if (machine.P == 1) return best;
  // Sends that begin within L add one contribution each.
  if (std::min(spacing.L / spacing.G, machine.P - 2) >= static_cast<std::int64_t>(kMaxRounds)) too_many_rounds(machine);
  grow(machine, spacing, best, [&](const SendTimes& times) {
    return times.empty() ? 0 : earliest_legal(times, spacing, times.back() + spacing.G);
  });
  if (machine.is_postal()) return best;
  for (const GroupPattern& pattern : group_patterns(spacing, best.size() > 100'000 ? 2 : 32)) {
    grow(machine, spacing, best,
         [&](const SendTimes& times) { return pattern.at(static_cast<std::int64_t>(times.size()), spacing); });
  }
  improve_by_beam(machine, best);
  return best;
}

}  // namespace chasqui::plan
