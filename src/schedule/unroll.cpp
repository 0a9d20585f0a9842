// SPDX-License-Identifier: MIT
#include "chasqui/schedule/unroll.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

constexpr std::size_t kMostFirst = 20'000;
constexpr std::int64_t kMostUnrolled = 10'000'000;  ///< messages

/// Calls visit(send) for the repetitions of every listed send, from its first item on, as long as it answers true and the
/// numbers fit. REQUIRES period >= step.
template <typename Visit>
void repeat(const Schedule& stream, std::int64_t per_period, Visit visit) {
  for (const Send& listed : stream.sends) {
    for (std::int64_t item = modulo(listed.part.lo, per_period);; item += per_period) {
      std::int64_t shift = 0;
      if (__builtin_mul_overflow((item - listed.part.lo) / per_period, stream.period.ticks, &shift)) break;
      if (std::abs(shift) > kMaxTime || item > std::numeric_limits<std::int32_t>::max()) break;
      if (!visit(send_item(listed.begin + Time{shift}, listed.from, listed.to, static_cast<std::int32_t>(item)))) break;
    }
  }
}

}  // namespace

Schedule unroll(const Schedule& stream, std::int64_t items) {
  CHASQUI_CHECK(stream.problem.kind == Kind::stream, "kind={}", to_string(stream.problem.kind));
  const std::int64_t step = stream.machine.gap().ticks;
  if (stream.period.ticks <= 0 || stream.period.ticks % step != 0) {
    throw Error("period={} of the stream is no positive multiple of its step {}", stream.period.ticks, step);
  }
  const std::int64_t most = kMostUnrolled / std::max<std::int64_t>(stream.machine.P - 1, 1);
  if (items < 1 || items > most)
    throw Error("items={} is out of range: use 1..{}, as {} messages are the most", items, most, kMostUnrolled);
  Schedule finite;
  finite.machine = stream.machine;
  finite.problem = {.kind = Kind::broadcast, .root = stream.problem.root, .items = items};
  repeat(stream, stream.period.ticks / step, [&](const Send& send) {
    if (send.part.lo >= items) return false;
    finite.finish = std::max(finite.finish, available(finite.machine, send));
    finite.sends.push_back(send);
    return true;
  });
  // The k-th item leaves k-1 steps after the first, and no item can be everywhere sooner than the stream's bound.
  finite.bound = stream.bound;
  normalise(finite);
  return finite;
}

Schedule unroll_first_items(const Schedule& schedule) {
  Schedule result = schedule;
  const std::int64_t period = schedule.period.ticks, step = schedule.machine.gap().ticks;
  if (schedule.problem.kind != Kind::stream || period < step || step < 1) return result;
  result.sends.clear();
  const std::int64_t horizon = schedule.delay.ticks + period;
  std::int64_t last_item = 0;
  repeat(schedule, period / step, [&](const Send& send) {
    if (result.sends.size() >= kMostFirst || available(schedule.machine, send).ticks > horizon) return false;
    last_item = std::max<std::int64_t>(last_item, send.part.lo);
    result.sends.push_back(send);
    return true;
  });
  result.problem.items = last_item + 1;
  normalise(result);
  return result;
}

}  // namespace chasqui
