// SPDX-License-Identifier: MIT
// chasqui measure: the parameters of this machine, as a profile file.
#include "chasqui/measure/measure.hpp"

#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"
#include "cli/launch/engine.hpp"
#include "measure/compare_profiles.hpp"

namespace chasqui::cli {
namespace {

class MeasureCommand final : public Command {
 public:
  MeasureCommand() : Command("measure", "measure this machine: latency, overhead, gap and more, with intervals") {
    describe(
        "Measures the latency L, the overhead o, the gap g and the time per byte G, and how long each collective "
        "takes. Prints a table, and writes a profile (JSON) for other commands and for programs. Measures "
        "threads; with --mpi, under mpirun, the processes of that run.\n"
        "A busy machine gives wider intervals, not a longer measurement. --again measures once more and compares "
        "with an older profile: exit status 0 if all intervals overlap, 1 if not.");
    ranks_.declare(*this, "threads (default: one a core, at least 2)", "mpirun -np 4 chasqui measure --mpi");
    option("--seconds", "S", &seconds_, "how long to measure (default 4)");
    option("--out", "FILE", &out_, "where the profile goes (default: the standard output, unless that is a terminal)")
        .output();
    option("--again", "FILE", &again_, "compare with this profile of the same machine").file();
    example("chasqui measure --threads 2 --seconds 1 --out machine.json", "a quick profile");
    example("chasqui measure --again machine.json", "does the machine still look the same?");
  }

  int run(Output& out) override {
    check_seconds(seconds_);
    std::optional<Profile> before;
    if (again_ && !ranks_.mpi()) before = read_profile(*again_);  // says how many threads, too
    const std::int64_t known = before ? before->levels.front().ranks : 0;
    const auto engine = ranks_.engine(*this, known > 0 ? known : default_threads(), 2, 4096);
    if (engine->size() < 2) throw Error("measuring needs two ranks or more: mpirun -np 2 chasqui measure --mpi …");
    if (again_ && !before) before = *engine->profile(again_);
    if (before) measure::check_comparable(*before, engine->size(), engine->are_threads());
    const measure::Measurement measured = cli::measure(*engine, seconds_);
    if (!engine->speaks()) return 0;
    out.error(measure::to_text(measured));  // standard output is the profile's
    const Profile& profile = measured.profile;
    if (!before) {
      const bool for_people = out_ || out.terminal();  // a pipe gets the profile itself
      for_people ? out.write(measure::to_table(profile)) : out.error(measure::to_table(profile));
      if (!for_people) out.write(to_json(profile));
      if (for_people && !out_) out.write("keep it with --out machine.json: plan, explain, bench and run read it\n");
    }
    if (out_) write_profile(*out_, profile);
    if (!before) return 0;
    const auto comparisons = measure::compare(*before, profile);
    out.write(measure::to_text(comparisons));
    return measure::all_agree(comparisons) ? 0 : 1;
  }

 private:
  EngineArguments ranks_;
  double seconds_ = 4;
  std::optional<std::string> out_;
  std::optional<std::string> again_;
};

}  // namespace

CommandPtr make_measure_command() { return std::make_unique<MeasureCommand>(); }

}  // namespace chasqui::cli
