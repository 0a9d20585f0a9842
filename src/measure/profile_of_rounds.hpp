// SPDX-License-Identifier: MIT
// The profile that the rounds of a measurement make.
#pragma once

#include <vector>

#include "chasqui/model/profile.hpp"
#include "measure/collective_times.hpp"
#include "measure/parameters.hpp"

namespace chasqui::measure {

/// A round may lack what others have: a communicator of its own may have got no shared memory. Each parameter is of the rounds that have it.
/// REQUIRES rounds not empty.
Profile profile_of(const std::vector<Parameters>& rounds, const CollectiveTimes& table);

}  // namespace chasqui::measure
