// SPDX-License-Identifier: MIT
#include "cli/plans/report_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"
#include "chasqui/show/bars.hpp"
#include "chasqui/show/plot.hpp"

namespace chasqui::cli {
namespace {

std::string us(double nanoseconds) {
  const double value = nanoseconds / 1000;
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string size_text(std::int64_t bytes) {
  if (bytes == 0) return "–";
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

/// The same colour for the same name, whatever else is in the picture.
int colour_of(const std::string& who) {
  constexpr const char* kNames[] = {"Chasqui",      "predicted", "native", "binomial",
                                    "std::barrier", "OpenMP",    "chain",  "plain"};
  constexpr int kColours[] = {0, 1, 2, 3, 4, 5, 4, 5};  // the last two are never seen with the two before
  const auto found = std::find(std::begin(kNames), std::end(kNames), who);
  return found == std::end(kNames) ? -1 : kColours[found - std::begin(kNames)];
}

/// A collective without sizes: one bar a contestant.
std::string bars_of(const BenchData& bench, const std::string& collective) {
  std::vector<show::Bar> bars;
  for (const BenchTime& time : bench.times) {
    if (time.collective != collective || time.bytes != 0) continue;
    const std::string name = time.ours() ? "Chasqui" : time.who;
    bars.push_back({name, time.median / 1000, std::max(0, colour_of(name)), false});
    if (time.predicted > 0) bars.push_back({"predicted", time.predicted / 1000, colour_of("predicted"), true});
  }
  return bars.empty() ? "" : show::bars_svg(fmt::format("{}: {}", bench.name, collective), "µs", bars);
}

/// What a time means, where it is not that of one call.
std::string_view unit_of(const std::string& collective) {
  return collective == "stream" ? ", time for an item" : collective == "delay" ? ", delay of an item" : "";
}

show::Plot plot_of(const BenchData& bench, const std::string& collective) {
  show::Plot plot{
      .title = fmt::format("{}: {}{}", bench.name, collective == "delay" ? "stream" : collective, unit_of(collective)),
      .x_label = "bytes",
      .y_label = "µs, median and quartiles",
      .curves = {}};
  plot.curves = {{"Chasqui", {}, false, 0}, {"predicted", {}, true, 1}};
  for (const BenchTime& time : bench.times) {
    if (time.collective != collective || time.bytes == 0) continue;
    const double x = static_cast<double>(time.bytes);
    if (time.ours()) {
      plot.curves[0].points.push_back({x, time.median / 1000, time.low / 1000, time.high / 1000});
      if (time.predicted > 0) plot.curves[1].points.push_back({x, time.predicted / 1000, 0, 0});
      continue;
    }
    auto curve =
        std::find_if(plot.curves.begin(), plot.curves.end(), [&](const show::Curve& c) { return c.name == time.who; });
    if (curve == plot.curves.end())
      curve = plot.curves.insert(plot.curves.end(), {time.who, {}, false, colour_of(time.who)});
    curve->points.push_back({x, time.median / 1000, time.low / 1000, time.high / 1000});
  }
  return plot;
}

/// Predicted, measured and every rival, a row per size.
void times_table(show::Page& page, const BenchData& bench, const std::string& collective) {
  std::vector<std::string> headings = {"size", "method", "predicted µs", "measured µs", "off by"};
  std::vector<std::vector<std::string>> rows;
  double median = 0;
  for (const BenchTime& time : bench.times) {
    if (time.collective != collective) continue;
    if (time.ours()) {
      median = time.median;
      rows.push_back({size_text(time.bytes), time.who.substr(time.who.find(' ') + 1), us(time.predicted),
                      us(time.median), fmt::format("{:+.0f} %", (time.predicted / time.median - 1) * 100)});
      continue;
    }
    const auto column = std::find(headings.begin(), headings.end(), time.who + " µs");
    if (column == headings.end()) headings.insert(headings.end(), {time.who + " µs", "ratio"});
    const auto at =
        static_cast<std::size_t>(std::find(headings.begin(), headings.end(), time.who + " µs") - headings.begin());
    if (rows.empty()) continue;
    rows.back().resize(std::max(rows.back().size(), at));
    rows.back().insert(rows.back().end(), {us(time.median), fmt::format("x{:.2f}", time.median / median)});
  }
  for (auto& row : rows) row.resize(headings.size());
  if (!rows.empty()) page.table(headings, rows);
}

}  // namespace

void measured_part(show::Page& page, const std::vector<BenchData>& benches, const std::string& collective) {
  std::vector<std::string> plots;
  for (const BenchData& bench : benches) {
    const show::Plot plot = plot_of(bench, collective);
    if (!plot.curves[0].points.empty()) plots.push_back(show::plot_svg(plot));
    else if (std::string bars = bars_of(bench, collective); !bars.empty()) plots.push_back(std::move(bars));
  }
  if (!plots.empty())
    page.figures(plots, "Common start, latest finish. A rival's ratio in the tables is its time over Chasqui's.");
  for (const BenchData& bench : benches) {
    const bool any =
        std::any_of(bench.times.begin(), bench.times.end(), [&](const auto& t) { return t.collective == collective; });
    if (!any) continue;
    page.paragraph(fmt::format("{}{}, {} ranks:", bench.name, unit_of(collective), bench.times.front().ranks));
    times_table(page, bench, collective);
  }
}

std::vector<std::pair<std::string, std::string>> speed_ups(const std::vector<BenchData>& benches) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const BenchData& bench : benches) {
    std::vector<std::string> rivals;
    for (const BenchTime& time : bench.times) {
      if (!time.ours() && std::find(rivals.begin(), rivals.end(), time.who) == rivals.end()) rivals.push_back(time.who);
    }
    for (const std::string& rival : rivals) {
      double logs = 0, ours = 0;
      int count = 0;
      for (const BenchTime& time : bench.times) {
        if (measure::is_many(time.collective)) continue;
        if (time.ours()) ours = time.median;
        else if (time.who == rival && ours > 0 && time.median > 0) logs += std::log(time.median / ours), ++count;
      }
      if (count == 0) continue;
      pairs.emplace_back(
          fmt::format("x{:.2f}", std::exp(logs / count)),
          fmt::format("{}: time of {} over Chasqui's, {}", bench.name, rival,
                      count == 1 ? "one call" : fmt::format("geometric mean of {} single calls", count)));
    }
  }
  return pairs;
}

}  // namespace chasqui::cli
