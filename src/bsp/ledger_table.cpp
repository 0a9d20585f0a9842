// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "chasqui/bsp/ledger_file.hpp"

namespace chasqui::bsp {

namespace {

constexpr std::size_t kMostLines = 40;

std::string duration(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.1f} ms", nanoseconds / 1e6);
  return fmt::format("{:.2f} s", nanoseconds / 1e9);
}

/// A bar of at most 8 characters: the table fits into 80 columns.
std::string bar(double value, double most) {
  return std::string(most > 0 ? static_cast<std::size_t>(value / most * 8 + 0.5) : 0, '#');
}

}  // namespace

std::string to_table(const Ledger& ledger, const std::vector<Machine>& machines, Work work) {
  std::string text;
  const auto out = std::back_inserter(text);
  work = settle(work, ledger);
  const bool charged = work == Work::charged;
  const Totals sum = totals(ledger);
  if (!ledger.machines.empty()) {
    const auto& steps = ledger.machines.front().supersteps;
    double most = 0;
    for (const Superstep& step : steps) most = std::max(most, static_cast<double>(step.span_nanoseconds));
    fmt::format_to(out, "{:>5} {:>11} {:>9} {:>9} {:>11} {:>10}{}\n", "step", charged ? "w (charged)" : "w", "h (msgs)",
                   "blocks", "s (bytes)", "measured", machines.empty() ? "" : fmt::format(" {:>9}", "predicted"));
    for (std::size_t t = 0; t < steps.size(); ++t) {
      if (steps.size() > kMostLines && t == kMostLines / 2) {
        fmt::format_to(out, "   ... {} supersteps left out\n", steps.size() - kMostLines);
        t = steps.size() - kMostLines / 2;
      }
      const Superstep& s = steps[t];
      const std::string w = charged ? fmt::format("{}", s.work) : duration(static_cast<double>(s.nanoseconds));
      fmt::format_to(out, "{:>5} {:>11} {:>9} {:>9} {:>11} {:>10}", t, w, s.messages, s.blocks, s.bytes,
                     duration(static_cast<double>(s.span_nanoseconds)));
      if (!machines.empty())
        fmt::format_to(out, " {:>9.6g}", predict(s, ledger.machines.front().size, work, machines.front()));
      fmt::format_to(out, " {}\n", bar(static_cast<double>(s.span_nanoseconds), most));
    }
  }
  if (ledger.machines.size() > 1) fmt::format_to(out, "and {} submachines\n", ledger.machines.size() - 1);
  fmt::format_to(out, "p = {}  T = {}  H = {} messages, {} blocks  S = {} bytes  W = {}\n", ledger.processors,
                 sum.supersteps, sum.messages, sum.blocks, sum.bytes,
                 charged ? fmt::format("{}", sum.work) : duration(static_cast<double>(sum.nanoseconds)));
  fmt::format_to(out, "measured here: {}\n", duration(ledger.seconds * 1e9));
  for (const Machine& machine : machines) {
    fmt::format_to(out, "predicted on {}: {:.6g}{}\n", to_string(machine), predict(ledger, machine, work),
                   charged ? " units" : " ns");
  }
  return text;
}

std::string to_svg(const Ledger& ledger, const std::vector<Machine>& machines, Work work) {
  constexpr double kWidth = 760, kHeight = 300, kLeft = 70, kBottom = 50, kTop = 40;
  work = settle(work, ledger);
  const bool charged = work == Work::charged;
  std::vector<double> measured, predicted;
  if (!ledger.machines.empty()) {
    for (const Superstep& step : ledger.machines.front().supersteps) {
      measured.push_back(static_cast<double>(step.span_nanoseconds));
      if (!machines.empty()) predicted.push_back(predict(step, ledger.machines.front().size, work, machines.front()));
    }
  }
  const auto peak = [](const std::vector<double>& v) {
    return v.empty() ? 1.0 : std::max(1e-9, *std::max_element(v.begin(), v.end()));
  };
  // Charged work has its own unit: then the two kinds of bars have their own scale.
  const double top_measured =
      charged ? peak(measured) : std::max(peak(measured), predicted.empty() ? 0 : peak(predicted));
  const double top_predicted = charged ? peak(predicted) : top_measured;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kLeft + kWidth + 20, kTop + kHeight + kBottom);
  const auto out = std::back_inserter(svg);
  fmt::format_to(out, "<text x=\"{}\" y=\"20\">Supersteps of {} processors; blue: measured (highest {})", kLeft,
                 ledger.processors, duration(peak(measured)));
  if (!predicted.empty()) {
    fmt::format_to(out, "; orange: {} (highest {:.4g} {})", to_string(machines.front()), peak(predicted),
                   charged ? "units" : "ns");
  }
  fmt::format_to(out, "</text>\n");
  const double room = kWidth / static_cast<double>(std::max<std::size_t>(measured.size(), 1));
  const auto bar_at = [&](double x, double width, double share, const char* color) {
    fmt::format_to(out, "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n", x,
                   kTop + kHeight * (1 - share), width, kHeight * share, color);
  };
  const double parts = predicted.empty() ? 1 : 2;
  for (std::size_t t = 0; t < measured.size(); ++t) {
    const double x = kLeft + room * static_cast<double>(t);
    bar_at(x, room * 0.9 / parts, measured[t] / top_measured, "#4477aa");
    if (!predicted.empty()) bar_at(x + room * 0.9 / parts, room * 0.9 / parts, predicted[t] / top_predicted, "#ee8833");
  }
  fmt::format_to(out, "<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"black\"/>\n", kLeft, kTop + kHeight,
                 kLeft + kWidth);
  const std::size_t every = std::max<std::size_t>(1, measured.size() / 10);
  for (std::size_t t = 0; t < measured.size(); t += every) {
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                   kLeft + room * (static_cast<double>(t) + 0.45), kTop + kHeight + 18, t);
  }
  fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">superstep</text>\n</svg>\n", kLeft + kWidth / 2,
                 kTop + kHeight + 38);
  return svg;
}

}  // namespace chasqui::bsp
