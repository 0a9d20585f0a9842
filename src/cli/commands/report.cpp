// SPDX-License-Identifier: MIT
// chasqui report: this machine, measured, and every collective on it, as one HTML page.

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"
#include "chasqui/measure/measure.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/engine.hpp"
#include "cli/plans/report_page.hpp"

namespace chasqui::cli {
namespace {

class ReportCommand final : public Command {
 public:
  ReportCommand() : Command("report", "measure this machine and write a page about every collective on it") {
    describe(
        "Writes one HTML file about this machine. It has the measured parameters with their intervals. For every "
        "collective it has the plan with its tree and activity chart, what is optimal and why, and predicted and "
        "measured times against rivals: a binomial tree and, with --add, the MPI library. The file has no scripts "
        "and needs no other file.\n"
        "With both --machine and --add nothing is measured here: a page about another machine.");
    option("--out", "FILE", &out_, "where the page goes (default report.html); - is the standard output").output();
    option("--threads", "N", &threads_, "threads to measure and time (default: one a core, at least 2)");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure`, instead of measuring now").file();
    option("--add", "FILE", &more_, "raw data of another run, written by `chasqui bench --out`; may be repeated")
        .file();
    flag("--unmeasured", unmeasured_, "measure and time nothing: plans for a built-in guess of a machine");
    option("--processors", "N", &drawn_, "processors of the drawn plans (default 16)");
    option("--seconds", "S", &seconds_, "how long to measure, and how long to time (default 3)");
    option("--largest", "BYTES", &largest_, "largest size timed (default 4194304)");
    example("chasqui report --out report.html", "this machine's threads");
    example("chasqui report --unmeasured --out plans.html", "at once, without timing anything");
    example("chasqui report --add openmpi.csv", "with what `mpirun -np 4 chasqui bench --mpi --out openmpi.csv` wrote");
  }

  int run(Output& out) override {
    const std::int64_t n = threads_.value_or(default_threads());
    if (n < 2 || n > 4096) throw Error("--threads {} is not in 2..4096", n);
    if (drawn_ < 2 || drawn_ > 64)
      throw Error("--processors {} is not in 2..64: larger drawings are unreadable", drawn_);
    check_seconds(seconds_);
    refuse_launched(*this, "leave the launcher out, and --add what `mpirun chasqui bench --mpi --out FILE` wrote");
    const auto engine = thread_engine(static_cast<int>(n));
    ReportInput input;
    input.drawn = drawn_;
    for (const std::string& file : more_) input.benches.push_back(read_bench_data(file));
    if (unmeasured_ && machine_) throw Error("--unmeasured and --machine: give one of them");
    input.profile = machine_      ? read_profile(*machine_)
                    : unmeasured_ ? default_profile()
                                  : measure(*engine, seconds_).profile;
    input.guessed = unmeasured_;
    if (input.profile.levels.empty()) throw Error("{}: describes no level: measure again", *machine_);
    if (!unmeasured_ && (!machine_ || more_.empty())) {
      input.benches.insert(input.benches.begin(), timed(*engine, input.profile));
    }
    write_file(out_, report_page(input), out);
    if (out_ != "-") out.print("wrote {}\n", out_);
    return 0;
  }

 private:
  BenchData timed(const Engine& engine, const Profile& profile) const {
    Progress bar("timing");
    measure::BenchOptions options;
    options.largest = static_cast<std::size_t>(std::max<std::int64_t>(8, largest_));
    options.seconds_per_row = seconds_ / static_cast<double>(measure::bench_plan(options).size());
    options.progress = [&](double share) { bar(share); };
    const std::vector<measure::BenchRow> rows = engine.bench(std::make_shared<const Profile>(profile), options);
    std::string text = measure::csv_heading();
    for (const measure::BenchRow& row : rows) text += measure::to_csv(row, engine.size());
    return bench_data_from_csv(text, "threads", "threads");
  }

  std::string out_ = "report.html";
  std::optional<std::int64_t> threads_;
  std::optional<std::string> machine_;
  std::vector<std::string> more_;
  bool unmeasured_ = false;
  std::int64_t drawn_ = 16;
  double seconds_ = 3;
  std::int64_t largest_ = 4 << 20;
};

}  // namespace

CommandPtr make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace chasqui::cli
