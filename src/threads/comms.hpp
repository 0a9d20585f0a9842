// SPDX-License-Identifier: MIT
// Communicators of one process that share a board and channels.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "chasqui/model/nearness.hpp"
#include "chasqui/run/comm.hpp"

namespace chasqui::threads {

/// Makes the communicator of a rank; may be called by several threads at once.
using CommMaker = std::function<std::unique_ptr<run::Comm>(int rank)>;

/// For ranks 0 .. n-1; seats: of each, or none. REQUIRES 1 <= n <= 4096.
CommMaker share_comms(int n, std::shared_ptr<const Profile> profile, bool with_board, run::Patience patience,
                      std::vector<Seat> seats = {});

}  // namespace chasqui::threads
