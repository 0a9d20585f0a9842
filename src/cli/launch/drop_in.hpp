// SPDX-License-Identifier: MIT
// Where the drop-in library of an MPI library lies, and which of them a launcher belongs to.
#pragma once

#include <string>

namespace chasqui::cli {

/// The first line that `launcher --version` says; empty when it is silent or not there.
std::string version_of(const std::string& launcher);

/// "openmpi", "mpich", or empty when it does not say.
std::string flavour_of_launcher(const std::string& launcher);

/// The path of libchasqui-mpi-<flavour>.so beside this program. Throws Error with the remedy where there is none.
std::string drop_in_library(const std::string& flavour);

}  // namespace chasqui::cli
