// SPDX-License-Identifier: MIT
// What a benchmark times, from a common start: our way to do it and how rivals would.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"

namespace chasqui::run {

struct Trial {
  /// Does it once, on all ranks together: nanoseconds, one value a row.
  using Sample = std::function<std::vector<double>(CommonStart&)>;

  std::vector<std::string> names;  ///< of the rows; most have one
  std::size_t bytes = 0;
  std::string method;
  std::vector<double> predicted;  ///< one a row
  Sample ours;
  std::function<Sample(const Rival&)> against;          ///< empty: the rival cannot do it. Collective.
  std::vector<std::pair<std::string, Sample>> further;  ///< rivals of this trial alone
};

/// One call of a collective.
Trial trial_of_call(Comm& comm, Kind kind, std::size_t bytes);

/// What is_many(). REQUIRES messages and at least two ranks. Throws an Error where the data is wrong afterwards.
Trial trial_of_sum(Comm& comm, std::size_t bytes);
Trial trial_of_items(Comm& comm, std::size_t bytes);   ///< eight of them
Trial trial_of_stream(Comm& comm, std::size_t bytes);  ///< two rows: the time for an item, and its delay

}  // namespace chasqui::run
