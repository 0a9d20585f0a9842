// SPDX-License-Identifier: MIT
// The launchers of MPI programs: where one stands in a command, how variables come from there to the ranks on other hosts, and who says whose MPI
// it starts. All that `chasqui run` knows of a launcher by its name is one row of the table in launchers.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace chasqui::cli {

/// How a launcher hands variables on to ranks on other hosts.
enum class HandsOn {
  by_flavour,   ///< mpirun and mpiexec: the two MPI libraries have them under the same names, with options of their own
  by_x,         ///< -x NAME=VALUE, for each part of "a : b"
  by_genv,      ///< -genv NAME VALUE, for all parts
  by_export,    ///< its whole environment, once -export is there
  environment,  ///< its whole environment
  by_slurm,     ///< its whole environment, unless --export says otherwise
  not_here,     ///< it puts a job into a queue and returns before the program runs
};

struct Launcher {
  std::string_view name;  ///< also of "mpirun.openmpi", "mpiexec-5.0"
  HandsOn hands_on;
  bool says_whose = false;     ///< what it says to --version tells which MPI library's programs it starts
  bool may_be_remote = false;  ///< rank 0 may run on another host than the launcher
};

/// A command that starts an MPI program.
struct Launching {
  std::vector<std::string> words;
  std::size_t at = 0;                  ///< the launcher, or the program where there is none
  const Launcher* launcher = nullptr;  ///< none: a program, a script, `make run`; it inherits the environment
};

/// Finds the launcher, behind env, time, numactl and others that start the rest of their words. Throws Error for one that puts a job into a queue.
Launching launching(std::vector<std::string> words);

using Variables = std::map<std::string, std::string>;

/// The command, so that these variables reach all ranks. What goes by the environment is set in this process's own. `flavour`: the program's MPI library.
std::vector<std::string> with_variables(const Launching& command, std::string_view flavour, const Variables& variables);

/// What `launcher --version` says; empty when it is silent or not there.
std::string version_of(const std::string& launcher);

/// The MPI library that such a text belongs to: "openmpi", "mpich", or empty when it does not say.
std::string flavour_of_version(const std::string& text);

}  // namespace chasqui::cli
