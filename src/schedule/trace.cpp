// SPDX-License-Identifier: MIT
#include "chasqui/schedule/trace.hpp"

namespace chasqui {

std::string to_string(CriticalStep::Reason reason) {
  switch (reason) {
    case CriticalStep::Reason::planned: return "waited for its planned time";
    case CriticalStep::Reason::start: return "began at once";
    case CriticalStep::Reason::data: return "waited for what it carries";
    case CriticalStep::Reason::send_gap: return "waited for the gap after the previous send";
    case CriticalStep::Reason::busy: return "waited for the processor";
    case CriticalStep::Reason::latency: return "was under way";
    case CriticalStep::Reason::receive_gap: return "waited for the gap after the previous reception";
  }
  return "unknown";
}

}  // namespace chasqui
