// SPDX-License-Identifier: MIT
// A line plot as SVG: axes, a few ticks, a legend.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace chasqui::bsp {

struct Series {
  std::string name;
  std::string color;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool logarithmic_x = false;
};

std::string to_svg(const Plot& plot);

}  // namespace chasqui::bsp
