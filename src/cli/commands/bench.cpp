// SPDX-License-Identifier: MIT
// chasqui bench: every collective against its rivals on this machine.
#include "chasqui/measure/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/nearest.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/engine.hpp"
#include "measure/bench/rivals.hpp"

namespace chasqui::cli {
namespace {

/// Lines of times in what --out wrote, without the heading.
std::ptrdiff_t rows_of(const std::string& csv) {
  return csv.starts_with(measure::csv_heading()) ? std::count(csv.begin(), csv.end(), '\n') - 1 : 0;
}

/// Times of another run are nothing that a run may overwrite by the way.
void refuse_to_lose(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return;
  const auto rows = rows_of(read_file(path, "name another file"));
  if (rows > 0)
    throw Error("--out {}: has {} rows of another run: add --resume to go on with it, remove it, or name another file",
                path, rows);
}

class BenchCommand final : public Command {
 public:
  BenchCommand() : Command("bench", "time every collective against its rivals on this machine") {
    describe(
        "Times every collective from 8 B to 4 MiB, by Chasqui and by its rivals. Threads have a binomial tree, "
        "std::barrier and OpenMP as rivals. With --mpi, under mpirun, processes have the MPI library and a "
        "binomial tree. All ranks start together, a call ends when its last rank has ended, and the median "
        "counts.\n"
        "The column of a rival is its time divided by Chasqui's: above 1 Chasqui is faster. With --machine, \"!\" "
        "marks predictions that are off by more than 20 %.\n"
        "Three rows are more than one call, and follow their plans by messages: a sum of many operands, eight "
        "items broadcast together, and a stream of items (\"delay\" is how long one of them is under way). Their "
        "rivals are single calls (\"plain\" are Chasqui's own) and a chain from rank to rank.");
    ranks_.declare(*this, "threads (default: one a core, at least 2)", "mpirun -np 4 chasqui bench --mpi");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure`").file();
    option("--kinds", "LIST", &kinds_,
           fmt::format("only these, separated by commas: {}", fmt::join(measure::bench_kinds(), ", ")));
    option("--largest", "BYTES", &largest_, "largest size (default 4194304)");
    option("--seconds", "S", &seconds_, "time for each number in the table (default 0.3)");
    option("--out", "FILE", &out_, "medians and quartiles as CSV, row by row as they come").output();
    flag("--resume", resume_, "with --out: keep the rows that FILE has, and time only the others");
    option("--samples", "FILE", &samples_, "every single time as CSV").output();
    flag("--json", json_, "print as JSON");
    example("chasqui bench --threads 2 --largest 4096 --seconds 0.02", "a quick look");
  }

  int run(Output& out) override {
    check_seconds(seconds_);
    if (largest_ < 8 || largest_ > std::int64_t{1} << 32)
      throw Error("--largest {} is not in 8..{}", largest_, std::int64_t{1} << 32);
    measure::BenchOptions options;
    options.largest = static_cast<std::size_t>(largest_);
    options.seconds_per_row = seconds_;
    options.kinds = measure::kinds_from(kinds_, "--kinds", did_you_mean);
    const auto engine = ranks_.engine(*this, default_threads(), 1, 4096);
    const ProfilePtr profile = engine->profile(machine_);
    measure::BenchTable table(engine->rivals(), !measure::is_guess(*profile));
    Progress bar("bench", engine->has_terminal());
    options.progress = [&](double share) { bar(share); };
    if (resume_ && !out_) throw Error("--resume goes on with a file: name it with --out");
    const bool writes = out_ && *out_ != "-" && engine->speaks();
    const std::string known = writes && resume_ && std::filesystem::exists(*out_)
                                  ? read_file(*out_, "name the file that --out wrote before")
                                  : "";
    options.skip = [&](const std::string& name, std::size_t bytes) {
      return known.find(fmt::format("\n{},{},{},chasqui", name, bytes, engine->size())) != std::string::npos;
    };
    if (!known.empty() && !known.starts_with(measure::csv_heading()))
      throw Error("--out {}: is not what bench --out writes: name the file that --resume goes on with", *out_);
    if (writes && !resume_) refuse_to_lose(*out_);
    std::string kept = known.empty() ? measure::csv_heading() : known;
    if (writes) replace_file(*out_, kept);
    if (!json_) {
      if (engine->are_threads() && !measure::has_openmp())
        out.write("OpenMP is left out: this program was built without it\n");
      if (writes && !known.empty()) out.print("{}: {} rows are kept\n", *out_, rows_of(known));
      if (writes) out.print("rows go to {} as they come; --resume goes on where a run was stopped\n", *out_);
      out.write(measure::source_of(*profile, engine->are_threads()) + measure::legend(!measure::is_guess(*profile)));
    }
    options.row = [&](const measure::BenchRow& row) {
      if (!json_) out.write(table.add(row));
      out.flush();
      kept += measure::to_csv(row, engine->size());
      if (writes) replace_file(*out_, kept);
    };
    const std::vector<measure::BenchRow> rows = engine->bench(profile, options);
    if (!engine->speaks()) return 0;
    if (!json_ && writes && rows.empty()) out.print("nothing was left to time: {} has all rows\n", *out_);
    if (!json_) out.write(table.ways());
    double off = 0;
    for (const measure::BenchRow& row : rows) off = std::max(off, row.clocks);
    if (off > 0)
      out.error(fmt::format("clocks of the hosts were compared: times may be off by {:.1f} us at most\n", off / 1000));
    if (json_) out.write(measure::to_json(rows, engine->size()));
    if (out_ == "-") out.write(kept);
    if (samples_) write_file(*samples_, measure::to_samples(rows, engine->size()), out);
    return 0;
  }

 private:
  EngineArguments ranks_;
  std::optional<std::string> machine_;
  std::string kinds_;
  std::int64_t largest_ = 4 << 20;
  double seconds_ = 0.3;
  std::optional<std::string> out_, samples_;
  bool json_ = false, resume_ = false;
};

}  // namespace

CommandPtr make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace chasqui::cli
