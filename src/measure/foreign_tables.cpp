// SPDX-License-Identifier: MIT
#include "measure/foreign_tables.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/model/kind.hpp"

namespace chasqui::measure {
namespace {

constexpr double kMicrosecond = 1000;   // nanoseconds
constexpr double kMostMeasured = 1e15;  ///< bytes or microseconds that anybody has measured

/// How the benchmarks call the collectives; a title has one of these words.
constexpr std::pair<std::string_view, Kind> kTitles[] = {
    {"Reduce_scatter", Kind::reduce_scatter},
    {"Allreduce", Kind::allreduce},
    {"Allgather", Kind::allgather},
    {"All-to-All", Kind::alltoall},
    {"Alltoall", Kind::alltoall},
    {"Broadcast", Kind::broadcast},
    {"Bcast", Kind::broadcast},
    {"Reduce", Kind::reduce},
    {"Gather", Kind::gather},
    {"Scatter", Kind::scatter},
    {"Barrier", Kind::barrier},
};

/// By size; of several points of one size the first stays.
void put_in_order(Times& times) {
  std::stable_sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto end =
      std::unique(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  times.erase(end, times.end());
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view place) : lines_(std::string(text)), place_(place) {}

  ForeignTables read() {
    while (std::getline(lines_, line_)) {
      ++number_;
      if (line_.find("OSU MPI") != std::string::npos) open("OSU");
      else if (line_.find("# Benchmarking") != std::string::npos) open("IMB");
      else if (line_.find("PRTT(1,0,s)") != std::string::npos) found_.tool = "Netgauge";
      else if (const auto at = line_.find("#processes ="); at != std::string::npos) read_ranks(at + 12);
      else if (std::isdigit(static_cast<unsigned char>(first()))) read_row();
      else if (!line_.empty() && line_[0] != '#' && std::isalpha(static_cast<unsigned char>(first()))) kind_.reset();
    }
    if (found_.tool.empty()) {
      throw Error(
          "{}: no table of IMB (# Benchmarking …), OSU (# OSU MPI …) or Netgauge (# size n PRTT(1,0,s) …): give the "
          "output of one of them",
          place_);
    }
    if (found_.tool == "Netgauge") fit();
    else if (found_.collectives.empty()) throw Error("{}: no times of a collective: give a table of one", place_);
    for (auto& [kind, times] : found_.collectives) put_in_order(times);
    return std::move(found_);
  }

 private:
  template <typename... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> what, Arguments&&... arguments) const {
    throw Error("{}: line {}: {}", place_, number_, fmt::format(what, std::forward<Arguments>(arguments)...));
  }

  char first() const {
    const auto at = line_.find_first_not_of(" \t");
    return at == std::string::npos ? '\0' : line_[at];
  }

  /// A new table; one of something else (Alltoallv, PingPong, non-blocking forms) is read over.
  void open(const char* tool) {
    found_.tool = tool;
    kind_.reset();
    const bool other = line_.find("Non-blocking") != std::string::npos || line_.find("persistent") != std::string::npos;
    for (const auto& [word, kind] : kTitles) {
      const auto at = line_.find(word);
      if (at == std::string::npos || other) continue;
      const char next = at + word.size() < line_.size() ? line_[at + word.size()] : ' ';
      if (next == ' ' || next == '\r') kind_ = kind;
      return;
    }
  }

  void read_ranks(std::size_t at) {
    if (!kind_) return;
    const long ranks = std::strtol(line_.c_str() + at, nullptr, 10);
    if (ranks < 1) fail("the number of processes is missing");
    const std::string name(to_string(*kind_));
    const auto [known, fresh] = found_.ranks.try_emplace(name, ranks);
    // IMB repeats a table for fewer processes: the last, largest one counts.
    if (!fresh && known->second != ranks) known->second = ranks, found_.collectives.erase(name);
  }

  /// IMB prints a row that it could not time as a size and words.
  bool gave_up() const {
    std::istringstream words(line_);
    std::string size, second;
    words >> size >> second;
    return found_.tool == "IMB" && !second.empty() && std::isalpha(static_cast<unsigned char>(second[0])) != 0;
  }

  std::vector<double> numbers() const {
    std::istringstream words(line_);
    std::vector<double> values;
    for (std::string word; words >> word;) {
      const auto value = number_from(word);
      if (!value || !(*value >= 0 && *value <= kMostMeasured)) fail("'{}' is no number of a table", word);
      values.push_back(*value);
    }
    return values;
  }

  void read_row() {
    if (found_.tool == "Netgauge") {
      rows_.push_back(numbers());
      if (rows_.back().size() < 8) fail("a row has size, n, three times, L, o_s and o_r at least");
      return;
    }
    if (!kind_ || gave_up()) return;
    const std::vector<double> row = numbers();
    const bool barrier = *kind_ == Kind::barrier;
    const bool imb = found_.tool == "IMB";
    // OSU: size, average (a barrier: the average alone). IMB: size, repetitions, least, most, average (a barrier: from there on).
    const std::size_t average = imb ? (barrier ? 3 : 4) : (barrier ? 0 : 1);
    if (row.size() <= average) fail("a row of {} has {} numbers at least", found_.tool, average + 1);
    const double bytes = barrier ? 0 : row[0];
    if (bytes != std::floor(bytes)) fail("{} is no number of bytes", bytes);
    if (bytes == 0 && !barrier) return;  // an empty call is no point
    found_.collectives[std::string(to_string(*kind_))].emplace_back(static_cast<std::int64_t>(bytes),
                                                                    row[average] * kMicrosecond);
  }

