// SPDX-License-Identifier: MIT
// A profile for all ranks, as rank 0 reads it: other hosts may have another file of that name, or none, and ranks with
// different profiles would choose different methods.
#pragma once

#include <mpi.h>

#include <optional>

#include "chasqui/model/profile.hpp"

namespace chasqui::mpi {

/// The profile in the file that rank 0 names; nothing if that is nullptr there. Collective; all ranks get the same Error.
std::optional<Profile> profile_of_rank_zero(MPI_Comm comm, const char* path);

}  // namespace chasqui::mpi
