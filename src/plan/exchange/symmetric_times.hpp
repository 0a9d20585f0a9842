// SPDX-License-Identifier: MIT
// n send times shared by all ranks with an early last one, as a formula: for large n a cycle is repeated.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/exchange/send_times.hpp"

namespace chasqui::plan {

/// A legal sequence of n send times: either a group pattern, or a short legal sequence in which the stretch
/// of `cycle` sends after index `from` is repeated. Repeating is legal when the sends younger than D look
/// alike, seen from base[from] and from base[from + cycle]: what may follow depends on nothing else.
class SymmetricTimes {
 public:
  static SymmetricTimes of_groups(GroupPattern groups, const Spacing& spacing, std::int64_t n);
  static SymmetricTimes of_sequence(SendTimes base, std::int64_t from, std::int64_t cycle, std::int64_t n);

  std::int64_t count() const { return count_; }
  std::int64_t at(std::int64_t i) const;
  std::int64_t last() const { return at(count_ - 1); }

 private:
  std::int64_t count_ = 1;
  std::optional<GroupPattern> groups_;
  std::int64_t gap_ = 1;
  SendTimes base_;
  std::int64_t from_ = 0;
  std::int64_t cycle_ = 0;
  std::int64_t repeats_ = 0;
};

/// The best sequence found: dynamic programming over send times (state: the ages below D of earlier sends) for up to a
/// few windows of D, repeated from there on, or a group pattern. REQUIRES n >= 1. Time: bounded, independent of n.
SymmetricTimes symmetric_times(const LogP& machine, std::int64_t n);

}  // namespace chasqui::plan
