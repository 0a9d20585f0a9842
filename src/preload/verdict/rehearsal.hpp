// SPDX-License-Identifier: MIT
// What the two sides take before the program makes its first call: in MPI_Init all ranks of one node make the common collectives
// natively and over a board, on buffers of their own, for CHASQUI_REHEARSE milliseconds at most. Short calls come first; what the time
// does not reach is compared when the program calls it. Ranks agree on all figures, so every communicator begins with the same
// expectations on all of its ranks, without a word.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "preload/names.hpp"
#include "preload/verdict/race.hpp"

namespace chasqui::preload {

/// After open_private(). Collective over MPI_COMM_WORLD; does nothing where it has several nodes, one rank, or more ranks than cores.
void rehearse_world();

// One rank that is interrupted for milliseconds makes all calls in them look slow, of whichever side. A verdict against us leaves every call
// of a size to the MPI library, for hundreds of calls, and mostly ours are the faster ones: it takes more than a verdict for us.

/// Nanoseconds of a single call of each: is the difference so large, and are they so long, that no blocks are needed?
inline bool obvious(double native, double ours) {
  constexpr double kTwice = 0.7;  // log 2
  const double faster_by = std::log(native / ours);
  const bool both_long = std::min(native, ours) > kLongCall, one_long = std::max(native, ours) > 5 * kLongCall;
  return (faster_by > kTwice && both_long) || (faster_by > 2 * kTwice && one_long);
}

/// Nanoseconds from call to call in the better block of two sides: does the first take so much longer that the blocks say enough?
inline bool clearly_longer(double one, double other) { return one > 1.5 * other; }

/// Of blocks back to back: are no single calls needed? Of calls that ranks may leave before others come, many may overlap and yet each take
/// long alone: those of Open MPI's scan of 1 KiB follow each other every 1.6 us and take 15. So only a verdict for us stands without.
inline bool blocks_decide(double native, double ours, bool meets) { return meets || clearly_longer(native, ours); }

/// Of `bytes` by each rank (of a block, where there are several): nanoseconds from call to call. Of long calls few are made, in memory that the MPI
/// library has hardly touched: programs find it faster by a quarter. But all-to-alls that the kernel copies have no memory of their own; how long those take
/// depends on whether the program writes its data anew, as is done here, or sends again what its reader still has in its cache.
inline Expected expected_of(Collective what, std::size_t bytes, double native, double ours) {
  const double period = std::min(native, ours);
  const bool copied = what == Collective::Alltoall && bytes >= kCopiedByTheKernel;
  const double doubt = period > 2 * kLongCall && !copied ? kQuarter : 0;
  return {std::log(native / ours) - doubt, period, copied};
}
/// What the longest that was tried says of blocks that are `times` longer.
inline Expected expected_beyond(Collective what, Expected of, double times) {
  if (of.period == 0) return of;
  of.period *= times;
  if (what == Collective::Alltoall && of.period > 2 * kLongCall) of.factor -= kQuarter;
  of.soon = false;
  return of;
}

/// What was found for so many bytes; nothing for communicators of another number of ranks.
Expected rehearsed(Collective what, std::size_t bytes, int ranks);

}  // namespace chasqui::preload
