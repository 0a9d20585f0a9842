// SPDX-License-Identifier: MIT
// What a communicator over MPI stands on: messages, nodes, the board of this rank's node. Shared by make_comm() and the
// drop-in library, which compiles it with every MPI call through PMPI.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "chasqui/mpi/comm.hpp"
#include "mpi/together.hpp"
#include "run/board/node_memory.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::mpi {

/// Where the messages of a communicator go. Its tags are first_tag .. first_tag + kChannelTags - 1.
struct Channel {
  MPI_Comm comm = MPI_COMM_NULL;    ///< its error handler returns
  std::vector<int> members{};       ///< the rank in it of each rank; empty: they are the same
  int first_tag = 0;                ///< -1: no messages; the communicator only keeps the library going
  std::function<void()> give_back;  ///< called at the end, unless messages may still be under way
  /// Messages of different lengths have different tags, kChannelTags apart, as far as so many of them go; a power of two. A message that is
  /// longer than its receiver expects is written behind the buffer by Open MPI 4.1, where the kernel copies it, and ends the job by the error
  /// handler of MPI_COMM_WORLD in MPICH 4.0. Only where ranks that wait in vain compare their calls: nobody else would hear that lengths differ.
  int lengths = 1;
  /// No call begins on a rank before the last one has ended there. Messages keep their order then without a number of the call in
  /// their tags, and kLengthsApart lengths have tags of their own, where `lengths` is at least 16: those of one call that differ by no multiple of it.
  bool one_at_a_time = false;
};
inline constexpr int kLengthsApart = 31'991;  ///< below 16 * 2000; a prime, because what programs send is round
inline constexpr int kChannelTags = 1 << 15;  ///< MPI promises no more

/// How many times kChannelTags tags the library has.
std::int64_t sets_of_tags();

/// The node of every rank, numbered by first appearance; `pretended`: Options::pretend_node_size. Collective over `comm`, whose
/// ranks are those of `all`; makes a communicator, and frees it.
std::vector<int> nodes_of(MPI_Comm comm, Together& all, int pretended);

/// Collective; `all` is not kept. REQUIRES options.profile. Where a
/// node's memory cannot be shared there is no board on any rank, and every rank counts as a node. Patience, the library's
/// own collectives and splitting are left to the caller.
run::Fabric make_fabric(Together& all, Channel channel, std::vector<int> nodes, const Options& options);
/// Several that differ in their boards alone; one where there are none. REQUIRES a channel without messages.
std::vector<run::Fabric> make_fabrics(Together& all, Channel channel, std::vector<int> nodes, const Options& options,
                                      const run::Boards& boards);

}  // namespace chasqui::mpi
