// SPDX-License-Identifier: MIT

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/model/loggp.hpp"

namespace chasqui {
namespace {

void require_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least) throw Error("{}={} is too small: it must be at least {}", name, value, least);
  if (value > most) throw Error("{}={} is too large: it must be at most {}", name, value, most);
}

}  // namespace

void validate(const LogP& machine) {
  require_range("P", machine.P, 1, kMaxProcessors);
  require_range("L", machine.L.ticks, 0, kMaxParameter);
  require_range("o", machine.o.ticks, 0, kMaxParameter);
  require_range("g", machine.g.ticks, 1, kMaxParameter);
  if (machine.lambda() == Time{0}) {
    throw Error("L=0 with o=0: a message must take time; make L or o at least 1 (use a finer unit of time)");
  }
}

std::string to_string(const LogP& machine) {
  return fmt::format("P={} L={} o={} g={}", machine.P, machine.L.ticks, machine.o.ticks, machine.g.ticks);
}

void validate(const LogGP& machine) {
  validate(machine.base);
  if (machine.G_ticks < 0 || machine.G_ticks > kMaxParameter) {
    throw Error("G={}/{} is out of range: its ticks must lie in 0..{}", machine.G_ticks, machine.G_bytes,
                kMaxParameter);
  }
  if (machine.G_bytes < 1 || machine.G_bytes > kMaxBytes) {
    throw Error("G={}/{} is out of range: its bytes must lie in 1..{}", machine.G_ticks, machine.G_bytes, kMaxBytes);
  }
}

LogP segment_machine(const LogGP& machine, std::int64_t bytes) {
  CHASQUI_CHECK(bytes >= 1, "bytes={}", bytes);
  const Time extra{divide_up(checked_multiply(bytes - 1, machine.G_ticks, "the time of a segment"), machine.G_bytes)};
  LogP segment = machine.base;
  segment.L += extra;
  segment.g = machine.base.gap() + extra;
  validate(segment);
  return segment;
}

std::string to_string(const LogGP& machine) {
  return fmt::format("{} G={}/{}", to_string(machine.base), machine.G_ticks, machine.G_bytes);
}

}  // namespace chasqui
