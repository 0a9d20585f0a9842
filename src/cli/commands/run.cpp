// SPDX-License-Identifier: MIT
// chasqui run: starts an unchanged MPI program with the component of Open MPI or the drop-in library, and shows what it did.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/model/profile.hpp"
#include "cli/frame/command.hpp"
#include "cli/launch/attended.hpp"
#include "cli/launch/drop_in.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/linked_mpi.hpp"
#include "cli/launch/preloaded.hpp"

namespace chasqui::cli {
namespace {

/// A file of our own: only its owner may read it, and nobody can foresee its name.
class TemporaryFile {
 public:
  TemporaryFile(const std::filesystem::path& folder, const std::string& ending)
      : path_(folder / ("chasqui-report-XXXXXX" + ending)) {
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

/// What the program is linked with; where that cannot be seen (a script), what the launcher belongs to, or the mpirun that a script would find.
std::string flavour_of(const Launching& command) {
  const std::string& first = command.words[command.at];
  const MpiProgram program = first_mpi_program(command.words);
  const std::string launcher = command.launcher != nullptr && command.launcher->says_whose
                                   ? flavour_of_version(version_of(first))
                                   : std::string();
  if (!program.flavour.empty() && !launcher.empty() && program.flavour != launcher) {
    throw Error("{} is linked with {}, but {} starts programs of {}: use mpirun.{}", program.path, program.flavour,
                first, launcher, program.flavour);
  }
  if (!program.flavour.empty()) return program.flavour;
  if (!launcher.empty()) return launcher;
  if (std::string found = flavour_of_version(version_of("mpirun")); !found.empty()) return found;
  throw Error(
      "neither {} nor mpirun nor a program of the command says which MPI it is: add --mpi openmpi or --mpi mpich",
      first);
}

constexpr std::string_view kOurPriority = "coll_chasqui_priority";
constexpr int kPriority = 80;  ///< what it is where nobody sets it (src/preload/component/component.c)

/// What a parameter of Open MPI's is set to: by options of the command, by variables that it names, or else in this environment.
std::vector<std::string> parameter(const Launching& command, const std::string& name) {
  constexpr std::string_view kOptions[] = {"--mca", "-mca", "--gmca", "-gmca"};
  const std::string variable = fmt::format("OMPI_MCA_{}", name);
  const auto& words = command.words;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool option = std::find(std::begin(kOptions), std::end(kOptions), words[i]) != std::end(kOptions);
    if (option && i + 2 < words.size() && words[i + 1] == name) values.push_back(words[i + 2]);
    if (words[i].starts_with(variable + "=")) values.push_back(words[i].substr(variable.size() + 1));
  }
  if (const char* value = std::getenv(variable.c_str()); value != nullptr && values.empty()) values.emplace_back(value);
  return values;
}

/// The highest of the priorities that the command or the environment gives to other components of collectives, coll_sm_priority and the like;
/// 0: it gives none.
int highest_priority(const Launching& command) {
  constexpr std::string_view kVariable = "OMPI_MCA_", kBegin = "coll_", kEnd = "_priority";
  int highest = 0;
  const auto look = [&](std::string_view name, const std::string& value) {
    if (name.starts_with(kBegin) && name.ends_with(kEnd) && name != kOurPriority)
      highest = std::max(highest, std::atoi(value.c_str()));
  };
  const auto look_at = [&](std::string_view text) {
    const std::size_t end = text.find('=');
    if (text.starts_with(kVariable) && end != std::string_view::npos)
      look(text.substr(kVariable.size(), end - kVariable.size()), std::string(text.substr(end + 1)));
  };
  const auto& words = command.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    look_at(words[i]);
    if (i + 1 < words.size()) look(words[i], words[i + 1]);  // behind --mca
  }
  for (char** each = environ; *each != nullptr; ++each) look_at(*each);
  return highest;
}

/// Does a list of components, "tuned,basic" of those that are wanted or "^hcoll,ucc" of those that are not, let ours in?
bool lets_in(const std::string& list) {
  const bool excludes = list.starts_with('^');
  const bool named = fmt::format(",{},", list.substr(excludes ? 1 : 0)).find(",chasqui,") != std::string::npos;
  return list.empty() || named != excludes;
}

/// Would Open MPI find and choose the component? Not another version than it was built for, nor where the command itself says
/// where components are, or which, and not this one, or puts another one above it: that one would serve the calls.
bool component_fits(const Launching& command) {
  if (component_folder().empty() || command.launcher == nullptr || !command.launcher->says_whose) return false;
  if (version_of(command.words[command.at]).find(") 4.1.") == std::string::npos) return false;
  if (!parameter(command, "mca_base_component_path").empty()) return false;
  const auto ours = parameter(command, std::string(kOurPriority));
  if (highest_priority(command) >= (ours.empty() ? kPriority : std::atoi(ours.front().c_str()))) return false;
  const auto lists = parameter(command, "coll");
  return std::all_of(lists.begin(), lists.end(), lets_in);
}

/// Where rank 0 can write a report that is read here: another host shares the folder at hand rather than the one for temporary files.
std::filesystem::path report_folder(const Launching& command) {
  std::error_code none;
  const auto here = std::filesystem::current_path(none);
  const bool shared = command.launcher != nullptr && command.launcher->may_be_remote && access(here.c_str(), W_OK) == 0;
  if (shared) return here;
  std::error_code missing;
  const auto usual = std::filesystem::temp_directory_path(missing);
  if (missing)
    throw Error("no folder for temporary files ({}): set TMPDIR to one, or name the report with --report",
                missing.message());
  return usual;
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
    option("--disable", "LIST", &disable_, "leave these to the MPI library, as Bcast,Allreduce; all: everything");
    option("--report", "FILE", &report_, "write the report to FILE (JSON if its name ends in .json)").output();
    flag("--verify", verify_, "do every call twice, by Chasqui and by the MPI library, and compare");
    flag("--reproducible", reproducible_, "add in rank order, so that sums have the same bits every time");
    flag("--no-gpu", no_gpu_,
         "serve although the MPI library takes pointers of a GPU: the program's collectives get none");
    flag("--log", log_, "say which calls go to the MPI library, and why");
    flag("--json", json_, "print the report as JSON");
    example("chasqui run -- mpirun -n 4 ./app", "the program, and a report at the end");
    example("chasqui run --verify -- mpirun -n 4 ./app", "every call compared with the MPI library's own");
  }

