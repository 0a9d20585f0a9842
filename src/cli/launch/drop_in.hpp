// SPDX-License-Identifier: MIT
// Where the drop-in library of an MPI library and the component of Open MPI lie.
#pragma once

#include <string>

namespace chasqui::cli {

/// The folder of the component for Open MPI 4.1 beside this program; empty: it was not built.
std::string component_folder();

/// The path of libchasqui-mpi-<flavour>.so beside this program. Throws Error with the remedy where there is none.
std::string drop_in_library(const std::string& flavour);

}  // namespace chasqui::cli
