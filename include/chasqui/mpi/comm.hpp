// SPDX-License-Identifier: MIT
// A communicator over any MPI_Comm. Ranks of one node talk through slots in shared memory, nodes through MPI
// messages on a duplicate of the communicator, so nothing meets the program's own messages.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>

#include "chasqui/run/comm.hpp"

namespace chasqui::run {
class Transport;
}

namespace chasqui::mpi {
/// What a communicator may use.
struct Options {
  bool slots = true;  ///< false: MPI messages only (as between nodes)
  /// Processes of a node may read and write each other's memory, where that is permitted; CHASQUI_REACH=0 too says no.
  bool cross_memory = true;
  /// true: waiting blocks inside MPI instead of polling (needed in simulated time)
  bool blocking_waits = false;
  /// 0: nodes as the machine has them; n > 0: ranks kn .. kn+n-1 count as one node; n < 0: ranks that are equal
  /// modulo -n do (tests, two-level studies)
  int pretend_node_size = 0;
  /// after what time ranks that wait in vain compare their calls; missing: CHASQUI_STALL_SECONDS and CHASQUI_STALL_NOTICE,
  /// else 2 seconds and no notice. Never with blocking waits.
  std::optional<run::Patience> patience;
  /// bytes of shared memory a rank has for what all others read (all-gathers), where the last cache of the machine is large:
  /// at least 256 KiB, at most 64 MiB for all ranks; communicators made by split() have 1 MiB
  std::size_t stage_ring = std::size_t{4} << 20;
  bool native = true;  ///< let the choice fall on the library's own collectives where the profile says they are faster
  /// may put something around the messages: a recording, for one
  std::function<std::shared_ptr<run::Transport>(std::shared_ptr<run::Transport>)> around;
  std::shared_ptr<const Profile>
      profile;  ///< for the choice of methods; missing: CHASQUI_PROFILE, else built-in guesses
};

/// Reads CHASQUI_PROFILE (a file of `chasqui measure`) when no profile is given; rank 0 reads it for all, and where it
/// cannot, all ranks get the same Error. Collective over `comm`; the options are the same on every rank.
/// Throws an Error if MPI is not initialised, or for an inter-communicator. Destroy before MPI_Finalize: afterwards every call is an Error.
std::unique_ptr<run::Comm> make_comm(MPI_Comm comm, Options options = {});

/// The operator of an MPI_Op on elements of `type`; the pair must stay in place while it is used.
struct FoldContext {
  MPI_Op op = MPI_OP_NULL;                ///< the program's operation
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< of one element
  int extent = 0;                         ///< bytes of one element
};
run::Operator operator_of(FoldContext& context);  ///< calls the MPI operation on the pair's type

}  // namespace chasqui::mpi