  int run(Output& out) override {
    Launching command = launching(words_);
    for (const std::string& word : {words_.front(), command.words[command.at]}) {
      if (access(found_in_path(word).c_str(), F_OK) != 0)
        throw Error("{}: not found: name the command that starts the program, after --", word);
    }
    if (profile_) static_cast<void>(read_profile(*profile_));  // what is wrong with it is better known now
    const std::string flavour = flavour_ == "auto" ? flavour_of(command) : flavour_;
    std::optional<TemporaryFile> temporary;
    if (!report_) temporary.emplace(report_folder(command), json_ ? ".json" : ".txt");
    const std::filesystem::path report = std::filesystem::absolute(report_ ? *report_ : temporary->path());
    std::error_code none;
    const auto before = std::filesystem::last_write_time(report, none);  // a report of an earlier run is not this one's
    const bool component = by_component(command, flavour);
    Variables all = variables(report.string());
    if (component) load_component(all);
    else preload_library(command, flavour, all);
    const int status = status_of(with_variables(command, flavour, all));
    const bool written = std::filesystem::exists(report, none) && !std::filesystem::is_empty(report, none) &&
                         std::filesystem::last_write_time(report, none) != before;
    if (written) {  // standard output is the program's
      out.error(fmt::format("chasqui run: by {}\n", component ? "its component of Open MPI"
                                                              : fmt::format("its drop-in library for {}", flavour)));
      out.error(read_file(report, "the program wrote its report there"));
    } else if (status == 0)
      out.error(fmt::format(
          "chasqui run: no report: rank 0 writes it in MPI_Finalize, to {}. Perhaps the program did not get there, or is none of {} (--mpi names another "
          "MPI library), or its host does not have this folder (--report names another one).\n",
          report.string(), flavour));
    return status;
  }

 private:
  bool by_component(const Launching& command, const std::string& flavour) const {
    if (way_ == "auto") return flavour == "openmpi" && component_fits(command);
    if (way_ == "preload") return false;
    if (flavour != "openmpi") throw Error("--by component: {} has none, only Open MPI: use --by preload", flavour);
    if (component_folder().empty())
      throw Error("mca_coll_chasqui.so is not beside this program: was it built (apt install libopenmpi-dev)?");
    return true;
  }

  static void load_component(Variables& all) {  // the user's path last: a folder that is missing ends the search
    all["OMPI_MCA_mca_base_component_path"] = fmt::format("SYSTEM_DEFAULT:{}:USER_DEFAULT", component_folder());
  }
  static void preload_library(Launching& command, const std::string& flavour, Variables& all) {
    const Preload ours{loaded_first(first_mpi_program(command.words).path), drop_in_library(flavour)};
    all["LD_PRELOAD"] = ours.behind(preloaded(command));
    add_to_lists(command, ours);
  }

  /// What all ranks must have, the CHASQUI_ variables of this environment too: ranks whose variables differ leave everything to the MPI library.
  Variables variables(const std::string& report) const {
    Variables all;
    for (char** each = environ; *each != nullptr; ++each) {
      const std::string_view text = *each;
      if (!text.starts_with("CHASQUI_") || text.starts_with("CHASQUI_SECRET="))
        continue;  // everybody reads command lines
      if (const std::size_t end = text.find('='); end != std::string_view::npos)
        all[std::string(text.substr(0, end))] = text.substr(end + 1);
    }
    all["CHASQUI_REPORT"] = report;
    if (profile_) all["CHASQUI_PROFILE"] = std::filesystem::absolute(*profile_);
    if (disable_) all["CHASQUI_DISABLE"] = *disable_;
    if (verify_) all["CHASQUI_VERIFY"] = "1";
    if (reproducible_) all["CHASQUI_REPRODUCIBLE"] = "1";
    if (no_gpu_) all["CHASQUI_GPU"] = "0";
    if (log_) all["CHASQUI_LOG"] = "1";
    return all;
  }

  std::vector<std::string> words_;
  std::string flavour_ = "auto", way_ = "auto";
  std::optional<std::string> profile_, disable_, report_;
  bool verify_ = false, reproducible_ = false, no_gpu_ = false, log_ = false, json_ = false;
};

}  // namespace

CommandPtr make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace chasqui::cli
