// SPDX-License-Identifier: MIT
#include "chasqui/show/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "show/svg.hpp"

namespace chasqui::show {
namespace {

constexpr double kWidth = 560, kLeft = 16, kTop = 40, kRow = 28, kHeight = 16, kValue = 96;

}  // namespace

std::string bars_svg(const std::string& title, const std::string& unit, const std::vector<Bar>& bars) {
  Svg svg;
  svg.text(kLeft, 20, title, "strong", Anchor::start, 15);
  double longest = 0, names = 0;
  for (const Bar& bar : bars) {
    if (std::isfinite(bar.value)) longest = std::max(longest, bar.value);
    names = std::max(names, text_width(bar.name, 12));
  }
  const double from = kLeft + names + 12;
  double y = kTop;
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
