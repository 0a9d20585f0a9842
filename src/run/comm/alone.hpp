// SPDX-License-Identifier: MIT
// A collective of one rank.
#pragma once

#include "run/call/aligned_buffer.hpp"
#include "run/call/exchanged.hpp"

namespace chasqui::run {

/// At most a copy. REQUIRES good arguments in contiguous layouts. An exclusive scan leaves `out` as it is.
inline void run_alone(const Call& call) {
  if (call.uneven()) {
    const Gotten got = gotten_from(call, 0, 0);
    return copy_bytes(static_cast<std::byte*>(call.out) + got.at, given_to(call, 0), got.bytes);
  }
  const bool moves =
      call.kind != Kind::barrier && call.kind != Kind::broadcast && !(call.kind == Kind::scan && call.exclusive);
  if (moves && call.in != nullptr && call.out != nullptr) copy_bytes(call.out, call.in, call.bytes());
}

}  // namespace chasqui::run
