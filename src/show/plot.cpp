// SPDX-License-Identifier: MIT
#include "chasqui/show/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "show/svg.hpp"

namespace chasqui::show {
namespace {

constexpr double kWidth = 560, kTop = 58, kLeft = 64, kRight = 16, kArea = 240, kBottom = 44;

/// A logarithmic axis over whole powers of `base`.
struct Scale {
  double base = 10;
  int first = 0;
  int last = 1;
  double from = 0;
  double to = 1;

  void cover(double low, double high) {
    first = static_cast<int>(std::floor(std::log(low) / std::log(base) + 1e-9));
    last = std::max(first + 1, static_cast<int>(std::ceil(std::log(high) / std::log(base) - 1e-9)));
  }
  double at(double value) const {
    const double share = (std::log(value) / std::log(base) - first) / (last - first);
    return from + std::clamp(share, 0.0, 1.0) * (to - from);
  }
};

bool on_paper(const PlotPoint& point) {
  return point.x > 0 && point.y > 0 && std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.low) &&
         std::isfinite(point.high);
}

std::string amount(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", value);
}

std::string bytes(double value) {
  if (value >= 1 << 20) return fmt::format("{:g} Mi", value / (1 << 20));
  if (value >= 1 << 10) return fmt::format("{:g} Ki", value / (1 << 10));
  return fmt::format("{:g}", value);
}

void mark(Svg& svg, std::size_t which, double x, double y, const std::string& title) {
  const std::string style = fmt::format("mark{}", which % 6);
  switch (which % 4) {
    case 0: svg.circle(x, y, 3.6, style, title); break;
    case 1: svg.rectangle(x - 3.4, y - 3.4, 6.8, 6.8, style, title); break;
    case 2: svg.triangle(x, y + 3.4, 8, true, style, title); break;
    default: svg.triangle(x, y - 3.4, 8, false, style, title); break;
  }
}

std::size_t colour_of(const Plot& plot, std::size_t i) {
  return plot.curves[i].colour >= 0 ? static_cast<std::size_t>(plot.curves[i].colour) : i;
}

void curve(Svg& svg, const Curve& one, std::size_t which, const Scale& x, const Scale& y) {
  const std::string style = fmt::format("{}{}", one.dashed ? "dash" : "line", which % 6);
  const PlotPoint* before = nullptr;
  for (const PlotPoint& point : one.points) {
    if (!on_paper(point)) continue;
    if (before != nullptr) svg.line(x.at(before->x), y.at(before->y), x.at(point.x), y.at(point.y), style);
    if (point.low > 0 && point.high > point.low) {
      svg.line(x.at(point.x), y.at(point.low), x.at(point.x), y.at(point.high), fmt::format("line{}", which % 6));
    }
    before = &point;
  }
  for (const PlotPoint& point : one.points) {
    if (!on_paper(point) || one.dashed) continue;
    mark(svg, which, x.at(point.x), y.at(point.y), fmt::format("{}: {:.4g} at {}", one.name, point.y, bytes(point.x)));
  }
}

}  // namespace

