// SPDX-License-Identifier: MIT
// What can go wrong in a bulk-synchronous program, by name. Every fault stops the whole machine: all processors leave
// their program at their next sync or collective, and then run() throws the first fault.
#pragma once

#include <string>
#include <string_view>

#include "chasqui/base/error.hpp"

namespace chasqui::bsp {
/// What went wrong in a program.
enum class Fault {
  bad_rank,         ///< a message, put, get or root outside 0 .. size-1
  bad_put,          ///< a put outside the target's registered variable
  bad_get,          ///< a get outside the target's registered variable
  freed_variable,   ///< a variable used after it was freed, here or at the target
  not_ready,        ///< the result of a get read before the sync that brings it
  sync_mismatch,    ///< processors meet in one sync at different supersteps, or some never come
  deadlock,         ///< everybody waits for something that cannot come any more
  lost_messages,    ///< messages that no sync will deliver, or that arrived after their superstep
  open_submachine,  ///< a machine used while one of its submachines is open
  stack_overflow,   ///< a virtual processor used more stack than Options::stack_bytes
  resources,        ///< no memory, no disk, no threads
  program,          ///< the program of some processor threw an exception
};

std::string_view to_string(Fault fault);  ///< a few words

/// "bsp: <fault>: <who did what where, and the remedy>"
class MachineError : public Error {
 public:
  MachineError(Fault fault, const std::string& text);  ///< A fault with everything that is known of its place.
  Fault fault() const { return fault_; }               ///< which kind
  /// what() without the name of the fault.
  const std::string& text() const { return text_; }

 private:
  Fault fault_;
  std::string text_;
};

}  // namespace chasqui::bsp
