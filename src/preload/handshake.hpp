// SPDX-License-Identifier: MIT
// The first thing the library does in MPI_Init: do all ranks have it, and do they read the same settings?
// A rank without the library never answers, and no operation of MPI can tell it from a slow one: whatever is sent to it
// could land in a receive of the program, and a collective needs it. So the wait has a limit, after which the job ends
// with a line that names the remedy.
#pragma once

#include <cstdint>

namespace chasqui::preload {

enum class Handshake { all_alike, different };

/// Collective over MPI_COMM_WORLD. `seconds` = 0: waits for ever. Calls MPI_Abort when the time is up.
Handshake shake_hands(std::uint64_t settings_hash, std::int64_t seconds);

}  // namespace chasqui::preload
