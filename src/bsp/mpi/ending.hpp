// SPDX-License-Identifier: MIT
// How a program over MPI ends, well or not: the ledgers come together, or every rank learns of the failure.
#pragma once

#include <functional>
#include <string>

#include "bsp/mpi/books.hpp"
#include "bsp/mpi/peers.hpp"

namespace chasqui::bsp::detail {

/// The program ended well here: waits until it has everywhere, and returns the ledger of all.
Ledger end_well(MpiPeers& peers, const MpiBooks& books, double seconds);

/// The program failed here, or elsewhere: tells everybody, and waits until nobody sends any more. The text is asked for unless another
/// fault came first.
void end_badly(MpiPeers& peers, Fault fault, const std::function<std::string()>& text);

}  // namespace chasqui::bsp::detail
