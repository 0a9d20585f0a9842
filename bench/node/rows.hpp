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

/// Times `body`; the latest finish of each round, at rank 0.
template <typename Body>
Quartiles measure(chasqui::run::Comm& comm, int rounds, Body body) {
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
  std::sort(spans.begin(), spans.end());
  const auto at = [&](double q) { return spans[static_cast<std::size_t>(q * static_cast<double>(spans.size() - 1))]; };
  return {at(0.25), at(0.5), at(0.75)};
}

/// Two halves of a measurement, between which somebody else was measured.
inline Quartiles mean(const Quartiles& a, const Quartiles& b) {
  return {(a.low + b.low) / 2, (a.median + b.median) / 2, (a.high + b.high) / 2};
}

struct Row {
  Kind kind;
  std::size_t bytes;
  int rounds;
  chasqui::run::Call call;  ///< sums of doubles

  const char* name() const { return to_string(kind).data(); }
};

/// Calls visit(row) with the buffers of one row, made by this rank.
template <typename Visit>
void with_row(chasqui::run::Comm& comm, const Settings& settings, Kind kind, std::size_t bytes, Visit visit) {
  const chasqui::run::Sum sum;
  const bool blocks = kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter;
  const std::size_t all = blocks ? static_cast<std::size_t>(comm.size()) : 1;
  if (bytes * all > (std::size_t{64} << 20)) return;
  std::vector<double> in(bytes / sizeof(double) * all, 1.0), out(in.size(), 2.0);
  Row row{kind, bytes, 0, {}};
  row.call.kind = kind;
  row.call.in = in.data();
  row.call.out = out.data();
  row.call.count = static_cast<std::int64_t>(bytes / sizeof(double));
  row.call.layout.element = sizeof(double);
  row.call.op = chasqui::run::operator_of<double>(sum, true);
  const double volume = static_cast<double>(bytes * all);
  row.rounds = volume <= 1024 ? 4000 : volume <= 65536 ? 1000 : volume <= (1 << 20) ? 200 : 40;
  if (settings.quick) row.rounds = row.rounds / 10 + 5;
  visit(row);
}

/// Calls visit(row) for every row wanted, the same on every rank.
template <typename Visit>
void for_each_row(chasqui::run::Comm& comm, const Settings& settings, Visit visit) {
  for (const Kind kind : {Kind::barrier, Kind::broadcast, Kind::allreduce, Kind::reduce, Kind::allgather, Kind::gather,
                          Kind::scatter, Kind::scan}) {
    if (!settings.wants(kind)) continue;
    for (const std::size_t bytes : settings.sizes) {
      if (kind == Kind::barrier && bytes > 8) break;
      with_row(comm, settings, kind, bytes, visit);
    }
  }
}

}  // namespace node_bench
