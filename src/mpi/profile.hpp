// SPDX-License-Identifier: MIT
// A profile for all ranks, as rank 0 reads it: other hosts may have another file of that name, or none, and ranks with
// different profiles would choose different methods.
#pragma once

#include <mpi.h>

#include <memory>

#include "chasqui/model/profile.hpp"

namespace chasqui::mpi {

/// The profile in the file that rank 0 names; nullptr: the one that its CHASQUI_PROFILE names, else built-in guesses.
/// Collective; all ranks get the same Error.
std::shared_ptr<const Profile> profile_for_all(MPI_Comm comm, const char* path);

}  // namespace chasqui::mpi
