// SPDX-License-Identifier: MIT
#include "chasqui/measure/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "chasqui/base/error.hpp"
#include "chasqui/model/problem.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/bench/contest.hpp"
#include "measure/common_start.hpp"
#include "measure/sample_call.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr std::size_t kLongestOfStream = std::size_t{512} << 10;  ///< many of them are kept
constexpr std::size_t kLeastOfItems = 64;                         ///< eight numbers
constexpr std::size_t kLeastOfSum = 512;                          ///< what one rank adds faster than a message goes

/// As many rounds as fit, decided by rank 0; the times of each row.
std::vector<Quartiles> time_for(Comm& comm, CommonStart& start, double nanoseconds, const Contest::Sample& sample) {
  double once = 0;
  for (int i = 0; i < 3; ++i) {
    const double before = clock_now();
    sample(start);
    const double took = clock_now() - before;
    once = i == 0 ? took : std::min(once, took);
  }
  int rounds = static_cast<int>(std::clamp(nanoseconds / once, 5.0, 2000.0));
  comm.broadcast(rounds, 0);
  std::vector<std::vector<double>> spans;
  for (int i = 0; i < rounds; ++i) {
    const std::vector<double> values = sample(start);
    spans.resize(values.size());
    for (std::size_t row = 0; row < values.size(); ++row) spans[row].push_back(values[row]);
  }
  std::vector<Quartiles> times;
  for (auto& row : spans) times.push_back(Quartiles::of(std::move(row)));
  return times;
}

Contest contest_of(Comm& comm, const std::string& name, std::size_t bytes) {
  if (name == "sum") return contest_of_sum(comm, bytes);
  if (name == "items") return contest_of_items(comm, bytes);
  if (name == "stream") return contest_of_stream(comm, bytes);
  return contest_of_call(comm, *kind_from(name), bytes);
}

}  // namespace

const std::vector<std::string>& bench_kinds() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names = plan::collective_names(&plan::Collective::called);
    names.insert(names.end(), {"sum", "items", "stream"});
    return names;
  }();
  return all;
}

Quartiles Quartiles::of(std::vector<double> spans) {
  std::vector<double> sorted = spans;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double q) {
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  return {at(0.25), at(0.5), at(0.75), std::move(spans)};
}

std::vector<std::string> kinds_from(const std::string& list, const std::string& option, const KindHint& hint,
                                    const std::vector<std::string>& known) {
  std::vector<std::string> kinds;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    if (std::find(known.begin(), known.end(), word) == known.end())
      throw Error("{} has \"{}\", which is not one of {}{}", option, word, fmt::join(known, ", "),
                  hint ? hint(word, known) : "");
    kinds.push_back(word);
    at = end + 1;
  }
  return kinds;
}

bool is_many(const std::string& name) {
  return name == "sum" || name == "items" || name == "stream" || name == "delay";
}

std::vector<std::pair<std::string, std::size_t>> bench_plan(const BenchOptions& options) {
  std::vector<std::pair<std::string, std::size_t>> plan;
  for (const std::string& name : options.kinds.empty() ? bench_kinds() : options.kinds) {
    if (name == "barrier") {
      plan.emplace_back(name, 0);
      continue;
    }
    const std::size_t least = name == "items" ? kLeastOfItems : name == "sum" ? kLeastOfSum : 8;
    std::size_t largest = std::max(least, options.largest / 8 * 8);
    if (name == "stream") largest = std::min(largest, kLongestOfStream);
    for (std::size_t bytes = least; bytes < largest; bytes *= 8) plan.emplace_back(name, bytes);
    plan.emplace_back(name, largest);
  }
  return plan;
}

Contest contest_of_call(Comm& comm, Kind kind, std::size_t bytes) {
  const auto sample = std::make_shared<SampleCall>(kind, bytes, comm.size());
  const Choice choice = comm.choices_for(sample->call()).front();
  const auto once = [&comm, sample](const std::function<void(const Call&)>& run) {
    return [&comm, sample, run](CommonStart& start) {
      if (comm.topology().nodes == 1) {
        sample->refresh();
        comm.barrier();
      }
      return std::vector<double>{start.once([&] { run(sample->call()); })};
    };
  };
  Contest contest{
      {std::string(to_string(kind))}, bytes, std::string(to_string(choice.method)), {choice.nanoseconds}, {}, {}, {}};
  contest.ours = once([&comm](const Call& one) { comm.run(one); });
  contest.against = [once, sample](const Rival& rival) -> Contest::Sample {
    if (!rival.run(sample->call())) return {};
    return once(rival.run);
  };
  return contest;
}

std::vector<BenchRow> bench(Comm& comm, const std::vector<Rival>& rivals, const BenchOptions& options) {
  std::vector<BenchRow> rows;
  const auto plan = bench_plan(options);
  double done = 0;
  const auto progress = [&](double part) {
    if (comm.rank() == 0 && options.progress) options.progress((done + part) / static_cast<double>(plan.size()));
  };
  for (const auto& [name, bytes] : plan) {
    if (is_many(name) && (comm.size() == 1 || fabric_of(comm).messages == nullptr)) continue;
    int skip = comm.rank() == 0 && options.skip && options.skip(name, bytes) ? 1 : 0;
    comm.broadcast(skip, 0);
    if (skip != 0) continue;
    const Contest contest = contest_of(comm, name, bytes);
    CommonStart start(comm);  // for every contest anew: clocks drift
    contest.ours(start);
    std::vector<BenchRow> fresh;
    const double time = options.seconds_per_row * 1e9;
    const std::vector<Quartiles> ours = time_for(comm, start, time, contest.ours);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      fresh.push_back({contest.names[i], bytes, contest.method, contest.predicted[i], 0, ours[i], {}});
    }
    const auto against = [&](const std::string& who, const Contest::Sample& sample) {
      const std::vector<Quartiles> times = time_for(comm, start, time, sample);
      for (std::size_t i = 0; i < times.size(); ++i) fresh[i].rivals.emplace_back(who, times[i]);
      progress(static_cast<double>(fresh.front().rivals.size() + 1) /
               static_cast<double>(rivals.size() + contest.further.size() + 2));
    };
    progress(0.25);
    for (const Rival& rival : rivals) {
      if (const Contest::Sample sample = contest.against(rival)) against(rival.name, sample);
    }
    for (const auto& [who, sample] : contest.further) against(who, sample);
    const double clocks = start.uncertainty_by_now();
    for (BenchRow& row : fresh) {
      row.clocks = clocks;
      if (comm.rank() == 0 && options.row) options.row(row);
      rows.push_back(std::move(row));
    }
    ++done;
  }
  return rows;
}

}  // namespace chasqui::measure
