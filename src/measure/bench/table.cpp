// SPDX-License-Identifier: MIT
// What a benchmark found: lines for people, CSV and JSON for programs.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "chasqui/base/error.hpp"
#include "chasqui/base/printable.hpp"
#include "chasqui/measure/bench.hpp"

namespace chasqui::measure {
namespace {

/// At most six characters, whatever a busy machine did to the times.
std::string ratio_text(double ratio) {
  if (ratio >= 99'999) return "x>10^5";
  return fmt::format("x{:.{}f}", ratio, ratio < 99.99 ? 2 : ratio < 999.9 ? 1 : 0);
}

/// At most eight.
std::string time_text(double microseconds) {
  if (microseconds >= 1e8 - 1) return fmt::format("{:.1e}", microseconds);
  return fmt::format("{:.{}f}", microseconds, microseconds < 1e5 - 1 ? 2 : 0);
}

int width_of(const std::string& rival) { return static_cast<int>(std::max<std::size_t>(6, rival.size())); }

std::string heading_of(const std::vector<std::string>& rivals) {
  std::string line = fmt::format("{:<9} {:>7} {:<12} {:>8} {:>8}  ", "", "bytes", "way", "us", "expected");
  for (const auto& rival : rivals) line += fmt::format(" {:>{}}", rival, width_of(rival));
  return line + "\n";
}

constexpr std::string_view kOfMany =
    "by messages; items: 8 from the root to all, so many bytes together; stream: one\n"
    "after another, bytes and time of each; sum: numbers lie where the plan puts them\n";

/// One line of at most 80 columns with the name before it.
std::string_view meaning(run::Method way) {
  switch (way) {
    case run::Method::slots: return "short data in cache lines that all ranks of a node share";
    case run::Method::relay: return "cache lines; published again level by level";
    case run::Method::level_fold: return "cache lines; folded and told level by level";
    case run::Method::grouped_fold: return "cache lines; members of groups fold some each";
    case run::Method::shared_fold: return "shared memory; every rank folds a share";
    case run::Method::exposed_fold: return "every rank folds a share out of the others' buffers";
    case run::Method::staged: return "long data in rounds through shared memory";
    case run::Method::direct: return "straight from buffer to buffer of threads";
    case run::Method::cross_memory: return "from process to process, copied by the kernel";
    case run::Method::tree: return "messages along the planned tree";
    case run::Method::items: return "messages; the buffer travels in items";
    case run::Method::exchange: return "messages; reduce-scatter, then all-gather";
    case run::Method::windows: return "messages; all-gather by growing windows";
    case run::Method::messages: return "messages; every block straight to where it is needed";
    case run::Method::two_level: return "shared memory in each node, messages between nodes";
    case run::Method::native: return "the MPI library's own collective";
  }
  return "";
}

}  // namespace

bool is_guess(const Profile& profile) {
  return std::all_of(profile.levels.begin(), profile.levels.end(), [](const Level& level) { return level.ranks == 0; });
}

std::string source_of(const Profile& profile, bool threads) {
  if (is_guess(profile)) {
    return fmt::format(
        "expected: built-in guesses of an order of magnitude; for this machine's own:\n"
        "  {} --out machine.json{}then bench {}--machine machine.json\n",
        threads ? "chasqui measure" : "mpirun -np N chasqui measure --mpi", threads ? ", " : ",\n  ",
        threads ? "" : "--mpi ");
  }
  return fmt::format("expected: as measured{} by\n  {}\n", profile.when.empty() ? "" : " " + printable(profile.when),
                     printable(profile.how));
}

std::string BenchTable::add(const BenchRow& row) {
  std::vector<std::string> columns = rivals_;
  if (is_many(row.name)) {
    std::erase_if(columns, [](const std::string& name) { return name != "native" && name != "binomial"; });
    columns.insert(columns.end(), {"chain", "plain"});
  }
  std::string text = columns == columns_ ? "" : (columns_.empty() ? "" : "\n") + heading_of(columns);
  if (!text.empty() && is_many(row.name)) text = "\n" + std::string(kOfMany) + heading_of(columns);
  const double off = std::abs(row.predicted - row.ours.median) / row.ours.median;
  text +=
      fmt::format("{:<9} {:>7} {:<12} {:>8} {:>8} {}", row.name.substr(0, 9), row.bytes, row.method,
                  time_text(row.ours.median / 1000), time_text(row.predicted / 1000), marks_ && off > 0.2 ? "!" : " ");
  for (const auto& name : columns) {
    const auto found =
        std::find_if(row.rivals.begin(), row.rivals.end(), [&](const auto& rival) { return rival.first == name; });
    const std::string ratio = found == row.rivals.end() ? "-" : ratio_text(found->second.median / row.ours.median);
    text += fmt::format(" {:>{}}", ratio, width_of(name));
  }
  columns_ = std::move(columns);
  ways_.insert(row.method);
  return text + "\n";
}

std::string BenchTable::ways() const {
  std::string text;
  for (int way = 0; way <= static_cast<int>(run::Method::native); ++way) {
    const auto method = static_cast<run::Method>(way);
    if (ways_.count(std::string(to_string(method))) != 0)
      text += fmt::format("  {:<12} {}\n", to_string(method), meaning(method));
  }
  return text.empty() ? text : "\nways:\n" + text;
}

std::string legend(bool marks) {
  return fmt::format(
      "us: median time of Chasqui's call, in microseconds; way: how it was done{}\n"
      "last columns: the rival's time / Chasqui's; x2.00: Chasqui is twice as fast\n",
      marks ? "\n!: off by more than 20 % from what was expected" : "");
}

std::string csv_heading() { return "collective,bytes,ranks,who,predicted_ns,q1_ns,median_ns,q3_ns\n"; }

std::string to_csv(const BenchRow& row, int ranks) {
  std::string text = fmt::format("{},{},{},{},{:.1f},{:.1f},{:.1f},{:.1f}\n", row.name, row.bytes, ranks,
                                 "chasqui " + row.method, row.predicted, row.ours.low, row.ours.median, row.ours.high);
  for (const auto& [name, time] : row.rivals) {
    text += fmt::format("{},{},{},{},,{:.1f},{:.1f},{:.1f}\n", row.name, row.bytes, ranks, name, time.low, time.median,
                        time.high);
  }
  return text;
}

std::string to_samples(const std::vector<BenchRow>& rows, int ranks) {
  std::string text = "collective,bytes,ranks,who,sample,ns\n";
  for (const auto& row : rows) {
    const auto add = [&](const std::string& who, const Quartiles& time) {
      for (std::size_t i = 0; i < time.spans.size(); ++i) {
        text += fmt::format("{},{},{},{},{},{:.1f}\n", row.name, row.bytes, ranks, who, i, time.spans[i]);
      }
    };
    add("chasqui " + row.method, row.ours);
    for (const auto& [name, time] : row.rivals) add(name, time);
  }
  return text;
}

std::string to_json(const std::vector<BenchRow>& rows, int ranks) {
  const auto times = [](const Quartiles& time) {
    return fmt::format("\"q1_ns\": {:.1f}, \"median_ns\": {:.1f}, \"q3_ns\": {:.1f}", time.low, time.median, time.high);
  };
  std::string text = fmt::format("{{\"ranks\": {}, \"rows\": [", ranks);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BenchRow& row = rows[i];
    text += fmt::format(
        "{}\n  {{\"collective\": \"{}\", \"bytes\": {}, \"way\": \"{}\", \"predicted_ns\": {:.1f}, {}, \"rivals\": [",
        i == 0 ? "" : ",", row.name, row.bytes, row.method, row.predicted, times(row.ours));
    for (std::size_t j = 0; j < row.rivals.size(); ++j) {
      const auto& [name, time] = row.rivals[j];
      text += fmt::format("{}{{\"name\": \"{}\", {}, \"ratio\": {:.3f}}}", j == 0 ? "" : ", ", name, times(time),
                          time.median / row.ours.median);
    }
    text += "]}";
  }
  return text + "\n]}\n";
}

}  // namespace chasqui::measure
