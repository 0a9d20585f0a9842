// SPDX-License-Identifier: MIT
// The reception table, in a terminal in bands of columns that fit its width, and as SVG: active items bold in a framed cell,
// delayed ones in a dashed cell with a prime.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

#include "chasqui/schedule/unroll.hpp"
#include "chasqui/show/draw.hpp"
#include "show/drawable.hpp"
#include "show/svg.hpp"

namespace chasqui::show {
namespace {

struct Arrival {
  Rank rank;
  Time time;  ///< when its reception could begin
  bool active;
  Part part;
};

std::vector<Arrival> arrivals_of(const Schedule& schedule) {
  std::set<std::pair<std::int32_t, std::int32_t>> forwarded;  // (rank, item)
  const bool combining = !names_items(schedule.problem);
  for (const Send& send : schedule.sends) forwarded.emplace(send.from.index, send.part.lo);
  std::vector<Arrival> arrivals;
  for (const Send& send : schedule.sends) {
    if (!drawable(schedule, send)) continue;
    const bool active = !combining && forwarded.contains({send.to.index, send.part.lo});
    arrivals.push_back({send.to, reception_begin(schedule.machine, send), active, send.part});
  }
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return std::tie(a.rank, a.time, b.active, a.part) < std::tie(b.rank, b.time, a.active, b.part);
  });
  return arrivals;
}

/// Plays the port of one rank: an active item as soon as it is there, waiting ones in the order of arrival.
/// REQUIRES arrivals by time. Time: O(arrivals).
void receive(const LogP& machine, std::span<const Arrival> arrivals, std::vector<Reception>& receptions) {
  std::vector<Arrival> queues[2];  // inactive, active
  for (const Arrival& arrival : arrivals) queues[arrival.active ? 1 : 0].push_back(arrival);
  std::size_t next[2] = {0, 0};
  Time free = arrivals.front().time;
  for (std::size_t taken = 0; taken < arrivals.size(); ++taken) {
    const bool any[2] = {next[0] < queues[0].size(), next[1] < queues[1].size()};
    Time now = free;
    if (!any[1] || (any[0] && queues[0][next[0]].time < queues[1][next[1]].time)) {
      now = std::max(free, queues[0][next[0]].time);
    } else {
      now = std::max(free, queues[1][next[1]].time);
    }
    const std::size_t which = any[1] && queues[1][next[1]].time <= now ? 1 : 0;
    const Arrival& chosen = queues[which][next[which]++];
    receptions.push_back({chosen.rank, now + machine.o, chosen.part, chosen.active, chosen.time < now});
    free = now + machine.gap();
  }
}

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

constexpr double kTableTop = 84;

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

std::string cell_text(const Reception& reception, bool combining) {
  return combining ? fmt::format("+{}", reception.part.len) : fmt::format("{}", reception.part.lo);
}

ReceptionTable reception_table(const Schedule& listed) {
  const Schedule schedule = unroll_first_items(listed);
  ReceptionTable table;
  table.title = title_of(listed);
  table.P = schedule.machine.P;
  table.combining = !names_items(schedule.problem);
  const std::vector<Arrival> arrivals = arrivals_of(schedule);
  for (auto first = arrivals.begin(); first != arrivals.end();) {
    const auto last = std::find_if(first, arrivals.end(), [&](const Arrival& a) { return a.rank != first->rank; });
    receive(schedule.machine, std::span<const Arrival>(&*first, static_cast<std::size_t>(last - first)),
            table.receptions);
    first = last;
  }
  for (const Reception& reception : table.receptions) table.times.push_back(reception.time);
  std::sort(table.times.begin(), table.times.end());
  table.times.erase(std::unique(table.times.begin(), table.times.end()), table.times.end());
  return table;
}

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
    svg.text(left + cell * (static_cast<double>(i) + 0.5), kTableTop - 8, fmt::format("{}", table.times[i].ticks),
             "dim", Anchor::middle, 11);
  }
  const double width = left + cell * static_cast<double>(table.times.size());
  for (std::int64_t rank = 0; rank < table.P; ++rank) {
    const double y = kTableTop + row * static_cast<double>(rank);
    svg.text(left - 6, y + row / 2 + 4, fmt::format("P{}", rank), "dim", Anchor::end, row < 14 ? 9 : 12);
    svg.line(left, y, width, y, "grid");
  }
  for (const Reception& reception : table.receptions) {
    const auto found = std::lower_bound(table.times.begin(), table.times.end(), reception.time);
    const double x = left + cell * static_cast<double>(found - table.times.begin());
    const double y = kTableTop + row * reception.rank.index;
    const std::string_view style = reception.delayed ? "delayed" : reception.active ? "active" : "plain";
    svg.rectangle(x + 1, y + 1, cell - 2, row - 2, style, titled ? story(reception, table.combining) : "", 2);
    svg.text(x + cell / 2, y + row / 2 + 4, cell_text(reception, table.combining) + (reception.delayed ? "'" : ""),
             reception.active ? "strong" : "text", Anchor::middle, row < 14 ? 9 : 11);
  }
  const double right = std::max({width, 24 + title_width(table.title), 24 + text_width(legend, 11)});
  return svg.document(right + 24, kTableTop + row * static_cast<double>(table.P) + 24, table.title,
                      fmt::format("Reception table of {} processors at {} times.", table.P, table.times.size()));
}

}  // namespace chasqui::show
