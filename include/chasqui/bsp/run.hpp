// SPDX-License-Identifier: MIT
// Runs a bulk-synchronous program inside this process. For MPI ranks see chasqui/bsp/mpi.hpp.
#pragma once

#include <functional>

#include "chasqui/bsp/ledger.hpp"
#include "chasqui/bsp/options.hpp"
#include "chasqui/bsp/world.hpp"

namespace chasqui::bsp {

using Program = std::function<void(World&)>;  ///< what every processor runs

/// Runs `program` on p processors and returns what it cost. Throws the first exception that left a
/// processor's program (a MachineError for the library's own faults) after all of them have stopped.
Ledger run(int p, const Program& program, const Options& options = {});

}  // namespace chasqui::bsp
