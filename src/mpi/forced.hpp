// SPDX-License-Identifier: MIT
// The MPI library's collectives with one of its algorithms forced, through MPI's tools interface: control variables such as Open
// MPI's coll_tuned_bcast_algorithm, which it reads when a communicator is made and only where it was started with
// coll_tuned_use_dynamic_rules, or MPICH's MPIR_CVAR_BCAST_INTRA_ALGORITHM, which it reads in every call.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "chasqui/run/call.hpp"

namespace chasqui::mpi {

/// What to force; the numbers of the library's variables. `number` 0: nothing.
struct ForcedAlgorithm {
  std::string collective;  ///< "bcast"
  int number = 0;
  int segment = 0;  ///< bytes; 0: not cut
  int fan = 0;      ///< 0: as the library has it
  int inner = 0;    ///< MPICH: which non-blocking algorithm, where `number` says that one is waited for
};

/// The library's collectives on a communicator of its own, which must go before MPI ends.
struct Forced {
  std::function<void()> prepare;              ///< before calls, if somebody else's were forced since
  std::function<bool(const run::Call&)> run;  ///< a call of doubles; false where the library refuses
};
/// Collective over `comm`; for its first `ranks` ranks (0: for all). The others get something that must not be run.
Forced forced(MPI_Comm comm, const ForcedAlgorithm& algorithm, int ranks = 0);
/// Several on one communicator, which saves the time that making it takes. REQUIRES that no two are of one collective.
std::vector<Forced> forced_together(MPI_Comm comm, const std::vector<ForcedAlgorithm>& algorithms, int ranks = 0);

/// Before MPI starts: the library will let algorithms be forced, and reads no rules of its user's.
void allow_forcing();

}  // namespace chasqui::mpi
