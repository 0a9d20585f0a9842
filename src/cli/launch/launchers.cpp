// SPDX-License-Identifier: MIT
#include "cli/launch/launchers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "chasqui/base/error.hpp"
#include "cli/launch/linked_mpi.hpp"

namespace chasqui::cli {
namespace {

/// As the manual pages say: Open MPI 4.1 and 5.0 (mpirun), PRRTE 3.0 (prterun, -x), MPICH 4.2 and Intel MPI 2021 (Hydra), MVAPICH2 (mpirun_rsh --help),
/// Slurm 22.05 (srun, --export), Flux (flux-run, "ENV RULES"), ALPS (aprun: "forwards the user's login node environment"), JSM (jsrun -D).
constexpr Launcher kLaunchers[] = {
    {"mpirun", HandsOn::by_flavour, true},
    {"mpiexec.hydra", HandsOn::by_genv, true},
    {"mpiexec", HandsOn::by_flavour, true},
    {"orterun", HandsOn::by_x, true},
    {"prterun", HandsOn::by_x},
    {"prun", HandsOn::by_x},
    {"mpirun_rsh", HandsOn::by_export},
    {"srun", HandsOn::by_slurm, false, true},
    {"flux", HandsOn::environment, false, true},
    {"aprun", HandsOn::environment, false, true},
    {"jsrun", HandsOn::environment, false, true},
    {"ibrun", HandsOn::environment, false, true},
    {"sbatch", HandsOn::not_here},
    {"qsub", HandsOn::not_here},
    {"bsub", HandsOn::not_here},
};

/// They start what comes after their own words, in the same environment and, all but salloc, in the same place.
constexpr std::string_view kWrappers[] = {"chrt",    "env",    "ionice", "nice",   "nohup",   "numactl", "salloc",
                                          "setarch", "setsid", "stdbuf", "strace", "taskset", "time",    "timeout"};

const Launcher* launcher_of(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  for (const Launcher& launcher : kLaunchers) {
    if (!name.starts_with(launcher.name)) continue;
    const char next = name.size() > launcher.name.size() ? name[launcher.name.size()] : '.';
    if (std::isalpha(static_cast<unsigned char>(next)) == 0 && next != '_') return &launcher;
  }
  return nullptr;
}

bool is_wrapper(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  return std::find(std::begin(kWrappers), std::end(kWrappers), name) != std::end(kWrappers);
}

/// Neither an option nor A=/bin/b nor another word of the wrapper before it, as the seconds of timeout.
bool is_program(const std::string& word) {
  if (word.starts_with('-') || word.find('=') != std::string::npos) return false;
  if (launcher_of(word) != nullptr) return true;
  std::error_code none;
  const std::string path = found_in_path(word);
  return path.find('/') != std::string::npos && std::filesystem::is_regular_file(path, none) &&
         access(path.c_str(), X_OK) == 0;
}

bool names_all(std::string_view list) { return (fmt::format(",{},", list)).find(",ALL,") != std::string::npos; }

/// srun with a list that leaves our variables out: their names are added, which stands for their values.
void add_to_export(std::string& list, const Variables& variables) {
  if (names_all(list)) return;
  if (list == "NONE" || list == "NIL")
    throw Error(
        "srun --export={} gives the ranks no variable, and Chasqui comes to them by some: leave it out, or name those that they need: --export=PATH,HOME",
        list);
  for (const auto& [name, value] : variables) list += (list.empty() ? "" : ",") + name;
}

/// Where the launcher's own words end. A plain word behind an option may be its value though there is such a program, as in "-J test": then it is no
/// program of MPI.
std::size_t end_of_options(const std::vector<std::string>& words, std::size_t launcher) {
  std::size_t at = launcher + 1;
  for (; at < words.size(); ++at) {
    const std::string &word = words[at], &before = words[at - 1];
    if (word.starts_with('-') || !is_program(word)) continue;
    const bool may_be_value = at > launcher + 1 && before.starts_with('-') && before.find('=') == std::string::npos;
    if (!may_be_value || word.find('/') != std::string::npos || !linked_mpi(found_in_path(word)).empty()) break;
  }
  return at;
}

void let_slurm_export(std::vector<std::string>& words, std::size_t launcher, const Variables& variables) {
  constexpr std::string_view kOption = "--export";
  const std::size_t end = end_of_options(words, launcher);
  for (std::size_t i = launcher + 1; i < end; ++i) {
    if (words[i] == kOption && i + 1 < end) return add_to_export(words[i + 1], variables);
    if (!words[i].starts_with(fmt::format("{}=", kOption))) continue;
    std::string list = words[i].substr(kOption.size() + 1);
    add_to_export(list, variables);
    words[i] = fmt::format("{}={}", kOption, list);
    return;
  }
  for (const char* const name : {"SRUN_EXPORT_ENV", "SLURM_EXPORT_ENV"}) {  // the first counts
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    std::string list = value;
    add_to_export(list, variables);
    setenv(name, list.c_str(), 1);
    return;
  }
}

}  // namespace

Launching launching(std::vector<std::string> words) {
  Launching command{std::move(words), 0, nullptr};
  const auto& all = command.words;
  while (command.at < all.size() && is_wrapper(all[command.at])) {
    do ++command.at;
    while (command.at < all.size() && !is_program(all[command.at]));
  }
  if (command.at == all.size()) command.at = 0;  // a wrapper of nothing, or of what is not there
  command.launcher = launcher_of(all[command.at]);
  if (command.launcher != nullptr && command.launcher->hands_on == HandsOn::not_here)
    throw Error(
        "{} puts a job into a queue and returns before the program runs: write chasqui run -- into the job's script, before mpirun or srun",
        all[command.at]);
  return command;
}

std::vector<std::string> with_variables(const Launching& command, std::string_view flavour,
                                        const Variables& variables) {
  std::vector<std::string> words = command.words;
  HandsOn how = command.launcher == nullptr ? HandsOn::environment : command.launcher->hands_on;
  if (how == HandsOn::by_flavour) how = flavour == "openmpi" ? HandsOn::by_x : HandsOn::by_genv;
  std::vector<std::string> options;
  for (const auto& [name, value] : variables) {
    if (how == HandsOn::by_x) options.insert(options.end(), {"-x", name + "=" + value});
    else if (how == HandsOn::by_genv) options.insert(options.end(), {"-genv", name, value});
    else setenv(name.c_str(), value.c_str(), 1);
  }
  if (how == HandsOn::by_export) options.emplace_back("-export");
  if (how == HandsOn::by_slurm) let_slurm_export(words, command.at, variables);
  const auto insert_behind = [&](std::size_t at) {
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, options.begin(), options.end());
  };
  for (std::size_t at = words.size(); how == HandsOn::by_x && at-- > command.at + 1;) {
    if (words[at] == ":") insert_behind(at);
  }
  insert_behind(command.at);
  return words;
}

std::string version_of(const std::string& launcher) {
  std::string quoted;
  for (const char c : launcher) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  std::FILE* pipe = popen(("'" + quoted + "' --version 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  char piece[256];
  while (std::fgets(piece, sizeof piece, pipe) != nullptr) text += piece;
  pclose(pipe);
  return text;
}

std::string flavour_of_version(const std::string& text) {
  if (text.find("Open MPI") != std::string::npos || text.find("OpenRTE") != std::string::npos) return "openmpi";
  if (text.find("HYDRA") != std::string::npos || text.find("MPICH") != std::string::npos) return "mpich";
  return {};
}

}  // namespace chasqui::cli
