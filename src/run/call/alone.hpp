// SPDX-License-Identifier: MIT
// A collective of one rank: at most a copy.
#pragma once

#include "chasqui/run/call.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::run {

/// REQUIRES a call that is right for one rank, in a contiguous layout. An exclusive scan leaves `out` as it is.
inline void run_alone(const Call& call) {
  const bool moves =
      call.kind != Kind::barrier && call.kind != Kind::broadcast && !(call.kind == Kind::scan && call.exclusive);
  if (moves && call.in != nullptr && call.out != nullptr) copy_bytes(call.out, call.in, call.bytes());
}

}  // namespace chasqui::run
