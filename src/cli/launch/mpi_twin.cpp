// SPDX-License-Identifier: MIT
#include "cli/launch/mpi_twin.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "chasqui/base/error.hpp"

namespace chasqui::cli {

void become_mpi_twin(const std::string& command, const std::vector<std::string>& arguments) {
  const char* library = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr ? "openmpi"
                        : std::getenv("PMI_SIZE") != nullptr           ? "mpich"
                                                                       : nullptr;
  if (library == nullptr) {
    throw Error("{} --mpi: no MPI launcher started this: mpirun -np 4 chasqui {} --mpi …", command, command);
  }
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string path = self.parent_path() / ("chasqui-mpi-" + std::string(library));
  std::vector<std::string> words = {path, command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(path.c_str(), pointers.data());
  throw Error("{} --mpi: {} cannot be started: was it built (apt install lib{}-dev)?", command, path, library);
}

}  // namespace chasqui::cli
