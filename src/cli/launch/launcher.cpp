// SPDX-License-Identifier: MIT
#include "cli/launch/launcher.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace chasqui::cli {
namespace {

constexpr int kGenerations = 4;  ///< mpirun, or mpiexec and its proxy, and a script or two between

struct Process {
  std::string name;
  int parent = 0;
};

Process look_up(int id) {
  Process process;
  std::ifstream status(fmt::format("/proc/{}/status", id));
  for (std::string word; status >> word;) {
    if (word == "Name:") status >> process.name;
    if (word == "PPid:") status >> process.parent;
  }
  return process;
}

}  // namespace

bool launcher_has_terminal() {
  int id = getppid();
  for (int i = 0; i < kGenerations && id > 1; ++i) {
    const Process process = look_up(id);
    const bool launcher =
        process.name.starts_with("mpi") || process.name.starts_with("orte") || process.name.starts_with("prte");
    if (launcher) {
      std::error_code none;
      const std::string stream = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", id), none).string();
      return stream.starts_with("/dev/pts/") || stream.starts_with("/dev/tty");
    }
    id = process.parent;
  }
  return false;
}

}  // namespace chasqui::cli
