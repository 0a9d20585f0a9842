// SPDX-License-Identifier: MIT
// A collective in flight.
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "chasqui/run/call.hpp"
#include "run/board/collectives.hpp"
#include "run/call/packed.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

/// Messages of another kind of call are not taken for this one's. Below 32'000; messages of one pair and tag keep their order.
inline std::uint32_t tag_of(std::uint64_t number, Kind kind) {
  return static_cast<std::uint32_t>(number % 2000) * 16 + static_cast<std::uint32_t>(kind);
}
/// The same for an operation of the program's own; no kind has number 15.
inline std::uint32_t tag_of_own(std::uint64_t number) { return static_cast<std::uint32_t>(number % 2000) * 16 + 15; }

struct Operation {
  Operation() = default;
  Operation(const Call& call, int rank, int size) : packed(call, rank, size) {}

  Packed packed;
  std::shared_ptr<const void> kept;  ///< what the call points to and its caller gave away: an operator
  std::uint64_t number = 0;
  bool uses_board = false;
  bool finished = false;
  std::exception_ptr error;
  std::optional<Activity> activity;
};

}  // namespace chasqui::run
