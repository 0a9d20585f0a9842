// SPDX-License-Identifier: MIT
#include "chasqui/model/loggp.hpp"

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui {

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
