// SPDX-License-Identifier: MIT
#include "chasqui/plan/allgather.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/exchange/allgather_ring.hpp"
#include "plan/exchange/matched_allgather.hpp"
#include "plan/exchange/symmetric_exchange.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::plan {
namespace {

/// The best ring, if one ends before a last send at `last`.
std::optional<RingShape> best_ring(const LogP& machine, std::int64_t items, Time bound, std::int64_t last) {
  std::optional<RingShape> best;
  for (std::int64_t m = 2; m <= std::min(machine.P, kMostClasses); ++m) {
    if (Time{last} + machine.lambda() <= bound) break;
    if (auto ring = ring_shape(machine, items, m, last)) {
      last = ring->last_send();
      best = std::move(ring);
    }
  }
  return best;
}

/// A list of messages and how it was found.
struct Listed {
  std::string construction;
  std::vector<Send> sends;

  std::int64_t last_send() const { return sends.back().begin.ticks; }
};

/// The best matched all-gather of few items, if one ends before a last send at `last`; `least` is good enough.
std::optional<Listed> best_matched(const LogP& machine, std::int64_t items, std::int64_t least, std::int64_t last) {
  std::optional<Listed> best;
  if (machine.P * items > kMostMatched) return best;
  const Spacing spacing(machine);
  // An attempt costs O(P^3): beyond 32 items only few classes and the two shortest periods of each are tried.
  const bool few = machine.P * items <= 32;
  for (std::int64_t m = 2; m <= (few ? machine.P : 12); ++m) {
    int tried = 0;
    for (const std::int64_t q : ring_periods(spacing, m)) {
      if (last <= least) return best;
      if ((items * (machine.P - 1) - 1) * q >= last || (!few && tried == 2)) break;
      const auto offset = ring_offsets(spacing, m, q);
      if (!offset) continue;
      ++tried;
      if (auto sends = matched_ring(machine, items, q, *offset, last)) {
        best = {fmt::format("ring of {} classes, period {}, matched slot by slot", m, q), std::move(*sends)};
        last = best->last_send();
      }
    }
  }
  if (auto sends = matched_at_random(machine, items, least, last)) best = {"matched tick by tick", std::move(*sends)};
  return best;
}

/// Throws an Error when items do not fit a message, or times the horizon.
void require_size(const LogP& machine, std::int64_t items) {
  if (saturating_multiply(machine.P, items) > kMaxProcessors) {
    throw Error("P={} ranks with {} items each are more than 2^31 items: use fewer items", machine.P, items);
  }
  const std::int64_t slot = std::max(machine.gap().ticks, 2 * machine.o.ticks);
  require_horizon(saturating_add(saturating_multiply(items * (machine.P - 1), slot), machine.lambda().ticks), machine);
}

/// G < 2o: the rank sends a times, then alternates receptions and sends (one of each takes 2o), and the
/// receptions left over follow G apart. REQUIRES 1 <= a <= n.
std::int64_t busy_time(const Spacing& s, std::int64_t n, std::int64_t a) {
  const auto [L, D, G] = s;
  const std::int64_t o = s.overheads() / 2;
  std::int64_t r = std::max(L + o, (a - 1) * G + o);
  if (a < n) r = std::max(r, a * G - o);
  const std::int64_t receptions = r + o + 2 * o * (n - a) + (a - 1) * G;
  const std::int64_t sends = a < n ? r + o + 2 * o * (n - a - 1) + D : (n - 1) * G + D;
  return std::max(receptions, sends);
}

}  // namespace

/// What one rank needs for n sends and n receptions (exchange.md, Theorem 9).
Time allgather_bound(const LogP& machine, std::int64_t items) {
  validate(machine);
  validate(Problem{.kind = Kind::allgather, .items = items}, machine);
  require_size(machine, items);
  const Spacing s(machine);
  const auto [L, D, G] = s;
  const std::int64_t n = items * (machine.P - 1);
  if (n == 0) return Time{0};
  if (s.overheads() == 0 || (n - 1) * G <= L) return Time{D + (n - 1) * G};
  if (G >= s.overheads()) {
    const std::int64_t k = L / G + 1;
    const bool meets = k <= n - 1 && k * G < D;
    return Time{D + (n - 1) * G + (meets ? std::min(k * G - L, D - k * G) : 0)};
  }
  // busy_time is convex over 1 <= a < n (sums and maxima of linear terms); a = n stands apart.
  std::int64_t low = 1, high = std::max<std::int64_t>(1, n - 1);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (busy_time(s, n, middle + 1) >= busy_time(s, n, middle)) high = middle;
    else low = middle + 1;
  }
  return Time{std::min(busy_time(s, n, low), busy_time(s, n, n))};
}

PlanPtr allgather(const LogP& machine, std::int64_t items) {
  const Problem problem{.kind = Kind::allgather, .items = items};
  Claim claim;
  claim.bound = allgather_bound(machine, items);  // validates
  claim.bound_source = "one rank makes k(P-1) sends and as many receptions (exchange.md, Theorem 9)";
  claim.construction = "symmetric: everybody sends its own items to r+1, r+2, ...";
  if (machine.P == 1) return symmetric_exchange(machine, problem, claim, SymmetricTimes{});

  SymmetricTimes times = symmetric_times(machine, items * (machine.P - 1));
  const auto ring = best_ring(machine, items, claim.bound, times.last());
  const std::int64_t last = ring ? ring->last_send() : times.last();
  require_horizon(last, machine);
  if (auto listed = best_matched(machine, items, (claim.bound - machine.lambda()).ticks, last)) {
    claim.finish = Time{listed->last_send()} + machine.lambda();
    claim.construction = listed->construction;
    std::sort(listed->sends.begin(), listed->sends.end());
    return std::make_shared<ListedPlan>(machine, problem, claim, std::move(listed->sends));
  }
  claim.finish = Time{last} + machine.lambda();
  if (!ring) return symmetric_exchange(machine, problem, claim, std::move(times));
  claim.construction = fmt::format("ring of {} classes, period {}, {} ranks over", ring->m, ring->period, ring->rest);
  return ring_allgather(machine, problem, claim, *ring);
}

}  // namespace chasqui::plan
