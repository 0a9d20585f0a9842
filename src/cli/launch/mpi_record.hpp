// SPDX-License-Identifier: MIT
// chasqui record --mpi: a collective over MPI messages, recorded on every rank.
#pragma once

#include <map>
#include <string>

namespace chasqui::cli {

/// Collective over MPI_COMM_WORLD. Options: --collective, --bytes, --method, --repeat, --machine, --out; --clocks compares
/// the ranks' clocks even on one host. Rank 0 writes the file.
void record_mpi(std::map<std::string, std::string> options);

}  // namespace chasqui::cli
