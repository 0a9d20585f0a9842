// SPDX-License-Identifier: MIT
// What one rank needs for n sends and n receptions (exchange.md, Theorem 9).
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "plan/exchange/send_times.hpp"

namespace chasqui::plan {
namespace {

/// Throws an Error when items do not fit a message, or times the horizon.
void require_size(const LogP& machine, std::int64_t items) {
  if (saturating_multiply(machine.P, items) > kMaxProcessors) {
    throw Error("allgather: P={} ranks with {} items each are more than 2^31 items: use fewer items", machine.P, items);
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

}  // namespace chasqui::plan
