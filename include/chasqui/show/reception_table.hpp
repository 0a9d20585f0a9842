// SPDX-License-Identifier: MIT
// Rows processors, columns time: which item a processor receives when. Active items (the processor will forward them)
// and delayed ones (they arrived earlier and waited in a buffer behind an active item) are marked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {
/// One entry.
struct Reception {
  Rank rank;             ///< the receiver
  Time time;             ///< available from here on
  Part part;             ///< what it receives
  bool active = false;   ///< it will be forwarded
  bool delayed = false;  ///< it waited in a buffer
};
/// Who receives what when.
struct ReceptionTable {
  std::string title;                  ///< heading
  std::int64_t P = 0;                 ///< processors
  bool combining = false;             ///< entries are folds, not items
  std::vector<Time> times;            ///< the columns: times at which something is received
  std::vector<Reception> receptions;  ///< by rank, then time
};

/// When two items reach a processor closer than its gap, the active one is received first and the other waits.
/// Time: O(n log n) in the messages.
ReceptionTable reception_table(const Schedule& schedule);

/// "3", or "+4" for a fold of four contributions.
std::string cell_text(const Reception& reception, bool combining);

}  // namespace chasqui::show
