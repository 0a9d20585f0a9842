// SPDX-License-Identifier: MIT
// A rendezvous for processes whose launcher names none: it belongs to the process that started them all.
#pragma once

#include <string>

#include "run/wait/launcher.hpp"

namespace chasqui::group {

/// "unix:@chasqui-…": the same for all that one launcher started on this node, and different for others. REQUIRES that this
/// process was launched. Which process started it is found by the environment: its nearest ancestor that has no rank.
std::string rendezvous_of(const run::Launched& launched);

}  // namespace chasqui::group