  /// PRTT(n,d,s): n messages of s bytes, d apart, and one back. PRTT(1,0,s) = 2(L + o_s + o_r + (s-1)G), and n messages
  /// without a pause take (n-1)(g + (s-1)G) longer. The overheads are columns of the table.
  void fit() {
    if (rows_.size() < 3) throw Error("{}: {} rows: run Netgauge with three sizes at least", place_, rows_.size());
    std::vector<std::pair<double, double>> gaps;
    std::vector<double> o_s, o_r;
    for (const auto& row : rows_) {
      if (row[1] < 2) throw Error("{}: n = {}: bursts of two messages at least are needed", place_, row[1]);
      gaps.emplace_back(row[0], (row[3] - row[2]) / (row[1] - 1) * kMicrosecond);
      o_s.push_back(row[6] * kMicrosecond);
      o_r.push_back(row[7] * kMicrosecond);
    }
    Level level;
    level.name = "network";
    level.ranks = 2;
    const auto [g, G] = line_through(gaps);
    level.g = g;
    level.G = G;
    level.o_s = spread(o_s.front(), o_s);
    level.o_r = spread(o_r.front(), o_r);
    const auto& least = rows_.front();
    const double trip = least[2] / 2 * kMicrosecond - (least[0] - 1) * G.value;
    level.L = Estimate::exactly(std::max(0.0, trip - level.o_s.value - level.o_r.value));
    level.publish = level.publish_per_rank = level.copy = Estimate::exactly(0);
    level.B = Estimate::exactly(G.value > 0 ? std::clamp(trip / G.value, 0.0, kMostMeasured) : 0);
    found_.network = level;
  }

  /// The value at the smallest size; the interval holds those of the first few sizes.
  static Estimate spread(double value, const std::vector<double>& values) {
    const auto few = std::min<std::ptrdiff_t>(5, std::ssize(values));
    const auto [low, high] = std::minmax_element(values.begin(), values.begin() + few);
    return {value, std::min(value, *low), std::max(value, *high)};
  }

  /// Least squares: the value at one byte, and the slope, each with twice its standard error.
  static std::pair<Estimate, Estimate> line_through(const std::vector<std::pair<double, double>>& points) {
    const auto n = static_cast<double>(points.size());
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, residual = 0;
    for (const auto& [x, y] : points) mean_x += x / n, mean_y += y / n;
    for (const auto& [x, y] : points) xx += (x - mean_x) * (x - mean_x), xy += (x - mean_x) * (y - mean_y);
    const double slope = xx > 0 ? std::max(0.0, xy / xx) : 0;
    const auto at = [&](double x) { return mean_y + slope * (x - mean_x); };
    for (const auto& [x, y] : points) residual += (y - at(x)) * (y - at(x));
    const double deviation = std::sqrt(residual / std::max(1.0, n - 2));
    const double of_slope = xx > 0 ? deviation / std::sqrt(xx) : 0;
    const double of_start = deviation * std::sqrt(1 / n + (xx > 0 ? (mean_x - 1) * (mean_x - 1) / xx : 0));
    const auto estimate = [](double value, double error) {
      value = std::max(0.0, value);
      return Estimate{value, std::max(0.0, value - 2 * error), value + 2 * error};
    };
    return {estimate(at(1), of_start), estimate(slope, of_slope)};
  }

  std::istringstream lines_;
  std::string_view place_;
  std::string line_;
  std::int64_t number_ = 0;
  std::optional<Kind> kind_;
  std::vector<std::vector<double>> rows_;  // Netgauge
  ForeignTables found_;
};

/// New points take the place of old ones of the same size.
void merge(Times& into, const Times& points) {
  for (const auto& [bytes, nanoseconds] : points) {
    const auto at = std::lower_bound(into.begin(), into.end(), bytes,
                                     [](const auto& point, std::int64_t b) { return point.first < b; });
    if (at != into.end() && at->first == bytes) at->second = nanoseconds;
    else into.insert(at, {bytes, nanoseconds});
  }
}

}  // namespace

ForeignTables foreign_tables(std::string_view text, std::string_view place) { return Reader(text, place).read(); }

std::string add_tables(Profile& profile, const ForeignTables& tables, std::string_view place, std::int64_t ranks) {
  std::string said;
  if (tables.network) {
    std::erase_if(profile.levels, [](const Level& level) { return level.name == "network"; });
    profile.levels.push_back(*tables.network);
    said += fmt::format("{}: L, o, g, G of the network from {}\n", place, tables.tool);
  }
  const Level* network = profile.level("network");
  const std::int64_t measured = network != nullptr && !tables.network ? network->ranks
                                : profile.levels.empty()              ? 0
                                                                      : profile.levels.front().ranks;
  for (const auto& [kind, times] : tables.collectives) {
    const auto stated = tables.ranks.find(kind);
    const std::int64_t of = stated != tables.ranks.end() ? stated->second : ranks > 0 ? ranks : measured;
    if (of != measured) {
      throw Error(
          "{}: {} was measured on {} ranks, the profile on {}: measure a profile of as many, or run the benchmark on {}",
          place, kind, of, measured, measured);
    }
    Times points = times;
    if (kind == to_string(Kind::reduce_scatter)) {  // the tools count the whole vector, a profile the block of a rank
      for (auto& point : points) point.first = std::max<std::int64_t>(1, point.first / std::max<std::int64_t>(1, of));
      put_in_order(points);
    }
    merge(profile.native[kind], points);
    said += fmt::format("{}: {} sizes of {} from {}\n", place, points.size(), kind, tables.tool);
  }
  profile.how += fmt::format("; {} of {}", place, tables.tool);
  return said;
}

}  // namespace chasqui::measure
