// SPDX-License-Identifier: MIT
// Who waits where, when nobody can go on.
#pragma once

#include <cstdint>
#include <span>

#include "chasqui/bsp/detail/endpoint.hpp"
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

/// sync_mismatch when some have finished or all wait at barriers, deadlock when somebody waits for messages.
/// Processors that wait at the same place are named together.
MachineError waiting_report(std::span<const Waiting> waiting, std::span<const std::uint8_t> finished);

}  // namespace chasqui::bsp::detail
