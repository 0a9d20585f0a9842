// SPDX-License-Identifier: MIT
// What node_bench, team_bench and both_bench share: options, the rows (every collective, 8 B to 4 MiB), and the table of two
// contestants.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "chasqui/measure/bench.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/run/comm.hpp"
#include "measure/common_start.hpp"
#include "measure/sample_call.hpp"

namespace node_bench {

using chasqui::Kind;
using chasqui::measure::CommonStart;
using chasqui::measure::Quartiles;

struct Settings {
  bool quick = false;
  std::string kinds;  ///< separated by commas; empty: all
  std::string csv;
  std::size_t largest = std::size_t{4} << 20;
  std::vector<std::size_t> sizes;  ///< in bytes; empty: 8 B to 4 MiB

  Settings(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
      if (is("--quick")) quick = true;
      if (i + 1 == argc) break;
      if (is("--kinds")) kinds = argv[++i];
      else if (is("--csv")) csv = argv[++i];
      else if (is("--largest")) largest = std::strtoull(argv[++i], nullptr, 10);
      else if (is("--sizes")) {
        for (const char* at = argv[++i]; *at != '\0'; at += *at == ',' ? 1 : 0) {
          char* end = nullptr;
          sizes.push_back(std::strtoull(at, &end, 10));
          if (end == at) break;
          at = end;
        }
      }
    }
    if (sizes.empty()) {
      for (std::size_t bytes = 8; bytes <= largest; bytes *= bytes == 8 ? 8 : 4) sizes.push_back(bytes);
    }
  }
  bool wants(Kind kind) const {
    return kinds.empty() || ("," + kinds + ",").find("," + std::string(to_string(kind)) + ",") != std::string::npos;
  }
};

struct Row {
  Row(int ranks, const Settings& settings, Kind which, std::size_t size)
      : kind(which), bytes(size), sample(which, size, ranks) {
    const std::size_t volume = sample.in().size() * sizeof(double);
    rounds = volume <= 1024 ? 4000 : volume <= 65536 ? 1000 : volume <= (1 << 20) ? 200 : 40;
    if (settings.quick) rounds = rounds / 10 + 5;
  }
  const char* name() const { return to_string(kind).data(); }
  const chasqui::run::Call& call() const { return sample.call(); }

  Kind kind;
  std::size_t bytes;
  chasqui::measure::SampleCall sample;
  int rounds = 0;
};

/// Calls visit(row) for every row wanted, the same on every rank.
template <typename Visit>
void for_each_row(int ranks, const Settings& settings, Visit visit) {
  for (const Kind kind : chasqui::plan::called_kinds()) {
    if (!settings.wants(kind)) continue;
    for (const std::size_t bytes : settings.sizes) {
      if (kind == Kind::barrier && bytes > 8) break;
      visit(Row(ranks, settings, kind, bytes));
    }
  }
}

/// Collective: the latest finish of each round, after a tenth as many rounds, and two, that do not count.
template <typename Body>
std::vector<double> timed_rounds(CommonStart& start, int rounds, const Body& body) {
  for (int i = 0; i < rounds / 10 + 2; ++i) body();
  std::vector<double> spans;
  for (int i = 0; i < rounds; ++i) spans.push_back(start.once(body));
  return spans;
}

/// Two contestants that take turns, a slice of the rounds each, so that drift hits both alike: a machine's times may change by half
/// within a second.
struct Turns {
  Quartiles a, b, ratio;  ///< times of all rounds; and a / b of the medians of neighbouring slices
};
constexpr int kSlices = 8;
inline int rounds_per_slice(int rounds) { return rounds / kSlices + 1; }

/// Calls a and b by turns for the times of a slice each, of rounds_per_slice() rounds; a rank for which they give none
/// gets nothing.
Turns take_turns(const auto& a, const auto& b) {
  std::vector<double> all_a, all_b, ratios;
  for (int i = 0; i < kSlices; ++i) {
    std::vector<double> times_a, times_b;
    if (i % 2 == 0) times_a = a();
    times_b = b();
    if (i % 2 != 0) times_a = a();
    if (times_a.empty() || times_b.empty()) continue;
    all_a.insert(all_a.end(), times_a.begin(), times_a.end());
    all_b.insert(all_b.end(), times_b.begin(), times_b.end());
    ratios.push_back(Quartiles::of(std::move(times_a)).median / Quartiles::of(std::move(times_b)).median);
  }
  if (ratios.empty()) return {};
  return {Quartiles::of(std::move(all_a)), Quartiles::of(std::move(all_b)), Quartiles::of(std::move(ratios))};
}

/// What two contestants took, row by row: printed, and as CSV where a file was named.
class Table {
 public:
  Table(const Settings& settings, const std::string& a, const std::string& b) {
    if (!settings.csv.empty()) raw_.open(settings.csv);
    raw_ << "collective,bytes,ranks";
    for (const std::string& column : {a, b, std::string("ratio")}) {
      raw_ << ',' << column << "_q1," << column << "_median," << column << "_q3";
    }
    raw_ << '\n';
    std::printf("%-10s %9s %12s %12s %6s %11s   [quartiles ns: %s | %s]\n", "collective", "bytes", (a + " ns").c_str(),
                (b + " ns").c_str(), "ratio", "quartiles", a.c_str(), b.c_str());
  }
  void add(const Row& row, int ranks, const Turns& found) {
    const auto& [a, b, ratio] = found;
    std::printf("%-10s %9zu %12.0f %12.0f %6.2f %5.2f %5.2f   [%.0f %.0f | %.0f %.0f]\n", row.name(), row.bytes,
                a.median, b.median, ratio.median, ratio.low, ratio.high, a.low, a.high, b.low, b.high);
    std::fflush(stdout);
    raw_ << row.name() << ',' << row.bytes << ',' << ranks;
    for (const Quartiles* q : {&a, &b, &ratio}) raw_ << ',' << q->low << ',' << q->median << ',' << q->high;
    raw_ << '\n';
  }

 private:
  std::ofstream raw_;  ///< closed where no file was named: what is written to it then goes nowhere
};

}  // namespace node_bench
