// SPDX-License-Identifier: MIT
#include "plan/clusters/exchange/step_layout.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {
namespace {

/// So many ways to share out the publications are tried from either end.
constexpr std::int64_t kSharings = 32;
constexpr std::int64_t kStrides = 256;

/// A time in which the rank neither sends nor receives.
struct Pause {
  std::int64_t begin = 0, length = 0;

  /// How many events of so many ticks.
  std::int64_t room(std::int64_t ticks) const { return ticks == 0 ? kSaturated : length / ticks; }
  Pause without(std::int64_t ticks) const { return {begin + ticks, length - ticks}; }
};

/// The pauses of a step, which publications and readings share.
class Pauses {
 public:
  Pauses(const Nodes& nodes, const Pause& before, const Pause& after)
      : publish_(nodes.publish.ticks), read_(nodes.read.ticks), before_(before), after_(after) {}

  /// How many of the publications come before the reception, so that the readings fit too.
  std::optional<std::int64_t> early(std::int64_t publications, std::int64_t readings) const {
    const std::int64_t least = publications - std::min(publications, after_.room(publish_));
    const std::int64_t most = std::min(publications, before_.room(publish_));
    for (std::int64_t i = 0; i <= most - least && i < 2 * kSharings; ++i) {
      const std::int64_t early = i < kSharings ? least + i : most - (i - kSharings);
      if (fits(early, publications - early, readings)) return early;
    }
    return std::nullopt;
  }

  Slots publications(std::int64_t early) const { return {before_.begin, after_.begin, early, publish_}; }
  Slots readings(std::int64_t early, std::int64_t publications, std::int64_t wanted) const {
    const Pause before = before_.without(early * publish_), after = after_.without((publications - early) * publish_);
    return {before.begin, after.begin, std::min(wanted, before.room(read_)), read_};
  }

 private:
  bool fits(std::int64_t early, std::int64_t late, std::int64_t readings) const {
    const Pause before = before_.without(early * publish_), after = after_.without(late * publish_);
    return saturating_add(before.room(read_), after.room(read_)) >= readings;
  }

  std::int64_t publish_, read_;
  Pause before_, after_;  ///< the reception
};

}  // namespace

Receiving reception_in_step(const LogP& machine, std::int64_t length) {
  return {(machine.L + machine.o).ticks % length, machine.o.ticks};
}

std::optional<StepSlots> step_slots(const Cluster& cluster, std::int64_t length, const Receiving& receiving,
                                    std::int64_t publications, std::int64_t readings) {
  const std::int64_t o = cluster.base.o.ticks, end = receiving.begin + receiving.length;
  Pause before{o, receiving.begin - o}, after{end, length - end};
  if (o == 0)
    before = {0, 0}, after = {0, length};  // what takes no time fits anywhere, also into a publication (rule 4)
  if (before.length < 0 || after.length < 0) return std::nullopt;
  const Pauses pauses(cluster.nodes, before, after);
  const std::optional<std::int64_t> early = pauses.early(publications, readings);
  if (!early) return std::nullopt;
  return StepSlots{length, receiving, pauses.publications(*early), pauses.readings(*early, publications, readings)};
}

std::int64_t length_apart(const LogP& machine, std::int64_t least, std::int64_t away) {
  const std::int64_t there = (machine.L + machine.o).ticks;
  for (std::int64_t length = least;;) {
    // No multiple of the length may lie between there - away and there + away.
    const std::int64_t multiple = (there - away) / length + 1;
    if (multiple * length >= there + away) return length;
    length = divide_up(there + away, multiple);
  }
}

StepSlots short_step(const Cluster& cluster, std::int64_t least, std::int64_t publications, std::int64_t readings) {
  const LogP& machine = cluster.base;
  const std::int64_t p = cluster.nodes.publish.ticks, r = cluster.nodes.read.ticks, o = machine.o.ticks;
  const std::int64_t stride = 1 + std::max(p, r) / kStrides;
  for (std::int64_t length = std::max(least, 2 * o + publications * p + readings * r);; length += stride) {
    length = length_apart(machine, length, o);
    if (auto layout = step_slots(cluster, length, reception_in_step(machine, length), publications, readings))
      return *layout;
  }
}

}  // namespace chasqui::plan
