// SPDX-License-Identifier: MIT
// A collective in flight.
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "chasqui/run/board_collectives.hpp"
#include "chasqui/run/call.hpp"
#include "chasqui/run/task.hpp"
#include "packed.hpp"

namespace chasqui::run {

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
