// SPDX-License-Identifier: MIT
// The counting bound (items.md, Theorem 1) in closed form (items.md, Corollary 2).
#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/universal_tree.hpp"

namespace chasqui::plan {
namespace {

/// P(T) + P(T-g) + P(T-2g) + … : a sum of binomials down a column is the binomial below it.
std::int64_t windows_below(const TreeShape& shape, Time T) {
  std::int64_t sum = 0;
  for (std::int64_t a = 0; a * shape.lambda.ticks <= T.ticks && sum < kSaturated; ++a) {
    const std::int64_t b = (T.ticks - a * shape.lambda.ticks) / shape.gap.ticks;
    sum = saturating_add(sum, saturating_binomial(a + 1 + b, a + 1));
    if (b == 0 && (a + 1) * shape.lambda.ticks > T.ticks) break;
  }
  return sum;
}

/// The most messages that can have begun by time t: windows from B(M) on carry M each.
std::int64_t capacity(const TreeShape& shape, std::int64_t M, Time full, Time t) {
  if (t < full) return windows_below(shape, t);
  const std::int64_t windows = (t - full).ticks / shape.gap.ticks + 1;
  const Time rest = t - windows * shape.gap;
  const std::int64_t before = rest < Time{0} ? 0 : windows_below(shape, rest);
  return saturating_add(saturating_multiply(windows, M), before);
}

void require(const LogP& machine, std::int64_t k) {
  validate(machine);
  if (k < 1) throw Error("k-item broadcast: k = {} items; k must be at least 1", k);
  if (k > (std::int64_t{1} << 31) - 1) throw Error("k-item broadcast: k = {} items; k must be below 2^31", k);
}

}  // namespace

Time kitem_bound(const LogP& machine, std::int64_t k) {
  require(machine, k);
  const std::int64_t M = machine.P - 1;
  if (M == 0) return Time{0};
  const TreeShape shape = broadcast_shape(machine);
  const Time full = broadcast_time(shape, M);
  const std::int64_t wanted = k * M;
  std::int64_t low = 0;
  std::int64_t high = checked_add(full.ticks, checked_multiply(k, shape.gap.ticks, "k-item bound"), "k-item bound");
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (capacity(shape, M, full, Time{middle}) >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return shape.lambda + Time{low};
}

Time kitem_work_bound(const LogP& machine, std::int64_t k) {
  require(machine, k);
  const std::int64_t busy = saturating_multiply(k, 2 * machine.o.ticks), waits = (machine.L + machine.o).ticks;
  const std::int64_t all = saturating_multiply(machine.P - 1, saturating_add(busy, waits));
  return Time{all / machine.P + (all % machine.P > 0 ? 1 : 0)};
}

Bound least_kitem_time(const LogP& machine, std::int64_t k) {
  const Time counting = kitem_bound(machine, k), work = kitem_work_bound(machine, k);
  if (work > counting) return {work, "the work of all ranks together"};
  return {counting, kCountingBound};
}

/// items.md, Theorem 3.
Time kitem_single_sending_bound(const LogP& machine, std::int64_t k) {
  require(machine, k);
  if (machine.P == 1) return Time{0};
  const TreeShape shape = broadcast_shape(machine);
  const std::int64_t steps = checked_multiply(k - 1, shape.gap.ticks, "k-item bound");
  return shape.lambda + broadcast_time(shape, machine.P - 1) + Time{steps};
}

}  // namespace chasqui::plan
