// SPDX-License-Identifier: MIT
// The activity chart in a terminal: a row per processor, a column per tick (or per several, when time is long).
#include <fmt/core.h>

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/printable.hpp"
#include "chasqui/show/draw.hpp"
#include "show/axis.hpp"

namespace chasqui::show {
namespace {

enum Cell : unsigned { kIdle = 0, kSend = 1, kReceive = 2, kCompute = 4, kPublish = 8, kRead = 16 };

/// The glyph of what happened in a cell; several things in one cell have a glyph of their own.
std::string_view glyph(unsigned cell, bool utf8) {
  switch (cell) {
    case kIdle: return utf8 ? "·" : ".";
    case kSend: return utf8 ? "▀" : "s";
    case kReceive: return utf8 ? "▄" : "r";
    case kCompute: return "+";
    case kPublish: return "p";
    case kRead: return "b";
    default: return utf8 ? "█" : "#";
  }
}

std::string_view colour_of(unsigned cell) {
  switch (cell) {
    case kIdle: return "2";
    case kSend: return "34";
    case kReceive: return "33";
    case kCompute: return "32";
    case kPublish:
    case kRead: return "36";
    default: return "35";
  }
}

struct TextScale {
  Time begin;
  std::int64_t ticks_per_column;
  std::size_t columns;

  std::size_t column(Time time) const {
    const auto at = static_cast<std::size_t>((time.ticks - begin.ticks) / ticks_per_column);
    return std::min(at, columns - 1);
  }
};

/// At most one column a tick; instants at `end` need a column too.
TextScale scale_of(const Timeline& timeline, std::size_t room) {
  Time begin{0};
  bool instants = false;
  for (const Activity& activity : timeline.activities) {
    begin = std::min(begin, activity.begin);
    instants = instants || activity.begin == activity.end;
  }
  const std::int64_t span = std::max<std::int64_t>(1, timeline.end.ticks - begin.ticks + (instants ? 1 : 0));
  const std::int64_t ticks = divide_up(span, static_cast<std::int64_t>(room));
  return {begin, ticks, static_cast<std::size_t>(divide_up(span, ticks))};
}

std::string axis_line(const TextScale& scale, std::size_t margin, std::size_t width) {
  std::string line(margin + scale.columns, ' ');
  const Time end = scale.begin + Time{static_cast<std::int64_t>(scale.columns) * scale.ticks_per_column - 1};
  const std::size_t digits = fmt::format("{}", end.ticks).size();
  const auto most = std::max<std::int64_t>(1, static_cast<std::int64_t>(scale.columns / (digits + 2)));
  for (const Time mark : axis_marks(scale.begin, end, most)) {
    const std::string number = fmt::format("{}", mark.ticks);
    const std::size_t at = margin + scale.column(mark);
    if (at + number.size() > width) continue;
    if (at + number.size() > line.size()) line.resize(at + number.size(), ' ');
    line.replace(at, number.size(), number);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string row_text(const std::vector<unsigned>& cells, const TextStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i;
    std::string run;
    for (; end < cells.size() && cells[end] == cells[i]; ++end) run += glyph(cells[end], style.utf8);
    text += style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour_of(cells[i]), run) : run;
    i = end;
  }
  return text;
}

std::string legend(const Timeline& timeline, bool utf8) {
  const auto happens = [&](Doing doing) {
    return std::any_of(timeline.activities.begin(), timeline.activities.end(),
                       [&](const Activity& activity) { return activity.doing == doing; });
  };
  std::string text = fmt::format("{} send  {} receive  ", glyph(kSend, utf8), glyph(kReceive, utf8));
  if (happens(Doing::compute)) text += fmt::format("{} add  ", glyph(kCompute, utf8));
  if (happens(Doing::publish)) text += "p publish  ";
  if (happens(Doing::read)) text += "b read the board  ";
  return text + fmt::format("{} several  {} idle", glyph(kSend | kReceive, utf8), glyph(kIdle, utf8));
}

}  // namespace

std::string chart_text(const Timeline& timeline, const TextStyle& style) {
  const std::size_t margin = fmt::format("{}", std::max<std::int64_t>(0, timeline.P - 1)).size() + 2;
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  const TextScale scale = scale_of(timeline, width - margin);
  std::string text = printable(timeline.title) + "\n";
  text += legend(timeline, style.utf8);
  if (scale.ticks_per_column > 1) text += fmt::format("; a column is {} {}", scale.ticks_per_column, unit_of(timeline));
  else if (timeline.measured) text += fmt::format("; times in {}", unit_of(timeline));
  text += "\n\n" + axis_line(scale, margin, width) + "\n";
  auto activity = timeline.activities.begin();
  auto node = timeline.nodes.begin();
  for (std::int64_t rank = 0; rank < timeline.P; ++rank) {
    if (node != timeline.nodes.end() && *node == rank) {
      text += fmt::format("node {}\n", node - timeline.nodes.begin());
      ++node;
    }
    std::vector<unsigned> cells(scale.columns, kIdle);
    for (; activity != timeline.activities.end() && activity->rank.index == rank; ++activity) {
      const unsigned mark = 1U << static_cast<unsigned>(activity->doing);
      const std::size_t first = scale.column(activity->begin);
      const std::size_t last = activity->end > activity->begin ? scale.column(activity->end - Time{1}) : first;
      for (std::size_t i = first; i <= last; ++i) cells[i] |= mark;
    }
    text += fmt::format("{:>{}}  ", rank, margin - 2) + row_text(cells, style) + "\n";
  }
  if (timeline.left_out > 0) {
    text +=
        fmt::format("\n{} messages are left out: they never came, or their ranks do not exist\n", timeline.left_out);
  }
  return text;
}

}  // namespace chasqui::show
