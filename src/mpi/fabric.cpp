// SPDX-License-Identifier: MIT
#include "mpi/fabric.hpp"

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "mpi/check.hpp"
#include "mpi/messages.hpp"
#include "mpi/node_memory.hpp"
#include "mpi/process_memory.hpp"

namespace chasqui::mpi {
namespace {

constexpr int kIdleTag = 32'701;  ///< nobody sends it: probing for it only lets the library work

/// A number that no other communicator has, the same on all ranks of this one.
std::uint64_t stamp_of(MPI_Comm comm) {
  std::random_device random;
  std::uint64_t stamp = (static_cast<std::uint64_t>(random()) << 32 | random()) | 1;
  check(MPI_Bcast(&stamp, sizeof stamp, MPI_BYTE, 0, comm), "MPI_Bcast");
  return stamp;
}

/// The ranks of this rank's node; freed by the caller.
MPI_Comm node_of(MPI_Comm comm, int rank, int pretended) {
  MPI_Comm node = MPI_COMM_NULL;
  if (pretended != 0) {
    check(MPI_Comm_split(comm, pretended > 0 ? rank / pretended : rank % -pretended, rank, &node), "MPI_Comm_split");
  } else {
    check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  }
  return node;
}

/// The node of every rank, numbered by first appearance.
std::vector<int> nodes_of(MPI_Comm comm, MPI_Comm node, int rank, int size) {
  int first = rank;
  check(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  std::vector<int> nodes(static_cast<std::size_t>(size));
  check(MPI_Allgather(&first, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::map<int, int> numbers;
  for (int& each : nodes) each = numbers.try_emplace(each, static_cast<int>(numbers.size())).first->second;
  return nodes;
}

bool agreed(bool mine, MPI_Comm comm) {
  const int here = mine ? 1 : 0;
  int everywhere = 0;
  check(MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  return everywhere != 0;
}

}  // namespace

run::Fabric make_fabric(MPI_Comm own, const Options& options) {
  run::Fabric fabric;
  MPI_Comm_rank(own, &fabric.rank);
  MPI_Comm_size(own, &fabric.size);
  const Level* network = options.profile->level("network");
  fabric.messages = std::make_shared<Messages>(own, options.blocking_waits, network != nullptr ? *network : Level{},
                                               Messages::kLongest, stamp_of(own));
  if (options.around) fabric.messages = options.around(std::move(fabric.messages));
  fabric.profile = options.profile;
  MPI_Comm node = node_of(own, fabric.rank, options.slots ? options.pretend_node_size : 0);
  int neighbours = 1;
  MPI_Comm_size(node, &neighbours);
  const int cores = cores_of(node);
  fabric.crowded = neighbours > cores;
  if (options.slots) {
    auto board = make_board(node, cores, options.stage_ring);
    if (agreed(board != nullptr, own)) fabric.board = std::move(board);
  }
  if (fabric.board != nullptr) {
    fabric.node_of = nodes_of(own, node, fabric.rank, fabric.size);
    fabric.process_memory = open_process_memory(node, options.cross_memory);
  } else {
    for (int r = 0; r < fabric.size; ++r) fabric.node_of.push_back(r);
  }
  MPI_Comm_free(&node);
  if (!options.blocking_waits && fabric.board != nullptr) {
    fabric.idle = [own] {
      int flag = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, kIdleTag, own, &flag, MPI_STATUS_IGNORE);
    };
  }
  return fabric;
}

}  // namespace chasqui::mpi
