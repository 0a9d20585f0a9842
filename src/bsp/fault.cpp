// SPDX-License-Identifier: MIT
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp {

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::bad_rank: return "bad rank";
    case Fault::bad_put: return "put outside a variable";
    case Fault::bad_get: return "get outside a variable";
    case Fault::freed_variable: return "use after free";
    case Fault::not_ready: return "get not ready";
    case Fault::sync_mismatch: return "sync mismatch";
    case Fault::deadlock: return "deadlock";
    case Fault::lost_messages: return "lost messages";
    case Fault::open_submachine: return "open submachine";
    case Fault::stack_overflow: return "stack overflow";
    case Fault::resources: return "out of resources";
    case Fault::program: return "program failed";
  }
  return "unknown fault";
}

MachineError::MachineError(Fault fault, const std::string& text)
    : Error("bsp: {}: {}", to_string(fault), text), fault_(fault), text_(text) {}

}  // namespace chasqui::bsp
