// SPDX-License-Identifier: MIT
// Where the launcher stands in a command, and how variables get from there to the ranks.
#include "cli/launch/launchers.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "cli/launch/preloaded.hpp"

namespace chasqui::cli {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string text_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Programs of these names in a folder that is all of PATH, others where we are; all is put back.
class LaunchersTest : public testing::Test {
 protected:
  LaunchersTest() {
    folder_ = testing::TempDir() + "launchers";
    const std::string here = folder_ + "/here";
    std::filesystem::create_directories(here);
    for (const char* name :
         {"env", "timeout", "strace", "numactl", "salloc", "nice", "app", "make", "script", "here/60"}) {
      std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
      std::filesystem::permissions(folder_ + "/" + name, std::filesystem::perms::owner_all);
    }
    std::ofstream(here + "/notes") << "not executable\n";
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(here);
    path_ = std::getenv("PATH");
    setenv("PATH", folder_.c_str(), 1);
    for (const char* name : kOurs) unsetenv(name);
  }
  ~LaunchersTest() override {
    std::filesystem::current_path(before_);
    setenv("PATH", path_.c_str(), 1);
    for (const char* name : kOurs) unsetenv(name);
    std::filesystem::remove_all(folder_);
  }

  static std::string launcher_in(const std::string& text) {
    const Launching command = launching(words_of(text));
    return command.launcher != nullptr ? command.words[command.at] : "";
  }
  /// With A=1 and B=2,3; what is set here is said in parentheses.
  static std::string handed_on(const std::string& text, const std::string& flavour = "openmpi") {
    const auto words = with_variables(launching(words_of(text)), flavour, {{"A", "1"}, {"B", "2,3"}});
    const char *const a = std::getenv("A"), *const b = std::getenv("B");
    std::string said = text_of(words);
    if (a != nullptr && b != nullptr) said += std::string(" (A=") + a + " B=" + b + ")";
    return said;
  }

