// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <string>

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
  work = settle(work, ledger);
  const bool charged = work == Work::charged;
  const Totals sum = totals(ledger);
  if (!ledger.machines.empty()) {
    const auto& steps = ledger.machines.front().supersteps;
    double most = 0;
    for (const Superstep& step : steps) most = std::max(most, static_cast<double>(step.span_nanoseconds));
    text += fmt::format("{:>5} {:>11} {:>9} {:>9} {:>11} {:>10}{}\n", "step", charged ? "w (charged)" : "w", "h (msgs)",
                        "blocks", "s (bytes)", "measured", machines.empty() ? "" : fmt::format(" {:>9}", "predicted"));
    for (std::size_t t = 0; t < steps.size(); ++t) {
      if (steps.size() > kMostLines && t == kMostLines / 2) {
        text += fmt::format("   ... {} supersteps left out\n", steps.size() - kMostLines);
        t = steps.size() - kMostLines / 2;
      }
      const Superstep& s = steps[t];
      const std::string w = charged ? fmt::format("{}", s.work) : duration(static_cast<double>(s.nanoseconds));
      text += fmt::format("{:>5} {:>11} {:>9} {:>9} {:>11} {:>10}", t, w, s.messages, s.blocks, s.bytes,
                          duration(static_cast<double>(s.span_nanoseconds)));
      if (!machines.empty())
        text += fmt::format(" {:>9.6g}", predict(s, ledger.machines.front().size, work, machines.front()));
      text += fmt::format(" {}\n", bar(static_cast<double>(s.span_nanoseconds), most));
    }
  }
  if (ledger.machines.size() > 1) text += fmt::format("and {} submachines\n", ledger.machines.size() - 1);
  text += fmt::format("p = {}  T = {}  H = {} messages, {} blocks  S = {} bytes  W = {}\n", ledger.processors,
                      sum.supersteps, sum.messages, sum.blocks, sum.bytes,
                      charged ? fmt::format("{}", sum.work) : duration(static_cast<double>(sum.nanoseconds)));
  text += fmt::format("measured here: {}\n", duration(ledger.seconds * 1e9));
  for (const Machine& machine : machines) {
    text += fmt::format("predicted on {}: {:.6g}{}\n", to_string(machine), predict(ledger, machine, work),
                        charged ? " units" : " ns");
  }
  return text;
}

}  // namespace chasqui::bsp
