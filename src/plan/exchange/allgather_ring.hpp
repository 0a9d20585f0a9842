// SPDX-License-Identifier: MIT
// The ring of m classes for all-gather: class c sends only to class c+1, at offset_c + t*period. Two neighbours never
// meet in an overhead when offset_{c+1} - offset_c lies in [D - period, L], modulo the period (exchange.md, Theorem 11).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chasqui/plan/plan.hpp"
#include "plan/exchange/send_times.hpp"

namespace chasqui::plan {

/// Rank r is in class r mod m and column r / m. There are `columns` columns, all full when m divides P;
/// otherwise the last one holds the `rest`: P mod m ranks, in the classes 0, 1, …
struct RingShape {
  std::int64_t m = 1;
  std::int64_t columns = 1;
  std::int64_t rest = 0;
  std::int64_t items = 1;
  std::int64_t period = 1;
  std::int64_t block = 1;  ///< ticks from one block (items of one class) to the next, a multiple of the period
  std::vector<std::int64_t> offset;

  std::int64_t last_send() const;
};

/// The best ring of m classes, unless `unless_by` (a last send) is not beaten. REQUIRES 2 <= m <= 64, m <= P.
/// Time: bounded, independent of P and of the ticks.
std::optional<RingShape> ring_shape(const LogP& machine, std::int64_t items, std::int64_t m, std::int64_t unless_by);

/// Offsets with the least maximum for m classes and this period, or nothing when no closed walk exists:
/// exact, by propagating intervals of positions and bisecting the maximum.
std::optional<std::vector<std::int64_t>> ring_offsets(const Spacing& spacing, std::int64_t m, std::int64_t period);

/// Periods worth trying, ascending: the least ones, and the least period for each of the largest numbers k of
/// whole periods that m steps can add up to, m(D - q) <= kq <= mL. Only those that admit some k.
std::vector<std::int64_t> ring_periods(const Spacing& spacing, std::int64_t m);

inline constexpr std::int64_t kMostClasses = 64;

/// All-gather on this ring: in block b every rank (class c, column i) passes the items of (c - b, i) on to all columns of
/// class c + 1, one column a round, its own column first. What it passes on in block b it received in the first rounds of
/// block b - 1. The last block brings a class its own items, so the first column is left out.
PlanPtr ring_allgather(const LogP& machine, const Problem& problem, Claim claim, RingShape ring);

}  // namespace chasqui::plan
