// SPDX-License-Identifier: MIT
// Where the drop-in library of an MPI library and the component of Open MPI lie, and which of them a launcher belongs to.
#pragma once

#include <string>

namespace chasqui::cli {

/// What `launcher --version` says; empty when it is silent or not there.
std::string version_of(const std::string& launcher);

/// The MPI library that such a text belongs to: "openmpi", "mpich", or empty when it does not say.
std::string flavour_of_version(const std::string& text);

/// The folder of the component for Open MPI 4.1 beside this program; empty: it was not built.
std::string component_folder();

/// The path of libchasqui-mpi-<flavour>.so beside this program. Throws Error with the remedy where there is none.
std::string drop_in_library(const std::string& flavour);

}  // namespace chasqui::cli
