// SPDX-License-Identifier: MIT
// A collective in flight.
#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "chasqui/run/board_collectives.hpp"
#include "chasqui/run/call.hpp"
#include "chasqui/run/task.hpp"

namespace chasqui::run {

struct Operation {
  Call call;                     ///< with packed buffers
  Call user;                     ///< as the caller passed it
  std::vector<std::byte> in;     ///< packed copies, when the layout is not contiguous
  std::vector<std::byte> out;
  std::uint64_t number = 0;
  bool uses_board = false;
  bool finished = false;
  std::exception_ptr error;
  std::optional<Activity> activity;
};

}  // namespace chasqui::run
