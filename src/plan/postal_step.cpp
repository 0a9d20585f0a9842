// SPDX-License-Identifier: MIT
#include "plan/postal_step.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {

std::vector<PostalStep> postal_steps(const LogP& machine) {
  const std::int64_t L = machine.L.ticks;
  const std::int64_t far = machine.lambda().ticks;
  const std::int64_t least = std::max({std::int64_t{1}, machine.g.ticks, 2 * machine.o.ticks});
  if (machine.o == Time{0}) return {{Time{least}, std::max<std::int64_t>(1, divide_up(far, least))}};
  std::vector<PostalStep> steps;
  // With latency c steps, c*q is the first multiple beyond L: it must be at least L+2o, and (c-1)*q at most L.
  constexpr std::size_t kMost = 4;
  for (std::int64_t c = L / least + 1; c >= 1 && steps.size() < kMost; --c) {
    const std::int64_t q = std::max(least, divide_up(far, c));
    if ((c - 1) * q <= L) steps.push_back({Time{q}, c});
  }
  if (steps.empty()) steps.push_back({Time{std::max(least, far)}, 1});
  return steps;
}

PostalStep step_of(const LogP& machine, const Stream& stream) {
  const std::vector<PostalStep> steps = postal_steps(machine);
  for (const PostalStep& step : steps) {
    if (step.L == stream.L() && stream.P() == machine.P) return step;
  }
  throw Error("{}: a stream of P={} and latency {} steps does not fit this machine; the shortest step has latency {}",
              to_string(machine), stream.P(), stream.L(), steps.front().L);
}

Send in_steps(const StreamMessage& message, PostalStep step) {
  const auto rank = [](std::int64_t index) { return Rank{static_cast<std::int32_t>(index)}; };
  return send_item(message.begin.ticks * step.step, rank(message.from), rank(message.to),
                   static_cast<std::int32_t>(message.item));
}

}  // namespace chasqui::plan
