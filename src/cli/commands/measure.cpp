// SPDX-License-Identifier: MIT
// chasqui measure: the parameters of this machine, as a profile file.
#include "chasqui/measure/measure.hpp"

#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"
#include "cli/launch/engine.hpp"
#include "cli/launch/mpi_twin.hpp"
#include "measure/compare_profiles.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::cli {
namespace {

class MeasureCommand final : public Command {
 public:
  MeasureCommand()
      : Command("measure", "measure this machine: L, o, g, G, B and the cost of publishing, with intervals") {
    describe(
        "Threads by default. With --mpi, started by mpirun, the processes of that run. Prints a table; the profile itself is for "
        "programs. Takes the stated seconds; on a "
        "busy machine less is measured, the intervals widen, and it is said. With --again the machine is measured anew "
        "and compared: exit status 0 if all intervals meet, 1 if not.");
    option("--threads", "N", &threads_, "threads (default: one a core, at least 2)");
    flag("--mpi", mpi_, "measure the MPI run this is part of: mpirun -np 4 chasqui measure --mpi");
    option("--seconds", "S", &seconds_, "how long to measure (default 4)");
    option("--out", "FILE", &out_, "where the profile goes (default: standard output)").output();
    option("--again", "FILE", &again_, "compare with this profile of the same machine").file();
    example("chasqui measure --again machine.json", "does the machine still look the same?");
    example("chasqui measure --threads 2 --seconds 1 --out machine.json", "a quick profile");
  }

  int run(Output& out) override {
    if (!(seconds_ > 0) || seconds_ > 3600) throw Error("--seconds {} is not more than 0 and at most 3600", seconds_);
    if (mpi_ && threads_)
      throw Error("--threads {} and --mpi: how many processes there are is the launcher's: mpirun -np {}", *threads_,
                  *threads_);
    if (mpi_) {
      std::vector<std::string> words = {"--seconds", fmt::format("{}", seconds_)};
      if (out_) words.insert(words.end(), {"--out", *out_});
      if (again_) words.insert(words.end(), {"--again", *again_});
      become_mpi_twin("measure", words);
    }
    std::optional<Profile> before;
    if (again_) before = read_profile(*again_);
    const std::int64_t known = before && before->levels.front().ranks > 0 ? before->levels.front().ranks : 0;
    const std::int64_t n = threads_.value_or(known > 0 ? known : std::max(2, run::available_cores()));
    if (n < 2 || n > 4096) throw Error("--threads {} is not in 2..4096", n);
    if (before) run::check_comparable(*before, n, true);
    const run::Measurement measured = measure_threads(static_cast<int>(n), seconds_);
    fmt::print(stderr, "{}", run::to_text(measured));  // standard output is the profile's
    const Profile& profile = measured.profile;
    if (!before) {
      if (out_) out.write(run::to_table(profile));
      else fmt::print(stderr, "{}", run::to_table(profile));
    }
    if (out_) write_profile(*out_, profile);
    else if (!before) out.write(to_json(profile));
    if (!before) return 0;
    const auto comparisons = run::compare(*before, profile);
    out.write(run::to_text(comparisons));
    return run::all_agree(comparisons) ? 0 : 1;
  }

 private:
  std::optional<std::int64_t> threads_;
  bool mpi_ = false;
  double seconds_ = 4;
  std::optional<std::string> out_;
  std::optional<std::string> again_;
};

}  // namespace

CommandPtr make_measure_command() { return std::make_unique<MeasureCommand>(); }

}  // namespace chasqui::cli
