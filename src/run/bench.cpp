// SPDX-License-Identifier: MIT
#include "chasqui/run/bench.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/run/clocks.hpp"

namespace chasqui::run {

namespace {

/// As many rounds as fit, decided by rank 0.
Quartiles time_for(Comm& comm, CommonStart& start, double nanoseconds, const std::function<void()>& body) {
  const double once = time_together(start, 3, body).median + 40'000;
  int rounds = static_cast<int>(std::clamp(nanoseconds / once, 5.0, 2000.0));
  comm.broadcast(rounds, 0);
  return time_together(start, rounds, body);
}

}  // namespace

Quartiles Quartiles::of(std::vector<double> spans) {
  std::vector<double> sorted = spans;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double q) { return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))]; };
  return {at(0.25), at(0.5), at(0.75), std::move(spans)};
}

Quartiles time_together(CommonStart& start, int rounds, const std::function<void()>& body) {
  std::vector<double> spans;
  for (int i = 0; i < rounds; ++i) spans.push_back(start.once(body));
  return Quartiles::of(std::move(spans));
}

std::vector<Kind> kinds_from(const std::string& list, const std::string& option) {
  std::vector<Kind> kinds;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    const auto kind = kind_from(word);
    if (!kind) throw Error("{} has \"{}\", which is no collective", option, word);
    kinds.push_back(*kind);
    at = end + 1;
  }
  return kinds;
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
    BenchRow row{kind, bytes, "", 0, 0, {}, {}};
    const Choice choice = comm.choices_for(call).front();
    row.method = to_string(choice.method);
    row.predicted = choice.nanoseconds;
    const auto ours = [&] { comm.run(call); };
    ours();
    CommonStart start(comm);  // for every row anew: clocks drift
    row.clocks = start.uncertainty();
    row.ours = time_for(comm, start, options.seconds_per_row * 1e9, ours);
    for (const auto& rival : rivals) {
      if (!rival.run(call)) continue;
      row.rivals.emplace_back(rival.name, time_for(comm, start, options.seconds_per_row * 1e9, [&] { rival.run(call); }));
    }
    if (comm.rank() == 0 && options.row) options.row(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace chasqui::run
