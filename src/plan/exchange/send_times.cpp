// SPDX-License-Identifier: MIT
#include "plan/exchange/send_times.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {

void require_horizon(std::int64_t last_send, const LogP& machine) {
  if (last_send > kHorizon) {
    throw Error("{}: the plan would end after 2^60 ticks: use a coarser unit of time", to_string(machine));
  }
}

std::int64_t earliest_legal(const SendTimes& times, const Spacing& spacing, std::int64_t from) {
  std::int64_t t = from;
  for (;;) {
    // The latest send that is more than L old; it forbids t when it is less than D old.
    auto past = std::lower_bound(times.begin(), times.end(), t - spacing.L);
    if (past == times.begin()) return t;
    const std::int64_t s = *--past;
    if (t - s >= spacing.D) return t;
    t = s + spacing.D;
  }
}

bool legal_after(const SendTimes& times, const Spacing& spacing, std::int64_t t) {
  return earliest_legal(times, spacing, t) == t;
}

std::vector<std::int64_t> next_candidates(const SendTimes& times, const Spacing& spacing, std::size_t limit) {
  const std::int64_t last = times.back();
  const std::int64_t latest = last + spacing.longest_wait();
  const std::int64_t earliest = earliest_legal(times, spacing, last + spacing.G);
  std::vector<std::int64_t> found = {earliest};
  const auto consider = [&](std::int64_t t) {
    if (t > earliest && t < latest && legal_after(times, spacing, t)) found.push_back(t);
  };
  if (limit <= 3) {
    const auto arriving = std::upper_bound(times.begin(), times.end(), earliest - spacing.D);
    if (arriving != times.end()) consider(earliest_legal(times, spacing, *arriving + spacing.D));
  } else {
    const std::int64_t oldest = last - spacing.D - 3 * spacing.G - 3 * spacing.overheads();
    for (auto s = std::lower_bound(times.begin(), times.end(), oldest); s != times.end(); ++s) {
      for (std::int64_t a = 0; a <= 3; ++a) {
        for (std::int64_t b = 0; b <= 3; ++b) {
          const std::int64_t t = *s + a * spacing.G + b * spacing.overheads();
          consider(t);
          consider(t + spacing.D);
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > limit) found.resize(limit);
  if (found.back() < latest) found.push_back(latest);
  return found;
}

std::vector<GroupPattern> group_patterns(const Spacing& spacing, std::int64_t limit) {
  const auto [L, D, G] = spacing;
  std::vector<GroupPattern> patterns;
  const auto add = [&, L = L, D = D, G = G](std::int64_t reach) {
    // size - 1 = x: period >= (D + xG) / (reach+1) and >= (x+1)G, reach*period + xG <= L.
    const auto period_for = [&](std::int64_t x) { return std::max(divide_up(D + x * G, reach + 1), (x + 1) * G); };
    const auto fits = [&](std::int64_t x) { return period_for(x) <= (L - x * G) / std::max<std::int64_t>(reach, 1); };
    if (reach > 0 && !fits(0)) return;
    std::int64_t low = 0;
    for (std::int64_t high = L / G + 1; high - low > 1;) {
      const std::int64_t middle = low + (high - low) / 2;
      (reach == 0 || fits(middle) ? low : high) = middle;
    }
    patterns.push_back({low + 1, period_for(low)});
    if (low > 0) patterns.push_back({1, period_for(0)});
  };
  const std::int64_t most = L / std::max(G, spacing.overheads());
  for (std::int64_t reach = 0; reach <= std::min(most, limit); ++reach) add(reach);
  for (std::int64_t reach = std::max(limit + 1, most - limit); reach <= most; ++reach) add(reach);
  return patterns;
}

}  // namespace chasqui::plan
