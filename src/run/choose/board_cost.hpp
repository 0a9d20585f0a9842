// SPDX-License-Identifier: MIT
// What a collective on a node's board takes, and what the MPI library's own takes: as measured where it was measured, by
// a model otherwise. The native call is never predicted: it was measured on as many ranks, or it is not used.
#pragma once

#include <optional>

#include "chasqui/run/choose.hpp"
#include "run/choose/board_methods.hpp"

namespace chasqui::run {

/// Between measured sizes straight lines; beyond the last the last line goes on. REQUIRES times not empty.
double at_size(const Times& times, double bytes);

/// `ranks` ranks of one node on their board. The measured time if so many were measured; else it is scaled by the model.
double board_time(const Profile& profile, Kind kind, double bytes, int ranks, bool threads);

/// How that is done: `slots` for all that fits lines.
Way board_way(const Profile& profile, Kind kind, double bytes, int ranks, bool threads);

/// The same for processes that reach into each other's memory. REQUIRES goes_across(kind). Where it was measured, sizes below
/// the measured ones do not pay.
double across_time(const Profile& profile, Kind kind, double bytes, int ranks);

struct NativeTime {
  double nanoseconds = 0;
  bool clearly_faster = false;  ///< by a tenth or more at the measured sizes on both sides
};
/// Nothing unless both were measured on ranks that lie like these.
std::optional<NativeTime> native_time(const Profile& profile, const Terrain& terrain, Kind kind, double bytes);

}  // namespace chasqui::run
