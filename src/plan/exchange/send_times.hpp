// SPDX-License-Identifier: MIT
// Send times shared by all ranks. The key fact (exchange.md, Lemma 2): when every rank sends at
// the same set of times and every slot is a permutation, the schedule keeps rules 2 to 5 exactly when two send times
// are at least G = max(g, o) apart and no difference lies in the open interval (L, D), D = L + 2o: a reception begins L
// + o after its send, so a smaller or larger difference is what keeps the two overheads apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chasqui/model/logp.hpp"

namespace chasqui::plan {

using SendTimes = std::vector<std::int64_t>;  ///< ascending, in ticks, the first is 0

/// The three durations the key fact speaks of.
struct Spacing {
  std::int64_t L = 1;
  std::int64_t D = 1;  ///< L + 2o
  std::int64_t G = 1;  ///< max(g, o)

  explicit Spacing(const LogP& machine) : L(machine.L.ticks), D(machine.lambda().ticks), G(machine.gap().ticks) {}

  std::int64_t overheads() const { return D - L; }
  /// Waiting longer than this after the last send never helps: by then no earlier send restricts the next one.
  std::int64_t longest_wait() const { return D > G ? D : G; }
};

/// No schedule is planned beyond this instant: times stay far from overflow.
inline constexpr std::int64_t kHorizon = std::int64_t{1} << 60;

/// Throws an Error when a plan would end after kHorizon.
void require_horizon(std::int64_t last_send, const LogP& machine);

/// The earliest legal time >= from after `times`. REQUIRES from >= times.back() + G. Time: O(log + conflicts).
std::int64_t earliest_legal(const SendTimes& times, const Spacing& spacing, std::int64_t from);

/// May a send begin at t after `times`? REQUIRES t >= times.back() + G. Time: O(log).
bool legal_after(const SendTimes& times, const Spacing& spacing, std::int64_t t);

/// Times worth trying for the next send: the earliest legal one, those of the form s_i + aG + b*2o + cD (a, b
/// <= 3, c <= 1) that are legal, and last + max(D, G); at most about `limit` of them, ascending. With limit
/// <= 3 only the earliest time, the next arrival and the longest wait. REQUIRES times not empty.
std::vector<std::int64_t> next_candidates(const SendTimes& times, const Spacing& spacing, std::size_t limit);

/// Groups of `size` sends G apart, a new group every `period`: legal for ever (exchange.md, Lemma 3).
struct GroupPattern {
  std::int64_t size = 1;
  std::int64_t period = 1;

  std::int64_t at(std::int64_t i, const Spacing& spacing) const { return i / size * period + i % size * spacing.G; }
};

/// The legal group patterns worth trying, one or two for each number of groups begun within L. Legal because
/// differences of times are jG + t*period with |j| < size, and for the groups begun within L they are at most
/// L, from the next group on at least D. The numbers tried are the `limit` smallest and the `limit` largest.
std::vector<GroupPattern> group_patterns(const Spacing& spacing, std::int64_t limit);

}  // namespace chasqui::plan
