// SPDX-License-Identifier: MIT
// A collective in flight.
#pragma once

#include <exception>
#include <list>
#include <memory>
#include <optional>

#include "chasqui/run/call.hpp"
#include "run/board/collectives.hpp"
#include "run/call/packed.hpp"
#include "run/messages/tags.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

struct Operation {
  Operation() = default;
  Operation(const Call& call, int rank, int size) : packed(call, rank, size) {}

  Packed packed;
  std::shared_ptr<const void> kept;  ///< what the call points to and its caller gave away: an operator
  std::uint64_t number = 0;
  std::list<std::shared_ptr<Operation>>::iterator place;  ///< among those in flight, until it is finished
  bool uses_board = false;
  bool finished = false;
  std::exception_ptr error;
  std::optional<Activity> activity;
};

}  // namespace chasqui::run
