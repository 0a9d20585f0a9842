// SPDX-License-Identifier: MIT
// chasqui-mpi-<library>: the commands that must be linked with an MPI library.
//   mpirun -np 4 chasqui-mpi-openmpi measure [--seconds S] [--out FILE] [--again FILE]
//   mpirun -np 4 chasqui-mpi-openmpi bench [--machine FILE] [--kinds a,b] [--largest N] [--seconds S]
//     [--out FILE] [--samples FILE]
//   mpirun -np 4 chasqui-mpi-openmpi record --collective NAME [--bytes N] [--method M] [--repeat N] [--machine FILE] [--out FILE]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"
#include "chasqui/measure/measure.hpp"
#include "chasqui/mpi/comm.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/alike.hpp"
#include "cli/launch/launcher.hpp"
#include "cli/launch/mpi_record.hpp"
#include "measure/compare_profiles.hpp"
#include "mpi/native.hpp"

namespace chasqui::cli {
namespace {

std::map<std::string, std::string> options_of(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 2; i < argc; i += 2) {
    if (i + 1 >= argc) throw Error("{} needs a value", argv[i]);
    options[argv[i]] = argv[i + 1];
  }
  return options;
}

void save(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw Error("{}: cannot be written", path);
}

/// 1 when it was measured again and differs.
int measure_command(std::map<std::string, std::string> options) {
  Profile before;
  run::MeasureOptions how;
  how.seconds = options.contains("--seconds") ? std::stod(options["--seconds"]) : 4;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  alike([&] {
    if (size < 2) throw Error("measuring needs two ranks or more: mpirun -np 2 chasqui measure --mpi …");
    if (!options.contains("--again")) return;
    before = profile_for_all(options["--again"]);
    run::check_comparable(before, size, false);
  });
  Progress bar("measuring", rank == 0 && launcher_has_terminal());
  how.progress = [&](double share, const std::string&) { bar(share); };
  mpi::Options plain;
  plain.profile =
      std::make_shared<const Profile>(default_profile());  // what an earlier profile chose is not what counts
  run::Measurement measured = run::measure(
      [&](const std::function<void(run::Comm&)>& body) {
        const auto comm = mpi::make_comm(MPI_COMM_WORLD, plain);
        body(*comm);
      },
      how);
  wipe_progress();
  if (rank != 0) return 0;
  Profile& profile = measured.profile;
  profile.how =
      fmt::format("mpirun -np {} chasqui measure --mpi --seconds {} ({})", size, how.seconds, CHASQUI_MPI_FLAVOUR);
  std::fputs(run::to_text(measured).c_str(), stderr);
  if (!options.contains("--again"))
    std::fputs(run::to_table(profile).c_str(), options.contains("--out") ? stdout : stderr);
  if (options.contains("--out")) write_profile(options["--out"], profile);
  else if (!options.contains("--again")) std::fputs(to_json(profile).c_str(), stdout);
  if (!options.contains("--again")) return 0;
  const auto comparisons = run::compare(before, profile);
  std::fputs(run::to_text(comparisons).c_str(), stdout);
  return run::all_agree(comparisons) ? 0 : 1;
}

void bench_command(std::map<std::string, std::string> options) {
  mpi::Options how;
  if (options.contains("--machine"))
    how.profile = std::make_shared<const Profile>(profile_for_all(options["--machine"]));
  const auto comm = alike([&] { return mpi::make_comm(MPI_COMM_WORLD, how); });  // or CHASQUI_PROFILE has an error
  run::BenchOptions bench;
  if (options.contains("--largest")) bench.largest = std::stoull(options["--largest"]);
  if (options.contains("--seconds")) bench.seconds_per_row = std::stod(options["--seconds"]);
  bench.kinds = alike([&] { return run::kinds_from(options["--kinds"], "--kinds"); });
  run::BenchTable table({"native", "binomial"}, !run::is_guess(comm->profile()));
  const bool json = options.contains("--json");
  Progress bar("bench", comm->rank() == 0 && launcher_has_terminal());
  bench.progress = [&](double share) { bar(share); };
  if (comm->rank() == 0 && !json) std::fputs(run::source_of(comm->profile()).c_str(), stdout);
  bench.row = [&](const run::BenchRow& row) {
    wipe_progress();
    if (!json) std::fputs(table.add(row).c_str(), stdout);
    std::fflush(stdout);
  };
  const std::vector<run::Rival> rivals = {
      {"native", [](const run::Call& call) { return mpi::run_native_doubles(MPI_COMM_WORLD, call); }},
      {"binomial", [&](const run::Call& call) { return run::binomial(*comm, call); }}};
  const auto rows = run::bench(*comm, rivals, bench);
  wipe_progress();
  if (comm->rank() == 0 && !rows.empty() && rows.front().clocks > 0) {
    double off = 0;
    for (const auto& row : rows) off = std::max(off, row.clocks);
    std::fprintf(stderr, "clocks of the hosts were compared: times may be off by %.1f us at most\n", off / 1000);
  }
  if (comm->rank() == 0 && json) std::fputs(run::to_json(rows, comm->size()).c_str(), stdout);
  if (comm->rank() != 0) return;
  if (options.contains("--out")) save(options["--out"], run::to_csv(rows, comm->size()));
  if (options.contains("--samples")) save(options["--samples"], run::to_samples(rows, comm->size()));
}

}  // namespace
}  // namespace chasqui::cli

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  try {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "measure") {
      status = chasqui::cli::measure_command(chasqui::cli::options_of(argc, argv));
    } else if (command == "bench") {
      chasqui::cli::bench_command(chasqui::cli::options_of(argc, argv));
      status = 0;
    } else if (command == "record") {
      chasqui::cli::record_mpi(chasqui::cli::options_of(argc, argv));
      status = 0;
    } else {
      std::fprintf(stderr, "chasqui-mpi: measure, bench or record, started by mpirun\n");
    }
  } catch (const chasqui::cli::Alike& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "chasqui-mpi: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chasqui-mpi: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return status;
}
