// SPDX-License-Identifier: MIT
// The tags of calls by messages. Messages of another kind of call are not taken for this one's; messages of one pair and
// tag keep their order.
#pragma once

#include <cstdint>

#include "chasqui/model/kind.hpp"

namespace chasqui::run {

/// Below 32'000: MPI promises no more than 32'767.
inline std::uint32_t tag_of(std::uint64_t number, Kind kind) {
  return static_cast<std::uint32_t>(number % 2000) * 16 + static_cast<std::uint32_t>(kind);
}
/// Of an operation of the program's own; no kind has number 15.
inline std::uint32_t tag_of_own(std::uint64_t number) { return static_cast<std::uint32_t>(number % 2000) * 16 + 15; }

}  // namespace chasqui::run
