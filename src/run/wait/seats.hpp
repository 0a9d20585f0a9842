// SPDX-License-Identifier: MIT
// Where the ranks of a node lie, so that those are found which are near each other. Read from the files that hwloc reads too, a dozen of
// them a process: loading its whole tree takes milliseconds in every process, and not every machine has it.
#pragma once

#include <optional>
#include <string>

#include "chasqui/model/nearness.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::run {

/// Of a rank that keeps to these cores: whatever they all share, by the number of its first processor.
/// `root`: the folder with what the system says of processors.
Seat seat_of(const Cores& cores, const std::string& root = "/sys/devices/system/cpu");

/// What CHASQUI_LEVELS makes of one rank of so many: its seat on a made-up node; kNoSeat for 0 and for what nobody understands. Nothing where it is
/// not set. Ranks may read different values, so none is an Error.
std::optional<Seat> declared_seat(int rank, int ranks);

}  // namespace chasqui::run
