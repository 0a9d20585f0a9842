// SPDX-License-Identifier: MIT
// The twin of this program that speaks MPI, one per MPI library, in the same folder.
#pragma once

#include <string>
#include <vector>

namespace chasqui::cli {

/// Replaces this process by chasqui-mpi-<library>, the library being the one whose launcher started it.
/// Throws Error when no launcher did, or the twin is not there.
[[noreturn]] void become_mpi_twin(const std::string& command, const std::vector<std::string>& arguments);

}  // namespace chasqui::cli
