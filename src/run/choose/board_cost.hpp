// SPDX-License-Identifier: MIT
// What a collective on a node's board takes, and what the MPI library's own takes: as measured where it was measured, by
// a model otherwise. The native call is never predicted: it was measured on as many ranks, or it is not used.
#pragma once

#include <memory>
#include <optional>

#include "chasqui/run/choose.hpp"
#include "run/choose/board_methods.hpp"

namespace chasqui::run {

/// Between measured sizes straight lines; beyond the last the last line goes on. REQUIRES times not empty.
double at_size(const Times& times, double bytes);

/// `ranks` ranks of one node on their board. The measured time if so many were measured; else it is scaled by the model.
double board_time(const Profile& profile, Kind kind, double bytes, int ranks, bool threads,
                  const std::shared_ptr<const Nearness>& near = nullptr);

/// What it takes `ranks` processes of one node that read and write each other's memory. REQUIRES crosses_memory(kind). Where it was measured,
/// sizes below the measured ones do not pay. `lent`: they lend each other pages where that pays.
double cross_memory_time(const Profile& profile, Kind kind, double bytes, int ranks, bool lent);

/// Contributions of this size and more may pay by the memory of the other processes: below, a call of the kernel alone
/// costs as much as the board (docs/laboratory/broadcast.md, "Long gathers and scatters": 16 KiB by cross-memory 32 us, over
/// the board 24).
inline constexpr std::size_t kCrossMemoryFrom = 16 * 1024;

/// The library counts in `int`, also inside, where it puts blocks together: what all ranks bring stays below 2 GiB.
std::size_t countable_bytes(Kind kind, int ranks);

struct NativeTime {
  double nanoseconds = 0;
  bool clearly_faster = false;  ///< by a tenth or more at the measured sizes on both sides
};
/// Nothing unless both were measured on ranks that lie like these, and the library can count it.
std::optional<NativeTime> native_time(const Profile& profile, const Topology& topology, Kind kind, double bytes);

}  // namespace chasqui::run
