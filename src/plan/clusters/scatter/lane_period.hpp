// SPDX-License-Identifier: MIT
// What the root of a scatter and the other ranks of its node, the lanes, do again and again (docs/clusters.md, Theorem 27): the
// root sends some items and publishes others; each of these is read by a lane, which sends it at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/model/cluster.hpp"

namespace chasqui::plan {

/// Times are ticks from the begin of the period. Sends, slots, publications and spare places are numbered through all periods.
struct LanePeriod {
  /// A time in which the root may publish, `places` items one after another.
  struct Pause {
    std::int64_t begin = 0, places = 0;
  };

  std::int64_t length = 0;
  std::int64_t publish = 0;         ///< ticks of a publication
  std::vector<std::int64_t> sends;  ///< begins of the root's sends, ascending
  std::vector<std::int64_t> slots;  ///< begins of the lanes' sends, ascending; in turn one lane after another
  std::vector<Pause> pauses;        ///< in order; as many places as slots are for the lanes, the others are spare
  std::int64_t spare = 0;           ///< places that the lanes leave free
  std::int64_t delay = 0;           ///< what is published as number v is sent in slot v + delay

  std::int64_t send(std::int64_t number) const { return begin_of(number, sends); }  ///< REQUIRES sends
  std::int64_t slot(std::int64_t number) const { return begin_of(number, slots); }  ///< REQUIRES slots
  std::int64_t publication(std::int64_t number) const;                              ///< REQUIRES slots
  std::int64_t spare_place(std::int64_t number) const;                              ///< REQUIRES spare > 0
  std::int64_t place(std::int64_t number) const;  ///< within the period: REQUIRES so many places. Time: O(pauses)

 private:
  std::int64_t begin_of(std::int64_t number, const std::vector<std::int64_t>& begins) const {
    const auto each = static_cast<std::int64_t>(begins.size());
    // Whoever looks for the best share of the root asks for sends far behind the end: they saturate.
    return saturating_add(saturating_multiply(number / each, length), begins[static_cast<std::size_t>(number % each)]);
  }
};

/// The period with which a root with so many lanes and so many items that leave its node ends first, of those that are tried:
/// `finish` says when. REQUIRES lanes >= 0, items >= 1.
LanePeriod best_lane_period(const Cluster& cluster, std::int64_t lanes, std::int64_t items,
                            const std::function<std::int64_t(const LanePeriod&)>& finish);

/// The root sends alone, once in so many ticks, and publishes for the other ranks of its node in between. REQUIRES length >= max(g, o).
LanePeriod root_period(const Cluster& cluster, std::int64_t lanes, std::int64_t length);

}  // namespace chasqui::plan
