// SPDX-License-Identifier: MIT
#include "cli/launch/drop_in.hpp"

#include <cstdio>
#include <filesystem>

#include "chasqui/base/error.hpp"

namespace chasqui::cli {

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

std::string drop_in_library(const std::string& flavour) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {"../lib", "../" CHASQUI_LIBDIR, "."}) {
    const auto path = self / place / ("libchasqui-mpi-" + flavour + ".so");
    if (std::filesystem::exists(path)) return std::filesystem::canonical(path);
  }
  throw Error("libchasqui-mpi-{}.so is not beside {}: was it built (apt install lib{}-dev)?", flavour, self.string(),
              flavour);
}

}  // namespace chasqui::cli
