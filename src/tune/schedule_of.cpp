// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>

#include "chasqui/base/error.hpp"
#include "chasqui/tune/rounds.hpp"

namespace chasqui::tune {
namespace {

using Sets = std::vector<std::vector<std::uint64_t>>;

std::uint64_t bit(int rank) { return std::uint64_t{1} << rank; }

/// What ranks have at the start of a phase.
Sets start_of(const Rounds& rounds, Kind kind) {
  const auto P = static_cast<std::size_t>(rounds.ranks);
  Sets has(P, std::vector<std::uint64_t>(rounds.item_bytes.size(), 0));
  for (std::size_t r = 0; r < P; ++r) {
    for (std::size_t i = 0; i < rounds.item_bytes.size(); ++i) {
      const bool owns =
          combines(kind) || (kind == Kind::alltoall                            ? i / P == r
                             : kind == Kind::allgather || kind == Kind::gather ? i / (rounds.item_bytes.size() / P) == r
                                                                               : r == 0);
      if (owns) has[r][i] = combines(kind) ? bit(static_cast<int>(r)) : ~std::uint64_t{0} >> (64 - P);
    }
  }
  return has;
}

void deliver(const Round& round, Sets& has) {
  const Sets before = has;  // all send before they receive
  for (const Message& message : round) {
    for (const std::int32_t item : message.items) {
      has[static_cast<std::size_t>(message.to)][static_cast<std::size_t>(item)] |=
          before[static_cast<std::size_t>(message.from)][static_cast<std::size_t>(item)];
    }
  }
}

/// The interval of ranks that a set is, cyclically; len 0: it is none.
Part interval(std::uint64_t set, int ranks) {
  const auto whole = ~std::uint64_t{0} >> (64 - ranks);
  if (set == whole) return {0, ranks};
  for (int lo = 0; lo < ranks; ++lo) {
    if (!(set & bit(lo)) || (set & bit((lo + ranks - 1) % ranks))) continue;
    int len = 0;
    while (set & bit((lo + len) % ranks)) ++len;
    return {lo, len == std::popcount(set) ? len : 0};
  }
  return {0, 0};
}

}  // namespace

Sets contributions(const Rounds& rounds, std::size_t first, std::size_t end) {
  CHASQUI_CHECK(rounds.ranks <= 64, "ranks={}", rounds.ranks);
  Sets has = start_of(rounds, rounds.kind);
  for (std::size_t i = first; i < std::min(end, rounds.list.size()); ++i) deliver(rounds.list[i], has);
  return has;
}

std::variant<Schedule, std::string> schedule_of(const Rounds& rounds, const LogGP& machine, int phase) {
  if (rounds.ranks > 64) return "more than 64 ranks";
  if (rounds.spread != 0 && phase == 0) return "an all-reduce by chunks is two schedules";
  std::size_t most = 0;
  for (const Round& round : rounds.list) {
    for (const Message& message : round) most = std::max(most, message.items.size());
  }
  for (const double bytes : rounds.item_bytes) {
    if (bytes != rounds.item_bytes.front()) return "items of several sizes";
  }
  const auto bytes = static_cast<std::int64_t>(std::max(1.0, rounds.item_bytes.front()));
  Schedule schedule;
  schedule.machine = segment_machine(machine, bytes);
  schedule.machine.P = rounds.ranks;
  const bool flows = machine.base.o == Time{0} && machine.base.g.ticks * machine.G_bytes == machine.G_ticks;
  if (most > 1 && !flows) return "messages of several items on a machine where starting a message costs something";
  const auto P = static_cast<std::size_t>(rounds.ranks);
  if (phase != 0 && rounds.item_bytes.size() % P != 0) return "chunks for some of the ranks only";
  const Kind kind = phase == 0 ? rounds.kind : phase == 1 ? Kind::reduce_scatter : Kind::allgather;
  schedule.problem.kind = kind;
  if (kind == Kind::broadcast || kind == Kind::reduce)
    schedule.problem.items = static_cast<std::int64_t>(rounds.item_bytes.size());
  if (phase != 0) schedule.problem.items = static_cast<std::int64_t>(rounds.item_bytes.size() / P);
  Rounds part = rounds;
  part.kind = kind;
  const std::size_t first = phase == 2 ? rounds.spread : 0, end = phase == 1 ? rounds.spread : rounds.list.size();
  part.list.assign(rounds.list.begin() + static_cast<std::ptrdiff_t>(first),
                   rounds.list.begin() + static_cast<std::ptrdiff_t>(end));
  std::vector<std::vector<double>> begins;
  play(part, network_of(machine), &begins);
  Sets has = start_of(part, kind);
  for (std::size_t i = 0; i < part.list.size(); ++i) {
    for (std::size_t m = 0; m < part.list[i].size(); ++m) {
      const Message& message = part.list[i][m];
      if (message.items.empty()) return "it has messages that carry nothing";
      Time begin{static_cast<std::int64_t>(begins[i][m])};
      for (const std::int32_t item : message.items) {
        Part carried{item, 1};
        if (!names_items(schedule.problem)) {
          carried = interval(has[static_cast<std::size_t>(message.from)][static_cast<std::size_t>(item)], rounds.ranks);
          if (carried.len == 0) return "its folds are no intervals of ranks";
        }
        schedule.sends.push_back({begin, {message.from}, {message.to}, carried});
        begin += schedule.machine.gap();
      }
    }
    deliver(part.list[i], has);
  }
  normalise(schedule);
  schedule.finish = actual_finish(schedule);
  return schedule;
}

}  // namespace chasqui::tune
