// SPDX-License-Identifier: MIT
// What node_bench, team_bench and both_bench share: options, the rows (every collective, 8 B to 4 MiB), and timing with a common
// start on a common clock and the latest finish.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "chasqui/run/comm.hpp"

namespace node_bench {

using chasqui::Kind;

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

inline double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Quartiles {
  double low, median, high;
};

/// REQUIRES values not empty.
inline Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) {
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
  };
  return {at(0.25), at(0.5), at(0.75)};
}

/// Times `body`; the latest finish of each round, at rank 0.
template <typename Body>
std::vector<double> measure(chasqui::run::Comm& comm, int rounds, Body body) {
  std::vector<double> spans;
  for (int i = 0; i < rounds; ++i) {
    double start = now() + 20'000;
    comm.broadcast(start, 0);
    while (now() < start) {
    }
    body();
    const double end = now();
    double latest = 0;
    comm.reduce(std::span<const double>(&end, 1), std::span<double>(&latest, 1), 0, chasqui::run::Maximum{});
    spans.push_back(latest - start);
  }
  return spans;
}

/// Two that take turns, a slice of the rounds each, so that drift hits both alike: a machine's times may change by half
/// within a second. Each slice begins with a few rounds that do not count.
struct Compared {
  Quartiles a, b, ratio;  ///< times of all rounds; and a / b of the medians of neighbouring slices
};
inline constexpr int kSlices = 8;
template <typename SliceA, typename SliceB>
Compared take_turns(SliceA a, SliceB b) {
  std::vector<double> all_a, all_b, ratios;
  for (int i = 0; i < kSlices; ++i) {
    std::vector<double> times_a, times_b;
    if (i % 2 == 0) times_a = a();
    times_b = b();
    if (i % 2 != 0) times_a = a();
    if (!times_a.empty() && !times_b.empty()) ratios.push_back(quartiles(times_a).median / quartiles(times_b).median);
    all_a.insert(all_a.end(), times_a.begin(), times_a.end());
    all_b.insert(all_b.end(), times_b.begin(), times_b.end());
  }
  if (ratios.empty()) return {};
  return {quartiles(all_a), quartiles(all_b), quartiles(ratios)};
}
template <typename Body>
std::vector<double> slice(chasqui::run::Comm& comm, int rounds, Body body) {
  const int counted = rounds / kSlices + 1;
  for (int i = 0; i < counted / 10 + 2; ++i) body();
  return measure(comm, counted, body);
}

/// A collective on buffers of its own, sums of doubles.
class Row {
 public:
  Row(int ranks, const Settings& settings, Kind which, std::size_t size) : kind(which), bytes(size) {
    const bool blocks = kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter;
    const std::size_t all = blocks ? static_cast<std::size_t>(ranks) : 1;
    in_.assign(bytes / sizeof(double) * all, 1.0);
    out_.assign(in_.size(), 2.0);
    call.kind = kind;
    call.in = in_.data();
    call.out = out_.data();
    call.count = static_cast<std::int64_t>(bytes / sizeof(double));
    call.element = sizeof(double);
    call.op = chasqui::run::operator_of<double>(sum_, true);
    const double volume = static_cast<double>(bytes * all);
    rounds = volume <= 1024 ? 4000 : volume <= 65536 ? 1000 : volume <= (1 << 20) ? 200 : 40;
    if (settings.quick) rounds = rounds / 10 + 5;
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  const char* name() const { return to_string(kind).data(); }

  Kind kind;
  std::size_t bytes;
  int rounds;
  chasqui::run::Call call;

 private:
  std::vector<double> in_, out_;
  chasqui::run::Sum sum_;
};

/// Calls visit(row) for every row wanted, the same on every rank.
template <typename Visit>
void for_each_row(int ranks, const Settings& settings, Visit visit) {
  for (const Kind kind : {Kind::barrier, Kind::broadcast, Kind::allreduce, Kind::reduce, Kind::allgather, Kind::gather,
                          Kind::scatter, Kind::scan}) {
    if (!settings.wants(kind)) continue;
    for (const std::size_t bytes : settings.sizes) {
      if (kind == Kind::barrier && bytes > 8) break;
      visit(Row(ranks, settings, kind, bytes));
    }
  }
}

}  // namespace node_bench
