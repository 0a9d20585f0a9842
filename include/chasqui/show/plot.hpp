// SPDX-License-Identifier: MIT
// Measured curves as SVG: both axes logarithmic (x in powers of two: 8, 64, 4 Ki), a shape and a dash pattern for each curve besides its colour, an
// interval around each point where one is known.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace chasqui::show {

/// One point of a curve. `low` and `high` are the ends of its interval, equal to `y` where none is known.
struct PlotPoint {
  double x = 0;     ///< size in bytes, or processors: what the x axis counts
  double y = 0;     ///< what was measured or computed there
  double low = 0;   ///< lower end of the interval
  double high = 0;  ///< upper end of the interval
};

/// A curve with its name in the legend.
struct Curve {
  std::string name;               ///< in the legend
  std::vector<PlotPoint> points;  ///< ascending in x
  bool dashed = false;            ///< predictions and bounds
  int colour = -1;                ///< 0 .. 5: this one, so that a name keeps its colour from plot to plot; -1: by place
};

/// What the axes say. Points that are not positive are left out: there is no place for them.
struct Plot {
  std::string title;                                       ///< heading
  std::string x_label;                                     ///< below the axis
  std::string y_label;                                     ///< above the axis
  std::vector<Curve> curves;                               ///< at most six are told apart by colour
  std::vector<std::pair<PlotPoint, std::string>> marks{};  ///< circled, with words that show where the pointer rests
  std::string marks_label{};                               ///< what a circle means, in the legend
};

/// The picture; without any point one that says so.
std::string plot_svg(const Plot& plot);

/// One contestant.
struct Bar {
  std::string name;       ///< before the bar
  double value = 0;       ///< its length, from 0; negative ones are drawn as 0
  int colour = 0;         ///< 0 .. 5, as in plots
  bool outlined = false;  ///< predictions: the frame only
};

/// Times side by side as SVG, for what has no size to plot over, such as a barrier: a horizontal bar for each contestant,
/// its value with `unit` written behind it.
std::string bars_svg(const std::string& title, const std::string& unit, const std::vector<Bar>& bars);

}  // namespace chasqui::show