  static constexpr const char* kOurs[] = {"A", "B", "SLURM_EXPORT_ENV", "SRUN_EXPORT_ENV"};
  std::string folder_, path_;
  std::filesystem::path before_;
};

TEST_F(LaunchersTest, AreFoundByTheirNames) {
  for (const char* name : {"mpirun", "mpirun.openmpi", "/opt/mpi/bin/mpiexec", "mpiexec-5.0", "mpiexec.hydra",
                           "orterun", "prterun", "prun", "mpirun_rsh", "srun", "flux", "aprun", "jsrun", "ibrun"}) {
    EXPECT_EQ(launcher_in(std::string(name) + " -n 2 app"), name);
  }
  for (const char* name : {"app", "make", "mpirunner", "srunner", "my-mpirun"})
    EXPECT_EQ(launcher_in(std::string(name) + " mpirun app"), "") << name;
}

TEST_F(LaunchersTest, AreFoundBehindCommandsThatStartTheRestOfTheirWords) {
  for (const char* before : {"env A=1", "timeout 60", "timeout -k 5 60", "numactl -C 0-3", "nice -n 5 env -u X A=1",
                             "salloc -n 4", "env A=1 timeout 60 nice", "strace -o ./notes"}) {
    EXPECT_EQ(launcher_in(std::string(before) + " mpirun -n 2 app"), "mpirun") << before;
  }
  EXPECT_EQ(launcher_in("env A=1 script mpirun -n 2 app"), "") << "these are the script's own words";
  EXPECT_EQ(launcher_in("env RUN=/opt/mpirun script app"), "");
  EXPECT_EQ(launcher_in("env A=1 app"), "");
  EXPECT_EQ(launcher_in("timeout 60 nowhere"), "");
  EXPECT_EQ(launcher_in("env"), "");
  EXPECT_EQ(launching(words_of("timeout 60 app x")).at, 2u);
}

TEST_F(LaunchersTest, OfOpenMpiAreToldForEachPart) {
  EXPECT_EQ(handed_on("mpirun -n 1 app : -n 2 app"), "mpirun -x A=1 -x B=2,3 -n 1 app : -x A=1 -x B=2,3 -n 2 app");
  EXPECT_EQ(handed_on("env C=: mpirun app"), "env C=: mpirun -x A=1 -x B=2,3 app");
  EXPECT_EQ(handed_on("prterun app", "mpich"), "prterun -x A=1 -x B=2,3 app");
}

TEST_F(LaunchersTest, OfMpichAreToldForAllParts) {
  EXPECT_EQ(handed_on("mpirun -n 1 app : -n 2 app", "mpich"), "mpirun -genv A 1 -genv B 2,3 -n 1 app : -n 2 app");
  EXPECT_EQ(handed_on("mpiexec.hydra app"), "mpiexec.hydra -genv A 1 -genv B 2,3 app");
}

TEST_F(LaunchersTest, OfMvapichAreToldToExport) {
  EXPECT_EQ(handed_on("mpirun_rsh -np 2 a b app", "mpich"), "mpirun_rsh -export -np 2 a b app (A=1 B=2,3)");
}

TEST_F(LaunchersTest, ThatHandOnTheirEnvironmentAreLeftAlone) {
  for (const char* text : {"flux run -n 2 app", "aprun -n 2 app", "jsrun -n 2 app", "ibrun app", "srun -n 2 app",
                           "make run", "script mpirun : app"})
    EXPECT_EQ(handed_on(text), std::string(text) + " (A=1 B=2,3)");
}

TEST_F(LaunchersTest, OfSlurmExportOurVariablesToo) {
  EXPECT_EQ(handed_on("srun --export=ALL,C=1 app --export=C"), "srun --export=ALL,C=1 app --export=C (A=1 B=2,3)");
  EXPECT_EQ(handed_on("srun -n 2 --export=PATH,C=1 app"), "srun -n 2 --export=PATH,C=1,A,B app (A=1 B=2,3)");
  EXPECT_EQ(handed_on("srun --export PATH app"), "srun --export PATH,A,B app (A=1 B=2,3)");
  EXPECT_EQ(handed_on("srun -n 2 app --export=C"), "srun -n 2 app --export=C (A=1 B=2,3)")
      << "this is the program's own word";
  EXPECT_EQ(handed_on("srun -J script --export=PATH app --export=C"),
            "srun -J script --export=PATH,A,B app --export=C (A=1 B=2,3)")
      << "a job may be called as a program is";
  EXPECT_THROW(handed_on("srun --export=NONE app"), Error);
  setenv("SLURM_EXPORT_ENV", "NONE", 1);
  EXPECT_THROW(handed_on("srun app"), Error);
  EXPECT_EQ(handed_on("srun --export=ALL app"), "srun --export=ALL app (A=1 B=2,3)") << "an option counts more";
  setenv("SRUN_EXPORT_ENV", "PATH", 1);
  handed_on("srun app");
  EXPECT_STREQ(std::getenv("SRUN_EXPORT_ENV"), "PATH,A,B");
}

TEST_F(LaunchersTest, ThatReturnBeforeTheProgramRunsAreRefused) {
  for (const char* name : {"sbatch", "qsub", "bsub"}) EXPECT_THROW(launching({name, "job.sh"}), Error) << name;
}

/// The words with ours added, and what all ranks get.
std::string preloaded_by(const std::string& text, const std::string& first = "") {
  Launching command = launching(words_of(text));
  const Preload ours{first, "ours"};
  const std::string list = ours.behind(preloaded(command));
  add_to_lists(command, ours);
  return text_of(command.words) + " (" + list + ")";
}

TEST_F(LaunchersTest, PreloadOursBehindWhatTheUserPreloads) {
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(preloaded_by("mpirun app"), "mpirun app (ours)");
  EXPECT_EQ(preloaded_by("mpirun app", "asan"), "mpirun app (asan:ours)");
  EXPECT_EQ(preloaded_by("mpirun -x LD_PRELOAD=p:q -n 1 app : -x LD_PRELOAD=r app", "asan"),
            "mpirun -x LD_PRELOAD=asan:p:q:ours -n 1 app : -x LD_PRELOAD=asan:r:ours app (asan:ours)");
  EXPECT_EQ(preloaded_by("mpirun -genv LD_PRELOAD p app : -env LD_PRELOAD q app"),
            "mpirun -genv LD_PRELOAD p:ours app : -env LD_PRELOAD q:ours app (ours)");
  EXPECT_EQ(preloaded_by("mpirun env LD_PRELOAD=p app LD_PRELOAD"),
            "mpirun env LD_PRELOAD=p:ours app LD_PRELOAD (ours)");
  EXPECT_EQ(preloaded_by("env LD_PRELOAD=p mpirun app"), "env LD_PRELOAD=p:ours mpirun app (p:ours)");
  setenv("LD_PRELOAD", "before", 1);  // no program is started here
  const std::string inherited = preloaded_by("mpirun -x LD_PRELOAD app");
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(inherited, "mpirun -x LD_PRELOAD=before:ours app (before:ours)");
}

}  // namespace
}  // namespace chasqui::cli
