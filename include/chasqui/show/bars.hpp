// SPDX-License-Identifier: MIT
// Times side by side as SVG: a horizontal bar for each contestant, its value written behind it. For what has no size to
// plot over, such as a barrier.
#pragma once

#include <string>
#include <vector>

namespace chasqui::show {

/// One contestant.
struct Bar {
  std::string name;       ///< before the bar
  double value = 0;       ///< its length, from 0; negative ones are drawn as 0
  int colour = 0;         ///< 0 .. 5, as in plots
  bool outlined = false;  ///< predictions: the frame only
};

/// The picture; `unit` goes behind each value.
std::string bars_svg(const std::string& title, const std::string& unit, const std::vector<Bar>& bars);

}  // namespace chasqui::show
