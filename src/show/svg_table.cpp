// SPDX-License-Identifier: MIT
// The reception table as SVG: active items bold in a framed cell, delayed ones in a dashed cell with a prime.
#include <fmt/format.h>

#include <algorithm>

#include "chasqui/show/draw.hpp"
#include "show/svg.hpp"

namespace chasqui::show {
namespace {

constexpr double kTop = 84;

double cell_width(const ReceptionTable& table) {
  double width = 18;
  for (const Time time : table.times) width = std::max(width, text_width(fmt::format("{}", time.ticks), 11) + 8);
  for (const Reception& reception : table.receptions) {
    width = std::max(width, text_width(cell_text(reception, table.combining) + "'", 11) + 8);
  }
  return width;
}

std::string story(const Reception& reception, bool combining) {
  return fmt::format("P{} at {}: {}{}{}{}", reception.rank.index, reception.time.ticks, combining ? "" : "item ",
                     cell_text(reception, combining), reception.active ? ", will be forwarded" : "",
                     reception.delayed ? ", waited in the buffer" : "");
}

}  // namespace

std::string table_svg(const ReceptionTable& table) {
  const double cell = cell_width(table);
  const double row = table.P <= 100 ? 18 : 13;
  const double left = 24 + text_width(fmt::format("P{}", table.P - 1), 12) + 6;
  const bool titled = table.receptions.size() <= 6000;
  Svg svg;
  svg.text(24, 26, table.title, "strong", Anchor::start, 15);
  const std::string legend = table.combining
                                 ? "row: rank, column: time, entry: how many contributions are received"
                                 : "row: rank, column: time, entry: item received; bold in a frame: will be "
                                   "forwarded; dashed, with a prime: waited in a buffer";
  svg.text(24, 46, legend, "dim", Anchor::start, 11);
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    svg.text(left + cell * (static_cast<double>(i) + 0.5), kTop - 8, fmt::format("{}", table.times[i].ticks), "dim",
             Anchor::middle, 11);
  }
  const double width = left + cell * static_cast<double>(table.times.size());
  for (std::int64_t rank = 0; rank < table.P; ++rank) {
    const double y = kTop + row * static_cast<double>(rank);
    svg.text(left - 6, y + row / 2 + 4, fmt::format("P{}", rank), "dim", Anchor::end, row < 14 ? 9 : 12);
    svg.line(left, y, width, y, "grid");
  }
  for (const Reception& reception : table.receptions) {
    const auto found = std::lower_bound(table.times.begin(), table.times.end(), reception.time);
    const double x = left + cell * static_cast<double>(found - table.times.begin());
    const double y = kTop + row * reception.rank.index;
    const std::string_view style = reception.delayed ? "delayed" : reception.active ? "active" : "plain";
    svg.rectangle(x + 1, y + 1, cell - 2, row - 2, style, titled ? story(reception, table.combining) : "", 2);
    svg.text(x + cell / 2, y + row / 2 + 4, cell_text(reception, table.combining) + (reception.delayed ? "'" : ""),
             reception.active ? "strong" : "text", Anchor::middle, row < 14 ? 9 : 11);
  }
  const double right = std::max({width, 24 + title_width(table.title), 24 + text_width(legend, 11)});
  return svg.document(right + 24, kTop + row * static_cast<double>(table.P) + 24, table.title,
                      fmt::format("Reception table of {} processors at {} times.", table.P, table.times.size()));
}

}  // namespace chasqui::show
