// SPDX-License-Identifier: MIT
#include "cli/time_threads.hpp"

#include <fmt/format.h>

#include <barrier>

#include "chasqui/run/measure.hpp"
#include "chasqui/threads/team.hpp"
#include "cli/progress.hpp"

namespace chasqui::cli {

Profile measure_threads(int n, double seconds) {
  Progress bar("measuring");
  run::MeasureOptions options;
  options.seconds = seconds;
  options.progress = [&](double share, const std::string&) { bar(share); };
  Profile profile = run::measure(
      [&](const std::function<void(run::Comm&)>& body) {
        threads::Team team(n);
        team.run(body);
      },
      options);
  profile.how = fmt::format("chasqui measure --threads {} --seconds {}", n, seconds);
  return profile;
}

std::vector<run::BenchRow> bench_threads(int n, std::shared_ptr<const Profile> profile, const run::BenchOptions& options) {
  threads::Options team_options;
  if (profile) team_options.profile = std::move(profile);
  threads::Team team(n, team_options);
  std::barrier standard(static_cast<std::ptrdiff_t>(n));
  std::vector<run::BenchRow> rows;
  team.run([&](run::Comm& comm) {
    const std::vector<run::Rival> rivals = {
        {"binomial", [&](const run::Call& call) { return run::binomial(comm, call); }},
        {"std::barrier", [&](const run::Call& call) {
           if (call.kind != Kind::barrier) return false;
           standard.arrive_and_wait();
           return true;
         }}};
    auto mine = run::bench(comm, rivals, options);
    if (comm.rank() == 0) rows = std::move(mine);
  });
  return rows;
}

}  // namespace chasqui::cli
