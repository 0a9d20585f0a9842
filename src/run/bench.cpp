// SPDX-License-Identifier: MIT
#include "chasqui/run/bench.hpp"

#include <time.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/run/backoff.hpp"

namespace chasqui::run {
namespace {

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// As many rounds as fit, decided by rank 0.
Quartiles time_for(Comm& comm, double nanoseconds, const std::function<void()>& body) {
  const double once = time_together(comm, 3, body).median + 40'000;
  int rounds = static_cast<int>(std::clamp(nanoseconds / once, 5.0, 2000.0));
  comm.broadcast(rounds, 0);
  return time_together(comm, rounds, body);
}

}  // namespace

Quartiles Quartiles::of(std::vector<double> spans) {
  std::vector<double> sorted = spans;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double q) { return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))]; };
  return {at(0.25), at(0.5), at(0.75), std::move(spans)};
}

Quartiles time_together(Comm& comm, int rounds, const std::function<void()>& body) {
  // The start must lie behind the time that telling it takes, which is long on wide networks.
  const double before = now();
  comm.barrier();
  comm.barrier();
  const double lead = std::max(20'000.0, comm.terrain().nodes > 1 ? 2 * (now() - before) : 0.0);
  std::vector<double> spans;
  for (int i = 0; i < rounds; ++i) {
    double start = now() + lead;
    comm.broadcast(start, 0);
    if (const double left = start - now(); left > 500'000) {
      const timespec nap{0, static_cast<long>(std::min(left - 300'000, 9e8))};
      nanosleep(&nap, nullptr);
    }
    while (now() < start) cpu_relax();
    body();
    spans.push_back(comm.allreduce(now(), Maximum{}) - start);
  }
  return Quartiles::of(std::move(spans));
}

std::vector<std::pair<Kind, std::size_t>> bench_plan(const BenchOptions& options) {
  std::vector<Kind> kinds = options.kinds;
  if (kinds.empty()) {
    kinds = {Kind::barrier, Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::allgather, Kind::gather, Kind::scatter, Kind::scan};
  }
  std::vector<std::pair<Kind, std::size_t>> plan;
  for (const Kind kind : kinds) {
    if (kind == Kind::barrier) {
      plan.emplace_back(kind, 0);
      continue;
    }
    const std::size_t largest = std::max<std::size_t>(8, options.largest / 8 * 8);
    for (std::size_t bytes = 8; bytes < largest; bytes *= 8) plan.emplace_back(kind, bytes);
    plan.emplace_back(kind, largest);
  }
  return plan;
}

std::vector<BenchRow> bench(Comm& comm, const std::vector<Rival>& rivals, const BenchOptions& options) {
  std::vector<BenchRow> rows;
  const Sum sum;
  for (const auto& [kind, bytes] : bench_plan(options)) {
    const bool blocks = kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter;
    const std::size_t all = blocks ? static_cast<std::size_t>(comm.size()) : 1;
    std::vector<double> in(bytes / sizeof(double) * all, 1.0), out(in.size(), 0.0);
    Call call;
    call.kind = kind;
    call.in = in.data();
    call.out = out.data();
    call.count = static_cast<std::int64_t>(bytes / sizeof(double));
    call.layout.element = sizeof(double);
    call.op = operator_of<double>(sum, true);
    BenchRow row{kind, bytes, "", 0, {}, {}};
    const Choice choice = comm.choices_for(call).front();
    row.method = to_string(choice.method);
    row.predicted = choice.nanoseconds;
    const auto ours = [&] { comm.run(call); };
    ours();
    row.ours = time_for(comm, options.seconds_per_row * 1e9, ours);
    for (const auto& rival : rivals) {
      if (!rival.run(call)) continue;
      row.rivals.emplace_back(rival.name, time_for(comm, options.seconds_per_row * 1e9, [&] { rival.run(call); }));
    }
    if (comm.rank() == 0 && options.row) options.row(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace chasqui::run