std::string plot_svg(const Plot& plot) {
  double x_low = INFINITY, x_high = 0, y_low = INFINITY, y_high = 0;
  for (const Curve& one : plot.curves) {
    for (const PlotPoint& point : one.points) {
      if (!on_paper(point)) continue;
      x_low = std::min(x_low, point.x), x_high = std::max(x_high, point.x);
      y_low = std::min(y_low, point.low > 0 ? point.low : point.y), y_high = std::max({y_high, point.high, point.y});
    }
  }
  Svg svg;
  svg.text(kLeft, 20, plot.title, "strong", Anchor::start, 15);
  if (x_high == 0) {
    svg.text(kLeft, 52, "nothing was measured", "dim");
    return svg.document(kWidth, 70, plot.title, "an empty plot");
  }
  const double bottom = kTop + kArea;
  Scale x{.base = 2, .from = kLeft + 8, .to = kWidth - kRight - 8}, y{.base = 10, .from = bottom, .to = kTop};
  x.cover(x_low, x_high);
  y.cover(y_low, y_high);
  svg.text(kLeft, 44, plot.y_label, "dim", Anchor::start, 12);
  for (int power = y.first; power <= y.last; ++power) {
    const double value = std::pow(10.0, power);
    svg.line(kLeft, y.at(value), kWidth - kRight, y.at(value), "grid");
    svg.text(kLeft - 8, y.at(value) + 4, amount(value), "dim", Anchor::end);
  }
  const int step = std::max(1, (x.last - x.first + 7) / 8);
  for (int power = x.first; power <= x.last; power += step) {
    const double value = std::pow(2.0, power);
    svg.line(x.at(value), bottom, x.at(value), bottom + 5, "grid");
    svg.text(x.at(value), bottom + 19, bytes(value), "dim", Anchor::middle);
  }
  svg.text((kLeft + kWidth - kRight) / 2, bottom + 38, plot.x_label, "dim", Anchor::middle);
  for (std::size_t i = 0; i < plot.curves.size(); ++i) curve(svg, plot.curves[i], colour_of(plot, i), x, y);
  for (const auto& [point, words] : plot.marks) {
    if (on_paper(point)) svg.circle(x.at(point.x), y.at(point.y), 8, "edge", words);
  }
  double at = kLeft, row = bottom + kBottom + 18;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const Curve& one = plot.curves[i];
    const double room = 34 + text_width(one.name, 12) + 18;
    if (at + room > kWidth && at > kLeft) at = kLeft, row += 20;
    svg.line(at, row - 4, at + 26, row - 4, fmt::format("{}{}", one.dashed ? "dash" : "line", colour_of(plot, i) % 6));
    if (!one.dashed) mark(svg, colour_of(plot, i), at + 13, row - 4, {});
    svg.text(at + 34, row, one.name, "text");
    at += room;
  }
  if (!plot.marks.empty()) {
    if (at + 34 + text_width(plot.marks_label, 12) > kWidth) at = kLeft, row += 20;
    svg.circle(at + 13, row - 4, 8, "edge");
    svg.text(at + 34, row, plot.marks_label, "text");
  }
  return svg.document(kWidth, row + 12, plot.title, fmt::format("{} against {}", plot.y_label, plot.x_label));
}

std::string bars_svg(const std::string& title, const std::string& unit, const std::vector<Bar>& bars) {
  constexpr double kStart = 16, kFirst = 40, kRow = 28, kHeight = 16, kValue = 96;
  Svg svg;
  svg.text(kStart, 20, title, "strong", Anchor::start, 15);
  double longest = 0, names = 0;
  for (const Bar& bar : bars) {
    if (std::isfinite(bar.value)) longest = std::max(longest, bar.value);
    names = std::max(names, text_width(bar.name, 12));
  }
  const double from = kStart + names + 12;
  double y = kFirst;
  for (const Bar& bar : bars) {
    const double value = std::isfinite(bar.value) ? std::max(0.0, bar.value) : 0;
    const double length = longest > 0 ? std::max(1.0, value / longest * (kWidth - kValue - from)) : 1;
    const std::string words = fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
    svg.text(from - 8, y + 12, bar.name, "text", Anchor::end);
    if (bar.outlined) {
      const std::string style = fmt::format("dash{}", bar.colour % 6);
      svg.line(from, y, from + length, y, style);
      svg.line(from, y + kHeight, from + length, y + kHeight, style);
      svg.line(from + length, y, from + length, y + kHeight, style);
    } else {
      svg.rectangle(from, y, length, kHeight, fmt::format("mark{}", bar.colour % 6),
                    fmt::format("{}: {}", bar.name, words));
    }
    svg.text(from + length + 8, y + 12, words, "dim");
    y += kRow;
  }
  return svg.document(kWidth, y + 8, title, fmt::format("bars: {} contestants, in {}", bars.size(), unit));
}

}  // namespace chasqui::show
