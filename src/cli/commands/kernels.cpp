// SPDX-License-Identifier: MIT
// chasqui kernels: makes and checks the table of kernels that the library ships.
#include "chasqui/plan/kernels.hpp"

#include <optional>

#include "chasqui/base/error.hpp"
#include "chasqui/forge/build.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"

namespace chasqui::cli {
namespace {

class KernelsCommand : public Command {
 public:
  KernelsCommand() : Command("kernels", "search for more kernels, the repeating parts of broadcasts of many items") {
    describe(
        "A broadcast of many items repeats one small table, its kernel (docs/items.md). Chasqui brings many "
        "kernels with it; this command makes more.\n"
        "build searches a kernel for every P and L up to the limits and writes a line for each. --resume goes on "
        "with an interrupted run. The same command always makes the same table. It says what it has not found; "
        "that proves nothing.\n"
        "bases does the same for the special kernels that larger ones are merged from (L = 3 and more; --max-P is "
        "not used). coverage searches nothing: it says for what share of all P merging the shipped bases gives a "
        "kernel, level by level.");
    positional("ACTION", &action_, "what to do").required().choices({"build", "bases", "coverage"});
    option("--out", "FILE", &out_, "build, bases: the table").file();
    option("--max-P", "N", &max_P_, "up to so many processors; default 128, coverage: 2000");
    option("--max-L", "N", &max_L_, "up to this latency; default 16");
    option("--more-levels", "N", &more_levels_, "bases: levels above the L lowest; default 0");
    option("--attempts", "N", &options_.attempts, "trees tried for each P and L");
    option("--threads", "N", &threads_, "threads");
    flag("--resume", options_.resume, "keep the lines that are there");
    example("chasqui kernels build --out kernels.txt --max-P 128 --max-L 16 --resume", "the table that is shipped");
    example("chasqui kernels coverage --max-L 8 --max-P 20000", "what merging reaches");
  }

  int run(Output& out) override {
    constexpr std::int64_t kMost = 4096;
    if (action_ == "coverage") return cover(out);
    if (!out_) throw Error("kernels {}: say where the table goes with --out FILE", action_);
    options_.path = *out_;
    const std::int64_t max_P = max_P_.value_or(128);
    if (max_P < 2 || max_P > kMost || max_L_ < 1 || max_L_ > kMost || threads_ < 1 || threads_ > kMost) {
      throw Error("kernels build: --max-P, --max-L and --threads must lie in 2..{}, 1..{} and 1..{}", kMost, kMost,
                  kMost);
    }
    options_.bases = action_ == "bases";
    options_.max_P = static_cast<int>(max_P);
    if (more_levels_ < 0 || more_levels_ > 16) throw Error("kernels bases: --more-levels must lie in 0..16");
    options_.more_levels = static_cast<int>(more_levels_);
    options_.max_L = static_cast<int>(max_L_);
    options_.threads = static_cast<int>(threads_);
    Progress bar("searching kernels");
    const double all = static_cast<double>((max_P - 2) * max_L_);
    double done = 0;
    const auto result = forge::build_table(options_, [&](int P, int L, bool found) {
      bar(++done / all);
      if (!found) out.print("P={} L={}: not found\n", P, L);
    });
    out.print("{}: {} kernels were there, {} found, {} not found\n", options_.path, result.present, result.found,
              result.missing);
    return result.missing == 0 ? 0 : 1;
  }

 private:
  int cover(Output& out) const {
    constexpr std::int64_t kMost = 200'000;
    const std::int64_t most = max_P_.value_or(2000) - 1;
    if (most < 2 || most >= kMost) throw Error("kernels coverage: --max-P must lie in 3..{}", kMost);
    out.print("{:>3} {:>6} {:>17} {:>7} {:>9} {:>6}\n", "L", "level", "P", "bases", "reached", "share");
    for (std::int64_t L = 3; L <= max_L_; ++L) {
      for (const plan::MergedLevel& row : plan::merged_coverage(L, most)) {
        const std::int64_t all = row.last - row.first + 1;
        out.print("{:>3} {:>6} {:>17} {:>7} {:>9} {:>4} %\n", L, row.level,
                  fmt::format("{}..{}", row.first + 1, row.last + 1), row.bases, row.reached, 100 * row.reached / all);
      }
    }
    return 0;
  }

  std::string action_;
  std::optional<std::string> out_;
  forge::BuildOptions options_;
  std::optional<std::int64_t> max_P_;
  std::int64_t max_L_ = 16;
  std::int64_t more_levels_ = 0;
  std::int64_t threads_ = 1;
};

}  // namespace

CommandPtr make_kernels_command() { return std::make_unique<KernelsCommand>(); }

}  // namespace chasqui::cli
