// SPDX-License-Identifier: MIT
// The reception table in a terminal, in bands of columns that fit its width.
#include <fmt/format.h>

#include <algorithm>

#include "chasqui/show/draw.hpp"

namespace chasqui::show {
namespace {

/// The text of a cell and how many columns it takes; bold on terminals, a star elsewhere.
std::pair<std::string, std::size_t> marked(const Reception& reception, bool combining, const TextStyle& style) {
  std::string text = cell_text(reception, combining);
  if (reception.delayed) text += "'";
  if (!style.colour && reception.active) text += "*";
  const std::size_t columns = text.size();
  if (style.colour && reception.active) text = "\x1b[1m" + text + "\x1b[0m";
  return {text, columns};
}

std::string padded(const std::string& text, std::size_t columns, std::size_t width) {
  return std::string(width - std::min(columns, width), ' ') + text;
}

std::size_t cell_width(const ReceptionTable& table, const TextStyle& style) {
  std::size_t width = 1;
  for (const Reception& reception : table.receptions) {
    width = std::max(width, marked(reception, table.combining, style).second);
  }
  for (const Time time : table.times) width = std::max(width, fmt::format("{}", time.ticks).size());
  return width + 1;
}

/// Where each rank's receptions are read next; bands go from left to right.
using Cursors = std::vector<std::vector<Reception>::const_iterator>;

Cursors first_receptions(const ReceptionTable& table) {
  Cursors cursors;
  auto next = table.receptions.begin();
  for (std::int64_t rank = 0; rank < table.P; ++rank) {
    cursors.push_back(next);
    while (next != table.receptions.end() && next->rank.index == rank) ++next;
  }
  return cursors;
}

/// Rows of the columns first .. last-1. A cell is "." where nothing is received.
void band(std::string& text, const ReceptionTable& table, Cursors& cursors, std::size_t first, std::size_t last,
          std::size_t margin, std::size_t cell, const TextStyle& style) {
  text += padded("time", 4, margin);
  for (std::size_t i = first; i < last; ++i) {
    const std::string number = fmt::format("{}", table.times[i].ticks);
    text += padded(number, number.size(), cell);
  }
  text += "\n";
  for (std::int64_t rank = 0; rank < table.P; ++rank) {
    auto& next = cursors[static_cast<std::size_t>(rank)];
    const std::string number = fmt::format("{}", rank);
    text += padded(number, number.size(), margin);
    std::size_t column = first;
    for (; next != table.receptions.end() && next->rank.index == rank && next->time <= table.times[last - 1]; ++next) {
      while (column < last && table.times[column] < next->time)
        text += padded(style.utf8 ? "·" : ".", 1, cell), ++column;
      const auto [shown, columns] = marked(*next, table.combining, style);
      text += padded(shown, columns, cell);
      ++column;
    }
    for (; column < last; ++column) text += padded(style.utf8 ? "·" : ".", 1, cell);
    text += "\n";
  }
}

}  // namespace

std::string table_text(const ReceptionTable& table, const TextStyle& style) {
  std::string text = fmt::format("{}\nrow: rank, column: time, entry: {}\n", table.title,
                                 table.combining ? "how many contributions are received" : "the item received");
  if (!table.combining) {
    text += fmt::format("{}: will be forwarded, ': waited in a buffer\n", style.colour ? "\x1b[1mbold\x1b[0m" : "*");
  }
  const std::size_t margin = std::max<std::size_t>(4, fmt::format("{}", table.P).size());
  const std::size_t cell = cell_width(table, style);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  const std::size_t columns = std::max<std::size_t>(1, (width - std::min(width, margin)) / cell);
  Cursors cursors = first_receptions(table);
  for (std::size_t first = 0; first < table.times.size(); first += columns) {
    text += "\n";
    band(text, table, cursors, first, std::min(first + columns, table.times.size()), margin, cell, style);
  }
  if (table.times.empty()) text += "\nnothing is received\n";
  return text;
}

}  // namespace chasqui::show
