// SPDX-License-Identifier: MIT
// One step of a plan in which every rank does the same in every step: a send at its begin, a reception, and publications and readings
// in the pauses between them (docs/clusters.md, Lemma 28).
#pragma once

#include <cstdint>
#include <optional>

#include "chasqui/model/cluster.hpp"

namespace chasqui::plan {

/// Events of equal length, one after another in two rows.
struct Slots {
  std::int64_t first = 0, second = 0;  ///< begins of the rows
  std::int64_t in_first = 0;           ///< how many lie in the first row
  std::int64_t each = 0;               ///< ticks of one of them

  /// Begin of slot i, ascending. REQUIRES i >= 0.
  std::int64_t at(std::int64_t i) const { return i < in_first ? first + i * each : second + (i - in_first) * each; }
  /// The same without the first `i`.
  Slots from(std::int64_t i) const {
    const std::int64_t skipped = i < in_first ? i : in_first;
    return {first + skipped * each, second + (i - skipped) * each, in_first - skipped, each};
  }
};

/// Where in a step a rank may be busy with a reception.
struct Receiving {
  std::int64_t begin = 0, length = 0;
};

/// Times are counted from the begin of the step. Nothing reaches beyond its end.
struct StepSlots {
  std::int64_t length = 0;  ///< ticks from one step to the next
  Receiving receiving;
  Slots publications, readings;
};

/// The reception of what was sent at the begin of a step of that length. REQUIRES length > 0.
Receiving reception_in_step(const LogP& machine, std::int64_t length);

/// A step of so many ticks with so many publications and readings; nothing where they were not fitted in, which never happens if they
/// leave max(publish, read) ticks of the step unused and the reception meets no send. Publications come after the reception as far as
/// possible. Time: O(1). REQUIRES that what is in the step takes less than 2^63 ticks.
std::optional<StepSlots> step_slots(const Cluster& cluster, std::int64_t length, const Receiving& receiving,
                                    std::int64_t publications, std::int64_t readings);

/// The shortest length of `least` or more with which no reception begins less than `away` from the begin of a send. REQUIRES
/// 0 <= away <= L + o, least >= max(1, 2 * away). Time: a few steps, whatever the times are.
std::int64_t length_apart(const LogP& machine, std::int64_t least, std::int64_t away);

/// A step of `least` ticks or more, less than max(publish, read) / 256 longer than the shortest one that step_slots finds. REQUIRES
/// least >= 1.
StepSlots short_step(const Cluster& cluster, std::int64_t least, std::int64_t publications, std::int64_t readings);

}  // namespace chasqui::plan
