// SPDX-License-Identifier: MIT
// The first thing the library does in MPI_Init: do all ranks have it, and do they read the same settings?
// A rank without the library must never take part by accident: whatever is sent to it could land in a receive of the
// program, and a collective could be the program's own. So the ranks leave names with the launcher (MPI_Publish_name) and
// look for each other's. A rank that has not loaded the library leaves none, and nothing tells it from a slow one: the
// wait has a limit, after which the job ends with a line that names the remedy.
#pragma once

#include <cstdint>

namespace chasqui::preload {

enum class Handshake { all_alike, different, impossible };

/// Collective over MPI_COMM_WORLD, before MPI_Init returns. `seconds` = 0: waits for ever. Calls MPI_Abort when the time
/// is up. Where the launcher keeps no names, and among processes of MPI_Comm_spawn that have no name of their job, the ranks use what no
/// call of a program meets: in Open MPI messages with tags that only its own collectives have, in MPICH MPI_Comm_create_group with a tag of
/// ours. `impossible`: MPI does not take that, on any rank.
Handshake shake_hands(std::uint64_t settings_hash, std::int64_t seconds);

}  // namespace chasqui::preload
