// SPDX-License-Identifier: MIT
#include "bsp_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace chasqui::bsp {

namespace {

/// A round step that gives about five ticks.
double tick_step(double most) {
  const double raw = most / 5, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string to_svg(const Plot& plot) {
  constexpr double kLeft = 60, kTop = 44, kWidth = 640, kHeight = 320;
  double low = 1e300, high = -1e300, top = 0;
  std::set<double> xs;
  const auto across = [&](double x) { return plot.logarithmic_x ? std::log2(x) : x; };
  for (const Series& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      low = std::min(low, across(x)), high = std::max(high, across(x)), top = std::max(top, y);
      xs.insert(x);
    }
  }
  top *= 1.08 + 0.07 * static_cast<double>(plot.series.size());  // room for the legend
  const auto px = [&](double x) { return kLeft + 16 + (across(x) - low) / std::max(1e-9, high - low) * (kWidth - 32); };
  const auto py = [&](double y) { return kTop + kHeight * (1 - y / top); };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{:.0f}\" y=\"24\" "
      "font-size=\"13\">{}</text>\n",
      kLeft + kWidth + 20, kTop + kHeight + 50, kLeft, plot.title);
  const auto out = std::back_inserter(svg);
  const double step = tick_step(top);
  for (double y = 0; y <= top; y += step) {
    fmt::format_to(out, "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>\n", kLeft,
                   kLeft + kWidth, py(y));
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", kLeft - 6, py(y) + 4, y);
  }
  for (const double x : xs) {
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n", px(x),
                   kTop + kHeight + 18, x);
  }
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", kLeft + kWidth / 2,
                 kTop + kHeight + 38, plot.x_label);
  fmt::format_to(
      out, "<text x=\"14\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0:.1f})\">{1}</text>\n",
      kTop + kHeight / 2, plot.y_label);
  fmt::format_to(out, "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\" fill=\"none\" stroke=\"black\"/>\n", kLeft, kTop,
                 kTop + kHeight, kLeft + kWidth);
  double legend = kTop + 16;
  for (const Series& series : plot.series) {
    std::string points;
    for (const auto& [x, y] : series.points) points += fmt::format("{:.1f},{:.1f} ", px(x), py(y));
    fmt::format_to(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points,
                   series.color);
    for (const auto& [x, y] : series.points)
      fmt::format_to(out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", px(x), py(y), series.color);
    fmt::format_to(out,
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"4\" fill=\"{}\"/><text "
                   "x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                   kLeft + 16, legend - 6, series.color, kLeft + 36, legend, series.name);
    legend += 18;
  }
  return svg + "</svg>\n";
}

}  // namespace chasqui::bsp
