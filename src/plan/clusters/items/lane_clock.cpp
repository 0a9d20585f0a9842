// SPDX-License-Identifier: MIT
#include "plan/clusters/items/lane_clock.hpp"

#include <algorithm>
#include <utility>

namespace chasqui::plan {
namespace {

/// Something that happens once in every step, on some lane's behalf.
struct InEveryStep {
  std::int64_t phase = 0, lane = 0;

  friend auto operator<=>(const InEveryStep&, const InEveryStep&) = default;
};

/// From each publication's end to the begin of the slot in which it is read: first come, first read. As many slots as publications; what is
/// published in the same step every time is read in the same slot every time. Fills `waits` by lane.
void match(std::vector<InEveryStep> published, std::vector<std::int64_t> slots, std::int64_t length,
           std::vector<std::int64_t>& waits) {
  std::sort(published.begin(), published.end());
  std::sort(slots.begin(), slots.end());
  const std::size_t m = slots.size();
  // Publication i is read in slot i + lag, which may be one of the next step: the least lag with which none is read too early.
  std::size_t before = 0, lag = 0;
  for (std::size_t i = 0; i < m; ++i) {
    while (before < m && published[before].phase <= slots[i]) ++before;
    if (i + 1 > before) lag = std::max(lag, i + 1 - before);
  }
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t slot = i + lag;
    const std::int64_t begin = slots[slot % m] + (slot >= m ? length : 0);
    waits[static_cast<std::size_t>(published[i].lane)] = begin - published[i].phase;
  }
}

/// Of a rank that has nothing else to do: as soon as something is published, one reading after another.
std::vector<std::int64_t> free_slots(std::vector<InEveryStep> published, std::int64_t read, std::int64_t length) {
  std::sort(published.begin(), published.end());
  std::vector<std::int64_t> slots;
  for (const InEveryStep& each : published)
    slots.push_back(slots.empty() ? each.phase : std::max(each.phase, slots.back() + read));
  // What reaches into the next step pushes those at its begin.
  std::int64_t busy = slots.back() + read - length;
  for (std::size_t i = 0; i < slots.size() && slots[i] < busy; ++i, busy += read) slots[i] = busy;
  for (std::int64_t& slot : slots) slot %= length;
  return slots;
}

}  // namespace

LaneClock::LaneClock(const Cluster& cluster, std::vector<std::int64_t> shifts, const StepSlots& step)
    : shifts_(std::move(shifts)), step_(step), n_(cluster.nodes.largest()), o_(cluster.base.o.ticks),
      p_(cluster.nodes.publish.ticks), r_(cluster.nodes.read.ticks), lambda_(cluster.base.lambda().ticks) {
  if (n_ == 1) return;
  if (o_ == 0) board_begin_ = step_.receiving.begin;  // messages are in nobody's way: publish what arrives at once
  publication_ = modulo(p_ > 0 ? board_begin_ + step_.publications.at(0) : lambda_, length());
  wait_to_publish_ = modulo(publication_ - lambda_, length());
}

std::vector<std::int64_t> LaneClock::waits(std::int64_t place, bool home) const {
  std::vector<std::int64_t> all(shifts_.size(), 0);
  if (r_ == 0) return all;  // what takes no time fits anywhere (rule 4)
  std::vector<InEveryStep> published;
  for (std::int64_t lane = 0; lane < lanes(); ++lane) {
    const std::int64_t end = home ? end_at_home(lane) : shift(lane) + publication_ + p_;
    if (lane != place) published.push_back({modulo(end, length()), lane});
  }
  match(published, place < lanes() ? own_slots(place, home) : free_slots(published, r_, length()), length(), all);
  return all;
}

std::vector<std::int64_t> LaneClock::last_waits(bool home) const {
  std::vector<std::int64_t> last(shifts_.size(), 0);
  for (std::int64_t place = home ? 1 : 0; place < std::min(n_, lanes() + 1); ++place) {
    const std::vector<std::int64_t> own = waits(place, home);
    for (std::size_t i = 0; i < last.size(); ++i) last[i] = std::max(last[i], own[i]);
  }
  return last;
}

std::vector<std::int64_t> LaneClock::own_slots(std::int64_t lane, bool home) const {
  std::vector<std::int64_t> slots;
  for (std::int64_t i = 0; i + 1 < lanes(); ++i) {
    const std::int64_t slot = home ? o_ + i * r_ : board_begin_ + step_.readings.at(i);
    slots.push_back(modulo(shift(lane) + slot, length()));
  }
  return slots;
}

std::vector<std::int64_t> shifts_from_home(const Cluster& cluster, std::int64_t lanes, std::int64_t length) {
  const std::int64_t gamma = cluster.nodes.gamma.ticks;
  std::vector<std::int64_t> close{0}, even{0};
  for (std::int64_t lane = 1; lane < lanes; ++lane) {
    const std::int64_t read = (cluster.base.o + cluster.nodes.read).ticks + lane * cluster.nodes.publish.ticks;
    close.push_back(std::max(read, close.back() + gamma));
    even.push_back(lane * gamma + divide_up(std::max<std::int64_t>(0, read - lane * gamma), length) * length);
  }
  return lanes == 1 || (close.back() + gamma <= length && close.back() <= even.back()) ? close : even;
}

}  // namespace chasqui::plan
