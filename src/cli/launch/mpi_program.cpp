// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <filesystem>

#include "chasqui/base/error.hpp"
#include "cli/launch/engine.hpp"
#include "run/wait/launcher.hpp"

namespace chasqui::cli {

/// This program does not know MPI: the one that does, for the library whose launcher started this, takes its place.
std::unique_ptr<Engine> mpi_engine(const Command& command) {
  const auto launched = run::launched_by_mpi();
  if (!launched) {
    throw Error("{} --mpi: no MPI launcher started this: mpirun -np 4 chasqui {} --mpi …", command.name(),
                command.name());
  }
  const std::string library = launched->launcher == "Open MPI" ? "openmpi" : "mpich";
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> words = {self.parent_path() / ("chasqui-mpi-" + library), command.name()};
  words.insert(words.end(), command.arguments().begin(), command.arguments().end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  throw Error("{} --mpi: {} cannot be started: was it built (apt install lib{}-dev)?", command.name(), words[0],
              library);
}

}  // namespace chasqui::cli
