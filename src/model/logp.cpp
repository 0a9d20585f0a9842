// SPDX-License-Identifier: MIT
#include "chasqui/model/logp.hpp"

#include "chasqui/base/error.hpp"

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

}  // namespace chasqui
