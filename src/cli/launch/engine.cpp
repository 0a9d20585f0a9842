// SPDX-License-Identifier: MIT
#include "cli/launch/engine.hpp"

#include <fmt/format.h>

#include <barrier>
#include <map>

#include "chasqui/threads/team.hpp"
#include "cli/frame/progress.hpp"
#include "measure/bench/openmp.hpp"

namespace chasqui::cli {

run::Measurement measure_threads(int n, double seconds) {
  Progress bar("measuring");
  run::MeasureOptions options;
  options.seconds = seconds;
  options.progress = [&](double share, const std::string&) { bar(share); };
  run::Measurement measured = run::measure(
      [&](const std::function<void(run::Comm&)>& body) {
        threads::Team team(n);
        team.run(body);
      },
      options);
  measured.profile.how = fmt::format("chasqui measure --threads {} --seconds {}", n, seconds);
  return measured;
}

std::vector<std::string> thread_rivals() {
  std::vector<std::string> names = {"binomial", "std::barrier"};
  if (has_openmp()) names.emplace_back("OpenMP");
  return names;
}

std::vector<run::BenchRow> bench_threads(int n, std::shared_ptr<const Profile> profile,
                                         const run::BenchOptions& options) {
  threads::Options team_options;
  if (profile) team_options.profile = std::move(profile);
  // OpenMP has threads of its own: it runs by itself, before the team is there.
  std::map<std::pair<std::string, std::size_t>, run::Quartiles> openmp;
  for (const auto& [name, bytes] : run::bench_plan(options)) {
    if (const auto time = time_openmp(name, bytes, n, options.seconds_per_row)) openmp[{name, bytes}] = *time;
  }
  std::vector<run::BenchRow> rows;
  run::BenchOptions with = options;
  with.row = [&](const run::BenchRow& row) {
    rows.push_back(row);
    if (const auto found = openmp.find({row.name, row.bytes}); found != openmp.end()) {
      rows.back().rivals.emplace_back("OpenMP", found->second);
    }
    if (options.row) options.row(rows.back());
  };
  threads::Team team(n, team_options);
  std::barrier standard(static_cast<std::ptrdiff_t>(n));
  team.run([&](run::Comm& comm) {
    const std::vector<run::Rival> rivals = {
        {"binomial", [&](const run::Call& call) { return run::binomial(comm, call); }},
        {"std::barrier", [&](const run::Call& call) {
           if (call.kind != Kind::barrier) return false;
           standard.arrive_and_wait();
           return true;
         }}};
    run::bench(comm, rivals, with);
  });
  return rows;
}

}  // namespace chasqui::cli
