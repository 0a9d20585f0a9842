// SPDX-License-Identifier: MIT
// chasqui bench: every collective against its rivals on this machine.
#include "chasqui/measure/bench.hpp"

#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/engine.hpp"
#include "cli/launch/mpi_twin.hpp"
#include "measure/bench/openmp.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::cli {
namespace {

class BenchCommand final : public Command {
 public:
  BenchCommand() : Command("bench", "compare every collective with its rivals on this machine") {
    describe(
        "Sizes 8 B to 4 MiB. Threads: against a binomial tree, std::barrier and OpenMP's barrier and reduction. With "
        "--mpi, started by mpirun: against the MPI library's own and a binomial tree. Common start, latest finish, "
        "median; the columns of rivals hold rival / Chasqui. With --machine \"!\" marks predictions off by more than 20 %. Sums of placed "
        "operands, eight items and streams run along their plans by messages, against single calls (\"plain\" are Chasqui's own) "
        "and a chain; \"delay\" is how long an item of a stream is under way.");
    option("--threads", "N", &threads_, "threads (default: one a core, at least 2)");
    flag("--mpi", mpi_, "bench the MPI run this is part of: mpirun -np 4 chasqui bench --mpi");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure`").file();
    option(
        "--kinds", "LIST", &kinds_,
        "only these, separated by commas: barrier, broadcast, reduce, allreduce, allgather, gather, scatter, scan, sum, items, stream");
    option("--largest", "BYTES", &largest_, "largest size (default 4194304)");
    option("--seconds", "S", &seconds_, "time for one row and contestant (default 0.3)");
    option("--out", "FILE", &out_, "medians and quartiles as CSV").output();
    option("--samples", "FILE", &samples_, "every single time as CSV").output();
    flag("--json", json_, "print as JSON");
    example("chasqui bench --threads 2 --largest 4096 --seconds 0.02", "a quick look");
  }

  int run(Output& out) override {
    if (!(seconds_ > 0) || seconds_ > 3600) throw Error("--seconds {} is not more than 0 and at most 3600", seconds_);
    if (largest_ < 8 || largest_ > std::int64_t{1} << 32)
      throw Error("--largest {} is not in 8..{}", largest_, std::int64_t{1} << 32);
    run::kinds_from(kinds_, "--kinds");
    if (mpi_ && threads_)
      throw Error("--threads {} and --mpi: how many processes there are is the launcher's: mpirun -np {}", *threads_,
                  *threads_);
    if (mpi_) become_mpi_twin("bench", words());
    const std::int64_t n = threads_.value_or(std::max(2, run::available_cores()));
    if (n < 1 || n > 4096) throw Error("--threads {} is not in 1..4096", n);
    run::BenchOptions options;
    options.largest = static_cast<std::size_t>(largest_);
    options.seconds_per_row = seconds_;
    options.kinds = run::kinds_from(kinds_, "--kinds");
    const auto profile = std::make_shared<const Profile>(machine_ ? read_profile(*machine_) : default_profile());
    run::BenchTable table(thread_rivals(), !run::is_guess(*profile));
    Progress bar("bench");
    options.progress = [&](double share) { bar(share); };
    if (!json_) {
      if (!has_openmp()) out.write("OpenMP is left out: this program was built without it\n");
      out.write(run::source_of(*profile));
      options.row = [&](const run::BenchRow& row) { out.write(table.add(row)); };
    }
    const std::vector<run::BenchRow> rows = bench_threads(static_cast<int>(n), profile, options);
    if (json_) out.write(run::to_json(rows, static_cast<int>(n)));
    if (out_) write_file(*out_, run::to_csv(rows, static_cast<int>(n)), out);
    if (samples_) write_file(*samples_, run::to_samples(rows, static_cast<int>(n)), out);
    return 0;
  }

 private:
  std::vector<std::string> words() const {
    std::vector<std::string> list = {"--largest", std::to_string(largest_), "--seconds", fmt::format("{}", seconds_)};
    if (!kinds_.empty()) list.insert(list.end(), {"--kinds", kinds_});
    if (machine_) list.insert(list.end(), {"--machine", *machine_});
    if (out_) list.insert(list.end(), {"--out", *out_});
    if (samples_) list.insert(list.end(), {"--samples", *samples_});
    if (json_) list.insert(list.end(), {"--json", "yes"});
    return list;
  }

  std::optional<std::int64_t> threads_;
  bool mpi_ = false;
  std::optional<std::string> machine_;
  std::string kinds_;
  std::int64_t largest_ = 4 << 20;
  double seconds_ = 0.3;
  std::optional<std::string> out_, samples_;
  bool json_ = false;
};

}  // namespace

CommandPtr make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace chasqui::cli
