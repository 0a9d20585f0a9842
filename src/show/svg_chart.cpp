// SPDX-License-Identifier: MIT
// The activity chart as SVG: a row per processor, time to the right, messages as arrows. Things without duration
// (a machine without overhead) are triangles: up for a send, down for a reception; on a board of a cluster ticks, which cover neither.
#include <fmt/core.h>

#include <algorithm>

#include "chasqui/base/printable.hpp"
#include "chasqui/show/draw.hpp"
#include "show/axis.hpp"
#include "show/svg.hpp"

namespace chasqui::show {
namespace {

constexpr double kChartTop = 86;
constexpr double kChartRight = 24;
constexpr std::size_t kMostArrows = 1500;
constexpr std::size_t kMostTitles = 6000;

struct ChartGeometry {
  Time begin;
  double left;
  double width;  ///< of the time axis
  double per_tick;
  double row;
  double cell;  ///< height of a bar inside its row

  double x(Time time) const { return left + per_tick * static_cast<double>(time.ticks - begin.ticks); }
  double middle(Rank rank) const { return kChartTop + row * (rank.index + 0.5); }
};

ChartGeometry geometry_of(const Timeline& timeline) {
  ChartGeometry geometry{};
  for (const Activity& activity : timeline.activities) geometry.begin = std::min(geometry.begin, activity.begin);
  const double span = std::max(1.0, static_cast<double>(timeline.end.ticks - geometry.begin.ticks));
  geometry.row = timeline.P <= 24 ? 30 : timeline.P <= 80 ? 20 : 12;
  geometry.cell = geometry.row * 0.66;
  geometry.left = 24 + text_width(fmt::format("P{}", timeline.P - 1), 12);
  geometry.width = std::clamp(span * 24, 420.0, timeline.P <= 80 ? 1200.0 : 1600.0);
  geometry.per_tick = geometry.width / span;
  return geometry;
}

constexpr Doing kAll[] = {Doing::send, Doing::receive, Doing::compute, Doing::publish, Doing::read};

std::string_view style_of(Doing doing) {
  constexpr std::string_view kStyles[] = {"send", "receive", "compute", "publish", "read"};
  return kStyles[static_cast<std::size_t>(doing)];
}

std::string_view letter_of(Doing doing) {
  constexpr std::string_view kLetters[] = {"s", "r", "+", "p", "b"};
  return kLetters[static_cast<std::size_t>(doing)];
}

std::string story(const Timeline& timeline, const Activity& activity) {
  const std::string when = fmt::format("{} to {}", activity.begin.ticks, activity.end.ticks);
  if (activity.doing == Doing::publish) return fmt::format("P{} publishes, {}", activity.rank.index, when);
  if (activity.doing == Doing::read) return fmt::format("P{} reads from the board, {}", activity.rank.index, when);
  if (activity.message < 0) return fmt::format("P{} adds {} from {}", activity.rank.index, activity.count, when);
  const Message& message = timeline.messages[static_cast<std::size_t>(activity.message)];
  const std::string what = carried(message, timeline);
  if (activity.doing == Doing::send) {
    return fmt::format("P{} sends {} to P{}, {}", activity.rank.index, what, message.to.index, when);
  }
  return fmt::format("P{} receives {} from P{}, {}", activity.rank.index, what, message.from.index, when);
}

void draw_grid(Svg& svg, const Timeline& timeline, const ChartGeometry& geometry) {
  const double bottom = kChartTop + geometry.row * static_cast<double>(timeline.P);
  for (std::size_t node = 0; node < timeline.nodes.size(); node += 2) {  // every other node is a band
    const std::int64_t first = timeline.nodes[node];
    const std::int64_t end = node + 1 < timeline.nodes.size() ? timeline.nodes[node + 1] : timeline.P;
    svg.rectangle(4, kChartTop + geometry.row * static_cast<double>(first), geometry.left + geometry.width,
                  geometry.row * static_cast<double>(end - first), "band", fmt::format("node {}", node));
  }
  for (std::int64_t rank = 0; rank < timeline.P; ++rank) {
    const Rank who{static_cast<std::int32_t>(rank)};
    svg.rectangle(geometry.left, geometry.middle(who) - geometry.cell / 2, geometry.width, geometry.cell, "row");
    svg.text(geometry.left - 6, geometry.middle(who) + 3.8, fmt::format("P{}", rank), "dim", Anchor::end,
             geometry.row < 14 ? 9 : 12);
  }
  svg.text(4, kChartTop - 8, "time", "dim", Anchor::start, 11);
  const auto most = static_cast<std::int64_t>(geometry.width / 48);
  for (const Time mark : axis_marks(geometry.begin, timeline.end, most)) {
    const double x = geometry.x(mark);
    svg.line(x, kChartTop - 4, x, bottom, "grid");
    svg.text(x, kChartTop - 8, fmt::format("{}", mark.ticks), "dim", Anchor::middle, 11);
    if (timeline.P > 60) svg.text(x, bottom + 14, fmt::format("{}", mark.ticks), "dim", Anchor::middle, 11);
  }
}

void draw_instant(Svg& svg, const Timeline& timeline, const ChartGeometry& geometry, const Activity& activity) {
  const double size = std::clamp(geometry.cell * 0.5, 4.0, 9.0);
  const double x = geometry.x(activity.begin), y = geometry.middle(activity.rank);
  if (activity.doing == Doing::publish || activity.doing == Doing::read) {
    svg.rectangle(x - 1, y - geometry.cell / 2, 2, geometry.cell, style_of(activity.doing), story(timeline, activity));
    return;
  }
  svg.triangle(x, y, size, activity.doing == Doing::send, style_of(activity.doing), story(timeline, activity));
}

/// Where a bar stands in its row: bars of a rank that overlap, which no legal schedule has, share its height, or the
/// later one would hide the earlier.
struct Slice {
  std::size_t at = 0;
  std::size_t of = 1;
};

/// The next bars of one rank that overlap, directly or through each other, get their slices. Returns what follows them.
std::size_t slice_pile(const std::vector<Activity>& all, std::size_t first, std::vector<Slice>& slices) {
  std::vector<Time> ends;  // of the last bar in each slice
  Time end = all[first].end;
  std::size_t next = first;
  for (; next < all.size() && all[next].rank == all[first].rank; ++next) {
    const Activity& bar = all[next];
    if (bar.begin == bar.end) continue;  // an instant overlaps nothing
    if (next > first && bar.begin >= end) break;
    const auto free = std::find_if(ends.begin(), ends.end(), [&](Time before) { return before <= bar.begin; });
    slices[next].at = static_cast<std::size_t>(free - ends.begin());
    if (free == ends.end()) ends.push_back(bar.end);
    else *free = bar.end;
    end = std::max(end, bar.end);
  }
  for (std::size_t i = first; i < next; ++i) slices[i].of = std::max<std::size_t>(1, ends.size());
  return next;
}

std::vector<Slice> slices_of(const std::vector<Activity>& all) {
  std::vector<Slice> slices(all.size());
  for (std::size_t i = 0; i < all.size();) i = slice_pile(all, i, slices);
  return slices;
}

void draw_bar(Svg& svg, const Timeline& timeline, const ChartGeometry& geometry, const Activity& activity,
              Slice slice) {
  const double from = geometry.x(activity.begin);
  const double to = std::max(geometry.x(activity.end), from + 1);
  const double inset = to - from > 6 ? 0.75 : 0;
  const double height = geometry.cell / static_cast<double>(slice.of);
  const double top = geometry.middle(activity.rank) - geometry.cell / 2 + height * static_cast<double>(slice.at);
  svg.rectangle(from + inset, top, to - from - 2 * inset, height, style_of(activity.doing), story(timeline, activity),
                inset > 0 ? 2 : 0);
  const int letters = height < 12 ? 9 : 11;
  if (to - from < 12 || height < letters) return;
  const bool several = activity.doing == Doing::compute && activity.count > 1;
  const std::string label = several ? fmt::format("+{}", activity.count) : std::string(letter_of(activity.doing));
  if (text_width(label, letters) < to - from) {
    svg.text((from + to) / 2, top + height / 2 + (letters == 11 ? 4 : 3.2), label, "oncolour", Anchor::middle, letters);
  }
}

/// Very many bars: a shape per row and kind, without labels; bars that touch on the screen become one. Without
/// overhead sends and receptions may coincide: sends take the upper half of the row, receptions the lower.
void draw_dense_bars(Svg& svg, const Timeline& timeline, const ChartGeometry& geometry) {
  const auto& all = timeline.activities;
  const bool halves = all.front().begin == all.front().end;
  const double least = halves ? std::min(1.5, geometry.per_tick * 0.8) : 0.5;
  for (std::size_t i = 0; i < all.size();) {
    const Rank rank = all[i].rank;
    std::vector<Svg::Span> spans[std::size(kAll)];
    for (; i < all.size() && all[i].rank == rank; ++i) {
      auto& row = spans[static_cast<std::size_t>(all[i].doing)];
      const double from = geometry.x(all[i].begin);
      const double to = std::max(geometry.x(all[i].end), from + least);
      if (!row.empty() && from - row.back().to < 0.3) {
        row.back().to = std::max(row.back().to, to);
      } else {
        row.push_back({from, to});
      }
    }
    for (const Doing doing : kAll) {
      const double top = geometry.middle(rank) - (halves && doing == Doing::receive ? 0 : geometry.cell / 2);
      svg.bars(spans[static_cast<std::size_t>(doing)], top, halves ? geometry.cell / 2 : geometry.cell,
               style_of(doing));
    }
  }
}

void draw_bars(Svg& svg, const Timeline& timeline, const ChartGeometry& geometry) {
  if (timeline.activities.size() > kMostTitles) return draw_dense_bars(svg, timeline, geometry);
  const std::vector<Slice> slices = slices_of(timeline.activities);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const Activity& activity = timeline.activities[i];
    if (activity.begin == activity.end) {
      draw_instant(svg, timeline, geometry, activity);
    } else {
      draw_bar(svg, timeline, geometry, activity, slices[i]);
    }
  }
}

void draw_arrows(Svg& svg, const Timeline& timeline, const ChartGeometry& geometry) {
  const double edge = geometry.cell / 2;
  for (const Message& message : timeline.messages) {
    const double from = geometry.middle(message.from);
    const double to = geometry.middle(message.to);
    const double down = to > from ? 1 : -1;
    svg.arrow(geometry.x(message.departs), from + down * edge * 0.5, geometry.x(message.arrives),
              to - down * edge * 0.9,
              fmt::format("{} from P{} to P{}", carried(message, timeline), message.from.index, message.to.index));
  }
}

bool is_message(const Activity& activity) { return activity.doing == Doing::send || activity.doing == Doing::receive; }

double draw_legend(Svg& svg, const Timeline& timeline) {
  double x = 24;
  const auto entry = [&](std::string_view style, std::string_view words) {
    svg.rectangle(x, 40, 12, 12, style, {}, 2);
    svg.text(x + 17, 50, words, "text", Anchor::start, 11);
    x += 32 + text_width(words, 11);
  };
  const auto happens = [&](Doing doing) {
    return std::any_of(timeline.activities.begin(), timeline.activities.end(),
                       [&](const Activity& activity) { return activity.doing == doing; });
  };
  // The legend shows what the chart does: triangles where sending and receiving take no time.
  const bool instants =
      timeline.activities.size() <= kMostTitles &&
      std::any_of(timeline.activities.begin(), timeline.activities.end(), is_message) &&
      std::none_of(timeline.activities.begin(), timeline.activities.end(),
                   [](const Activity& activity) { return is_message(activity) && activity.begin < activity.end; });
  const auto message = [&](Doing doing, std::string_view words) {
    if (!instants) return entry(style_of(doing), fmt::format("{}  {}", letter_of(doing), words));
    const bool up = doing == Doing::send;
    svg.triangle(x + 6, up ? 50 : 42, 9, up, style_of(doing));
    svg.text(x + 17, 50, words, "text", Anchor::start, 11);
    x += 32 + text_width(words, 11);
  };
  message(Doing::send, "send");
  message(Doing::receive, "receive");
  if (happens(Doing::compute)) entry("compute", "+  add");
  if (happens(Doing::publish)) entry("publish", "p  publish");
  if (happens(Doing::read)) entry("read", "b  read the board");
  if (!timeline.nodes.empty()) entry("band", "every other node");
  entry("row", "idle");
  if (timeline.measured) {
    const std::string note = fmt::format("times in {}", unit_of(timeline));
    svg.text(x, 50, note, "dim", Anchor::start, 11);
    x += 15 + text_width(note, 11);
  }
  if (timeline.messages.size() > kMostArrows) {
    const std::string note = fmt::format("{} messages: arrows left out", timeline.messages.size());
    svg.text(x, 50, note, "dim", Anchor::start, 11);
    x += text_width(note, 11);
  }
  return x;
}

}  // namespace

std::string chart_svg(const Timeline& timeline) {
  const ChartGeometry geometry = geometry_of(timeline);
  Svg svg;
  const std::string title = printable(timeline.title);
  svg.text(24, 26, title, "strong", Anchor::start, 15);
  const double legend = draw_legend(svg, timeline);
  draw_grid(svg, timeline, geometry);
  if (timeline.messages.size() <= kMostArrows) draw_arrows(svg, timeline, geometry);
  draw_bars(svg, timeline, geometry);
  double height = kChartTop + geometry.row * static_cast<double>(timeline.P) + 24;
  if (timeline.left_out > 0) {
    svg.text(24, height + 4,
             fmt::format("{} messages are left out: they never came, or their ranks do not exist", timeline.left_out),
             "dim", Anchor::start, 11);
    height += 18;
  }
  const double width = std::max({geometry.left + geometry.width, 24 + title_width(title), legend}) + kChartRight;
  return svg.document(
      width, height, title,
      fmt::format("Activity of {} processors until time {}{}, with {} messages.", timeline.P, timeline.end.ticks,
                  timeline.measured ? " " + unit_of(timeline) : "", timeline.messages.size()));
}

}  // namespace chasqui::show
