// SPDX-License-Identifier: MIT
// What goes wrong on all ranks of an MPI run alike: said once, by rank 0, and the run ends as usual. (MPI_Abort would end it,
// too, with a page of the launcher's own words; and Open MPI's launcher may hang if ranks have gone home meanwhile.)
#pragma once

#include <string>

#include "chasqui/base/error.hpp"
#include "mpi/profile.hpp"

namespace chasqui::cli {

/// An Error that every rank has.
class Alike : public Error {
 public:
  explicit Alike(const std::string& what) : Error("{}", what) {}
};

/// Does what every rank does with the same arguments; an Error is then everybody's.
template <typename Action>
auto alike(Action&& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw Alike(error.what());
  }
}

/// The profile in that file, as rank 0 reads it. Collective.
inline Profile profile_for_all(const std::string& path) {
  return alike([&] { return mpi::profile_of_rank_zero(MPI_COMM_WORLD, path.c_str()).value(); });
}

}  // namespace chasqui::cli
