// SPDX-License-Identifier: MIT
#include "chasqui/schedule/unroll.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui {

Schedule unroll(const Schedule& stream, std::int64_t items) {
  CHASQUI_CHECK(stream.problem.kind == Kind::stream, "kind={}", to_string(stream.problem.kind));
  const std::int64_t step = stream.machine.gap().ticks;
  const std::int64_t per_period = stream.period.ticks / step;
  if (stream.period.ticks <= 0 || stream.period.ticks % step != 0) {
    throw Error("period={} of the stream is no positive multiple of its step {}", stream.period.ticks, step);
  }
  if (items < 1 || items > 2'000'000'000) throw Error("items={} is out of range: use 1..2·10^9", items);
  Schedule finite;
  finite.machine = stream.machine;
  finite.problem = {.kind = Kind::broadcast, .root = stream.problem.root, .items = items};
  for (const Send& send : stream.sends) {
    const std::int64_t j = send.part.lo;
    const std::int64_t first = ((j % per_period) + per_period) % per_period;
    for (std::int64_t item = first; item < items; item += per_period) {
      Send copy = send;
      copy.begin = send.begin + Time{(item - j) * step};
      copy.part.lo = static_cast<std::int32_t>(item);
      finite.finish = std::max(finite.finish, available(finite.machine, copy));
      finite.sends.push_back(copy);
    }
  }
  // The k-th item leaves k-1 steps after the first, and no item can be everywhere sooner than the stream's bound.
  finite.bound = stream.bound;
  normalise(finite);
  return finite;
}

}  // namespace chasqui
