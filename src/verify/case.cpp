// SPDX-License-Identifier: MIT
#include "verify/case.hpp"

#include <tuple>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::verifier {
namespace {

struct LaneBuilder {
  std::vector<std::uint32_t> lane_of;
  std::vector<Event> events;

  explicit LaneBuilder(std::size_t size) {
    lane_of.reserve(size);
    events.reserve(size);
  }
  void add(std::size_t lane, std::int64_t time, std::uint32_t index) {
    lane_of.push_back(static_cast<std::uint32_t>(lane));
    events.push_back({time, index});
  }
  Lanes build(std::size_t lanes) { return Lanes(lanes, lane_of, std::move(events)); }
};

}  // namespace

Report Findings::report() && {
  std::stable_sort(found_.begin(), found_.end(), [](const Violation& a, const Violation& b) {
    return std::tie(a.rule, a.time, a.rank, a.message) < std::tie(b.rule, b.time, b.rank, b.message);
  });
  Report report;
  report.violations = std::move(found_);
  report.omitted = omitted_;
  return report;
}

Case::Case(const Schedule& schedule, const VerifyOptions& options, const WellFormed& usable)
    : schedule_(schedule), options_(options) {
  const std::vector<std::uint32_t>& usable_sends = usable.sends;
  const std::vector<std::uint32_t>& usable_adds = usable.adds;
  if (problem().kind == Kind::stream) period_ = schedule.period.ticks;
  std::vector<std::int32_t> mentioned{problem().root.index};
  mentioned.reserve(2 * usable_sends.size() + usable_adds.size() + 1);
  for (const std::uint32_t i : usable_sends) {
    mentioned.push_back(message(i).from.index);
    mentioned.push_back(message(i).to.index);
  }
  for (const std::uint32_t i : usable_adds) mentioned.push_back(schedule.adds[i].rank.index);
  for (const std::uint32_t i : usable.publications) mentioned.push_back(schedule.publications[i].rank.index);
  for (const std::uint32_t i : usable.readings) mentioned.push_back(schedule.readings[i].rank.index);
  ranks_ = Directory(machine().P, std::move(mentioned));

  const auto clock = [&](std::int64_t time) { return period_ > 0 ? modulo(time, period_) : time; };
  const std::int64_t flight = (machine().o + machine().L).ticks;
  LaneBuilder sends(usable_sends.size()), receptions(usable_sends.size()), adds(usable_adds.size());
  for (const std::uint32_t i : usable_sends) {
    const Send& send = message(i);
    sends.add(ranks_.id(send.from), clock(send.begin.ticks), i);
    receptions.add(ranks_.id(send.to), clock(send.begin.ticks + flight), i);
  }
  for (const std::uint32_t i : usable_adds) adds.add(ranks_.id(schedule.adds[i].rank), schedule.adds[i].begin.ticks, i);
  LaneBuilder publications(usable.publications.size()), readings(usable.readings.size());
  for (const std::uint32_t i : usable.publications)
    publications.add(ranks_.id(schedule.publications[i].rank), schedule.publications[i].begin.ticks, i);
  for (const std::uint32_t i : usable.readings)
    readings.add(ranks_.id(schedule.readings[i].rank), schedule.readings[i].begin.ticks, i);
  publications_ = publications.build(ranks_.count());
  readings_ = readings.build(ranks_.count());
  sends_ = sends.build(ranks_.count());
  adds_ = adds.build(ranks_.count());
  receptions_ = receptions.build(ranks_.count());
  if (buffered()) {
    received_ = play_ports(*this, receptions_);
    LaneBuilder played(usable_sends.size());
    for (const std::uint32_t i : usable_sends) played.add(ranks_.id(message(i).to), received_[i], i);
    receptions_ = played.build(ranks_.count());
  }
  finish_ = last_event();
}

std::int64_t Case::item(std::uint32_t index) const {
  if (problem().kind == Kind::alltoall) return message(index).item_number();
  const std::int64_t item = message(index).part.lo;
  return period_ > 0 ? modulo(item, item_count()) : item;
}

std::int64_t Case::begin(std::uint32_t index) const {
  const Send& send = message(index);
  return period_ > 0 ? send.begin.ticks - send.part.lo * machine().gap().ticks : send.begin.ticks;
}

std::int64_t Case::available(std::uint32_t index) const {
  return received_.empty() ? begin(index) + machine().lambda().ticks : received_[index] + machine().o.ticks;
}

std::int64_t Case::item_count() const {
  switch (problem().kind) {
    case Kind::broadcast: return problem().items;
    case Kind::stream: return period_ / machine().gap().ticks;
    case Kind::alltoall: return saturating_multiply(problem().items, saturating_multiply(machine().P, machine().P));
    default: return saturating_multiply(problem().items, machine().P);
  }
}

/// Items rk .. rk+k-1, in an all-to-all those for all ranks. Beyond 2^63 they cannot be named, let alone sent; a last one
/// stands for them.
Case::Items Case::share(Rank rank) const {
  const std::int64_t items =
      problem().kind == Kind::alltoall ? saturating_multiply(problem().items, machine().P) : problem().items;
  const std::int64_t first = std::min(kSaturated - 1, saturating_multiply(items, rank.index));
  return {first, saturating_add(first, items)};
}

Case::Items Case::owned(Rank rank) const {
  const Kind kind = problem().kind;
  if (kind == Kind::broadcast || kind == Kind::scatter || kind == Kind::stream) {
    return {0, rank == problem().root ? item_count() : 0};
  }
  return share(rank);
}

Case::Items Case::promised(Rank rank) const {
  if (problem().kind == Kind::scatter) return share(rank);
  if (problem().kind == Kind::gather) return {0, rank == problem().root ? item_count() : 0};
  return {0, item_count()};
}

std::int64_t Case::last_event() const {
  std::int64_t last = 0;
  for (std::size_t id = 0; id < ranks_.count(); ++id) {
    for (const Event& event : receptions_.of(id)) last = std::max(last, available(event.index));
    for (const Event& event : adds_.of(id)) last = std::max(last, event.time + schedule_.adds[event.index].count);
    for (const Event& event : readings_.of(id)) last = std::max(last, event.time + nodes().read.ticks);
  }
  return last;
}

}  // namespace chasqui::verifier
