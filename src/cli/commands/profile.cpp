// SPDX-License-Identifier: MIT
// chasqui profile: look at a profile, and add what other tools have measured.
#include "chasqui/model/profile.hpp"

#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"
#include "measure/compare_profiles.hpp"
#include "measure/foreign_tables.hpp"

namespace chasqui::cli {
namespace {

class ProfileCommand final : public Command {
 public:
  ProfileCommand() : Command("profile", "show a profile of a machine, and add what other tools have measured") {
    describe(
        "Prints what `chasqui measure` found out about a machine. --add reads what other tools have printed. "
        "Tables of the OSU and Intel MPI benchmarks become the times of the MPI library. The LogGP table of "
        "Netgauge becomes the parameters of the network. Without FILE a new profile is made of them.");
    positional("FILE", &file_, "profile; - is the standard input").file();
    option("--add", "FILE", &tables_, "output of another tool; may be repeated").file();
    option("--ranks", "N", &ranks_, "how many processes an OSU benchmark ran on; default: as many as the profile");
    option("--out", "FILE", &out_, "write the profile").file();
    example("chasqui profile machine.json", "its parameters");
    example("chasqui profile machine.json --add osu_bcast.txt --add imb.txt --out more.json", "with more points");
    example("chasqui profile --add loggp.out --out netgauge.json", "a profile from Netgauge alone");
  }

  int run(Output& out) override {
    if (!file_ && tables_.empty()) throw Error("give a profile, or --add with a table of another tool");
    Profile profile;
    if (file_) {
      profile = profile_from_json(text_of(*file_, fmt::format("`chasqui measure --out {}` writes a profile", *file_)),
                                  place_of(*file_));
    } else {
      profile = default_profile();
      for (Level& level : profile.levels) level.assumed = true;
      profile.how = "imported";
    }
    std::string said;
    for (const std::string& path : tables_) {
      const std::string text = read_file(path, "give the output of IMB, OSU or Netgauge");
      said += measure::add_tables(profile, measure::foreign_tables(text, path), path, ranks_);
    }
    out.write(said);
    out.write(measure::to_table(profile));
    if (out_) write_profile(*out_, profile);
    return 0;
  }

 private:
  std::optional<std::string> file_;
  std::vector<std::string> tables_;
  std::int64_t ranks_ = 0;
  std::optional<std::string> out_;
};

}  // namespace

CommandPtr make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace chasqui::cli
