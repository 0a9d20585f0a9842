// SPDX-License-Identifier: MIT
#include "chasqui/schedule/trace.hpp"

namespace chasqui {

Schedule as_played(const Trace& trace) {
  Schedule played = trace.schedule;
  for (std::size_t m = 0; m < played.sends.size(); ++m) played.sends[m].begin = trace.times[m].send;
  for (std::size_t a = 0; a < played.adds.size(); ++a) played.adds[a].begin = trace.add_begins[a];
  played.finish = trace.finish;
  normalise(played);
  return played;
}

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
