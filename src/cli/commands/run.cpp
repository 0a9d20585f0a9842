// SPDX-License-Identifier: MIT
// chasqui run: starts an unchanged MPI program with the component of Open MPI or the drop-in library, and shows what it did.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "cli/frame/command.hpp"
#include "cli/launch/drop_in.hpp"
#include "cli/launch/linked_mpi.hpp"

namespace chasqui::cli {
namespace {

/// A file of our own in the folder for temporary ones: only its owner may read it, and nobody can foresee its name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& ending)
      : path_(std::filesystem::temp_directory_path() / ("chasqui-report-XXXXXX" + ending)) {
    const int file = mkstemps(path_.data(), static_cast<int>(ending.size()));
    if (file < 0)
      throw Error("{}: cannot be made ({}): set TMPDIR, or name the report with --report", path_, std::strerror(errno));
    close(file);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool is_launcher(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  return name.starts_with("mpirun") || name.starts_with("mpiexec") || name.starts_with("orterun");
}

/// What the program is linked with; where that cannot be seen (a script), what the launcher belongs to.
std::string flavour_of(const std::vector<std::string>& words) {
  const MpiProgram program = first_mpi_program(words);
  const std::string launcher =
      is_launcher(words.front()) ? flavour_of_version(version_of(words.front())) : linked_mpi(words.front());
  if (!program.flavour.empty() && !launcher.empty() && program.flavour != launcher) {
    throw Error("{} is linked with {}, but {} starts programs of {}: use mpirun.{}", program.path, program.flavour,
                words.front(), launcher, program.flavour);
  }
  const std::string& flavour = program.flavour.empty() ? launcher : program.flavour;
  if (!flavour.empty()) return flavour;
  if (!std::filesystem::exists(found_in_path(words.front())))
    throw Error("{}: not found: name the command that starts the program, after --", words.front());
  throw Error(
      "neither '{} --version' nor a program of the command says which MPI it is: add --mpi openmpi or --mpi mpich",
      words.front());
}

/// Would Open MPI find and choose the component? Not another version than it was built for, nor where the command itself says
/// which components there are.
bool component_fits(const std::vector<std::string>& words) {
  if (component_folder().empty() || !is_launcher(words.front())) return false;
  if (version_of(words.front()).find(") 4.1.") == std::string::npos) return false;
  for (const char* name : {"coll", "mca_base_component_path"}) {
    if (std::getenv(fmt::format("OMPI_MCA_{}", name).c_str()) != nullptr) return false;
    if (std::find(words.begin(), words.end(), name) != words.end()) return false;
  }
  return true;
}

class RunCommand : public Command {
 public:
  RunCommand() : Command("run", "run an unchanged MPI program with Chasqui's collectives") {
    describe(
        "Runs the command with Chasqui's collectives under it. The program is neither changed nor compiled again. "
        "Calls that the MPI library does faster, or that Chasqui does not serve, go to the MPI library. At the "
        "end a report on the error stream says what was called, who did it, and what that saved. The exit status "
        "is the command's.\n"
        "Chasqui joins as a component of Open MPI 4.1, or else as a library that is loaded first (LD_PRELOAD); "
        "the report says which. It takes the MPI that the program is linked with, or the launcher's where that "
        "cannot be seen.");
    positional("COMMAND", &words_, "the command with its arguments, after --").required();
    option("--mpi", "NAME", &flavour_, "which MPI library; default auto").choices({"auto", "openmpi", "mpich"});
    option("--by", "WAY", &way_, "how Chasqui joins; default auto").choices({"auto", "component", "preload"});
    option("--profile", "FILE", &profile_, "what `chasqui measure --mpi` found out about this machine").file();
    option("--disable", "LIST", &disable_, "leave these to the MPI library, as Bcast,Allreduce");
    option("--report", "FILE", &report_, "write the report to FILE (JSON if its name ends in .json)").file();
    flag("--verify", verify_, "do every call twice, by Chasqui and by the MPI library, and compare");
    flag("--reproducible", reproducible_, "add in rank order, so that sums have the same bits every time");
    flag("--log", log_, "say which calls go to the MPI library, and why");
    flag("--json", json_, "print the report as JSON");
    example("chasqui run -- mpirun -n 4 ./app", "the program, and a report at the end");
    example("chasqui run --verify -- mpirun -n 4 ./app", "every call compared with the MPI library's own");
  }

  int run(Output& out) override {
    const std::string flavour = flavour_ == "auto" ? flavour_of(words_) : flavour_;
    std::optional<TemporaryFile> temporary;
    if (!report_) temporary.emplace(json_ ? ".json" : ".txt");
    const std::string report = std::filesystem::absolute(report_ ? *report_ : temporary->path());
    const bool component = by_component(flavour);
    set_up(flavour, component, report);
    const int status = start();
    std::error_code none;
    const bool written = std::filesystem::exists(report, none) && !std::filesystem::is_empty(report, none);
    if (written) {  // standard output is the program's
      out.error(fmt::format("chasqui run: by {}\n", component ? "its component of Open MPI"
                                                              : fmt::format("its drop-in library for {}", flavour)));
      out.error(read_file(report, "the program wrote its report there"));
    } else if (status == 0)
      out.error(fmt::format(
          "chasqui run: no report: rank 0 writes it in MPI_Finalize. Did the command start a program of {} that comes there?\n",
          flavour));
    return status;
  }

 private:
  bool by_component(const std::string& flavour) const {
    if (way_ == "auto") return flavour == "openmpi" && component_fits(words_);
    if (way_ == "preload") return false;
    if (flavour != "openmpi") throw Error("--by component: {} has none, only Open MPI: use --by preload", flavour);
    if (component_folder().empty())
      throw Error("mca_coll_chasqui.so is not beside this program: was it built (apt install libopenmpi-dev)?");
    return true;
  }

  /// The launcher hands variables on to other machines only when it is told to; a plain command inherits them.
  void set_up(const std::string& flavour, bool component, const std::string& report) {
    std::vector<std::pair<std::string, std::string>> variables = {{"CHASQUI_REPORT", report}};
    if (component) {
      variables.emplace_back(
          "OMPI_MCA_mca_base_component_path",  // the user's last: a folder that is missing ends the search
          fmt::format("SYSTEM_DEFAULT:{}:USER_DEFAULT", component_folder()));
    } else {
      const char* const before = std::getenv("LD_PRELOAD");
      const std::string others = before != nullptr && *before != '\0' ? fmt::format(":{}", before) : "";
      variables.emplace_back("LD_PRELOAD", drop_in_library(flavour) + others);
    }
    if (profile_) variables.emplace_back("CHASQUI_PROFILE", std::filesystem::absolute(*profile_));
    if (disable_) variables.emplace_back("CHASQUI_DISABLE", *disable_);
    if (verify_) variables.emplace_back("CHASQUI_VERIFY", "1");
    if (reproducible_) variables.emplace_back("CHASQUI_REPRODUCIBLE", "1");
    if (log_) variables.emplace_back("CHASQUI_LOG", "1");
    std::vector<std::string> extra;
    for (const auto& [name, value] : variables) {
      if (!is_launcher(words_.front())) {
        setenv(name.c_str(), value.c_str(), 1);
      } else if (flavour == "openmpi") {
        extra.insert(extra.end(), {"-x", name + "=" + value});
      } else {
        extra.insert(extra.end(), {"-genv", name, value});
      }
    }
    // -x of Open MPI counts for one part of "mpirun … a : … b" only, -genv of MPICH for all.
    for (std::size_t at = words_.size(); flavour == "openmpi" && at-- > 1;) {
      if (words_[at] == ":")
        words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at) + 1, extra.begin(), extra.end());
    }
    words_.insert(words_.begin() + 1, extra.begin(), extra.end());
  }

  int start() {
    std::fflush(nullptr);
    std::vector<char*> pointers;
    for (auto& word : words_) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      execvp(pointers[0], pointers.data());
      std::fprintf(stderr, "chasqui run: %s cannot be started\n", pointers[0]);
      _exit(127);
    }
    if (child < 0) throw Error("no process could be started: {}", std::strerror(errno));
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::vector<std::string> words_;
  std::string flavour_ = "auto", way_ = "auto";
  std::optional<std::string> profile_, disable_, report_;
  bool verify_ = false, reproducible_ = false, log_ = false, json_ = false;
};

}  // namespace

CommandPtr make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace chasqui::cli
