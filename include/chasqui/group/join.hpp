// SPDX-License-Identifier: MIT
// Communicators of processes, without MPI:
//   auto comm = chasqui::group::join();                    // under chasqui launch, torchrun, mpirun, srun
//   auto comm = chasqui::group::join({.rank = r, .size = 4, .rendezvous = "/tmp/me/meeting"});
// The ranks meet at a rendezvous. Those of a host share memory that nobody else can open; hosts talk by UCX.
#pragma once

#include <memory>
#include <string>

#include "chasqui/run/comm.hpp"

namespace chasqui::group {

/// Where and how to meet. Size, rendezvous, secret and all that follows are the same on all ranks.
struct Options {
  int rank = -1;  ///< -1, with size: as the launcher says (docs/processes.md lists the variables)
  int size = -1;  ///< ranks of the group
  /// "/path" (a socket is made there, and removed when all have come), "unix:@name" (a name without a file), "fd:7" (an
  /// inherited socket that listens), "tcp://10.0.0.1:4711" (rank 0 listens there; needs a secret, and may be reached from other
  /// hosts). Empty: CHASQUI_RENDEZVOUS, else a name that belongs to what the launcher started.
  std::string rendezvous;
  std::string secret;        ///< all ranks must know it; empty: CHASQUI_SECRET, and none where that is not set
  double timeout = 60;       ///< seconds until all must be there, here and in split()
  double patience = 0;       ///< seconds after which a call in which nothing moves fails; 0: never
  bool cross_memory = true;  ///< use each other's memory where the system permits it; CHASQUI_REACH=0 too says no
  std::size_t stage_ring = std::size_t{4} << 20;  ///< as mpi::Options::stage_ring
  std::shared_ptr<const Profile>
      profile;                ///< for the choice of methods; missing: CHASQUI_PROFILE of rank 0, else guesses
  int pretend_node_size = 0;  ///< for tests, as mpi::Options::pretend_node_size: the nodes talk by UCX
};

/// Comes back when all ranks are there. Throws an Error within `timeout` if they are not, names who is missing, and for bad
/// options. A rank whose process dies later ends the calls of everybody who waits for it with an Error: within a tenth of a
/// second on its host, within two on others. A host that vanishes does so after 20 s (CHASQUI_SILENCE).
std::unique_ptr<run::Comm> join(Options options = {});

/// From now on a call of this communicator in which nothing moves for so long fails; 0: never.
void set_timeout(run::Comm& comm, double seconds);

}  // namespace chasqui::group
