// SPDX-License-Identifier: MIT
// The collectives that are interposed, and the reasons for which a call goes to the MPI library.
#pragma once

#include <string_view>

namespace chasqui::preload {

// clang-format off
// Served when it pays, then those that are always passed on.
#define CHASQUI_SERVED(X)                                                                                     \
  X(Barrier) X(Bcast) X(Reduce) X(Allreduce) X(Scan) X(Exscan) X(Reduce_scatter) X(Reduce_scatter_block)      \
  X(Gather) X(Scatter) X(Allgather) X(Allgatherv) X(Gatherv) X(Scatterv)                                      \
  X(Alltoall) X(Alltoallv) X(Alltoallw)
#define CHASQUI_PASSED(X)                                                                                     \
  X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) X(Iscan) X(Iexscan)                   \
  X(Ireduce_scatter) X(Ireduce_scatter_block) X(Igather) X(Igatherv) X(Iscatter) X(Iscatterv) X(Iallgather)   \
  X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw)
// clang-format on

enum class Collective : int {
#define CHASQUI_NAME(name) name,
  CHASQUI_SERVED(CHASQUI_NAME) CHASQUI_PASSED(CHASQUI_NAME)
#undef CHASQUI_NAME
};
#define CHASQUI_ONE(name) +1
inline constexpr int kServed = 0 CHASQUI_SERVED(CHASQUI_ONE);
inline constexpr int kCollectives = kServed CHASQUI_PASSED(CHASQUI_ONE);
#undef CHASQUI_ONE

inline constexpr std::string_view kNames[kCollectives] = {
#define CHASQUI_NAME(name) #name,
    CHASQUI_SERVED(CHASQUI_NAME) CHASQUI_PASSED(CHASQUI_NAME)
#undef CHASQUI_NAME
};
inline std::string_view to_string(Collective what) { return kNames[static_cast<int>(what)]; }

enum class Reason : int {
  none,
  disabled,
  early,
  short_lived,
  one_rank,
  inter,
  foreign,
  no_room,
  empty,
  too_long,
  operation,
  argument,
  uneven,
  nonblocking,
  slower,
  comparing,
  irreproducible,
  broken,
  failed,
};
inline constexpr int kReasons = static_cast<int>(Reason::failed) + 1;
inline constexpr std::string_view kReasonTexts[kReasons] = {
    "served",
    "disabled by CHASQUI_DISABLE",
    "one of the first calls on its communicator (CHASQUI_AFTER)",
    "a reduction that rounds, on a communicator that was not prepared in time: it stays with the MPI library",
    "a communicator of one rank",
    "an inter-communicator",
    "ranks that are not of this MPI_COMM_WORLD",
    "the private communicator or its memory could not be made",
    "no data",
    "too long for the private buffers",
    "an operation that is not known to be defined for the datatype",
    "an argument that the MPI library must judge",
    "blocks of very different sizes",
    "non-blocking: progress belongs to the MPI library",
    "the MPI library's own is faster",
    "being compared with the MPI library's own",
    "non-blocking reductions are not reproducible",
    "a collective on this communicator failed before",
    "an error inside before anything was sent",
};

}  // namespace chasqui::preload
