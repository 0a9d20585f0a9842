// SPDX-License-Identifier: MIT
#include "cli/launch/drop_in.hpp"

#include <filesystem>
#include <string_view>

#include "chasqui/base/error.hpp"

namespace chasqui::cli {

namespace {

/// A file of ours beside this program, as it was built or installed; empty: it is not there.
std::filesystem::path beside(const std::string& name) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {"../lib", "../" CHASQUI_LIBDIR, "."}) {
    if (const auto path = self / place / name; std::filesystem::exists(path)) return std::filesystem::canonical(path);
  }
  return {};
}

/// A path for a list in a variable, which whoever reads it divides at these characters and nothing can quote.
std::string undivided(std::string path, const char* variable, const char* dividers) {
  if (path.find_first_of(dividers) != std::string::npos)
    throw Error("{}: {} is divided at {}: install Chasqui in a folder without", path, variable,
                std::string_view(dividers) == ":" ? "colons" : "spaces and colons");
  return path;
}

}  // namespace

std::string component_folder() {
  return undivided(beside("chasqui/openmpi/mca_coll_chasqui.so").parent_path(), "mca_base_component_path", ":");
}

std::string drop_in_library(const std::string& flavour) {
  const std::string name = "libchasqui-mpi-" + flavour + ".so";
  if (const auto found = beside(name); !found.empty()) return undivided(found, "LD_PRELOAD", " :");
  throw Error("{} is not beside this program: was it built (apt install lib{}-dev)?", name, flavour);
}

}  // namespace chasqui::cli
