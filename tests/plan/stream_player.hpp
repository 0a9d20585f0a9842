// SPDX-License-Identifier: MIT
// A simulator of streams that trusts nothing: it asks every rank for its messages step by step and keeps the
// books.
#pragma once

#include <cstdint>
#include <string>

#include "chasqui/plan/stream.hpp"

namespace chasqui::test {

/// Plays `steps` steps from time 0 on and returns the first broken rule, or "". Checked: what a rank says it
/// sends is what the receiver says it receives and the other way round; at most one send and one reception a
/// step; the sender has the item; nobody gets an item twice; every item that could be complete is complete
/// after exactly the delay, and some item needs all of it. Memory: O(P · delay).
std::string play(const plan::Stream& stream, std::int64_t steps);

/// The same questions for a few ranks only, for streams too large to play: partners agree, a sender received
/// the item before, and each rank receives every item once.
std::string spot_check(const plan::Stream& stream, std::int64_t rank, std::int64_t from, std::int64_t steps);

}  // namespace chasqui::test
