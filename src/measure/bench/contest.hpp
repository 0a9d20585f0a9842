// SPDX-License-Identifier: MIT
// What a benchmark times, from a common start: our way to do it and how rivals would.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"
#include "measure/common_start.hpp"

namespace chasqui::measure {

struct Contest {
  /// Does it once, on all ranks together: nanoseconds, one value a row.
  using Sample = std::function<std::vector<double>(CommonStart&)>;

  std::vector<std::string> names;  ///< of the rows; most have one
  std::size_t bytes = 0;
  std::string method;
  std::vector<double> predicted;  ///< one a row
  Sample ours;
  std::function<Sample(const Rival&)> against;          ///< empty: the rival cannot do it. Collective.
  std::vector<std::pair<std::string, Sample>> further;  ///< rivals of this contest alone
};

/// One call of a collective.
Contest contest_of_call(run::Comm& comm, Kind kind, std::size_t bytes);

/// What is_many(). REQUIRES messages and at least two ranks. Throws an Error where the data is wrong afterwards.
Contest contest_of_sum(run::Comm& comm, std::size_t bytes);
Contest contest_of_items(run::Comm& comm, std::size_t bytes);   ///< eight of them
Contest contest_of_stream(run::Comm& comm, std::size_t bytes);  ///< two rows: the time for an item, and its delay

}  // namespace chasqui::measure
