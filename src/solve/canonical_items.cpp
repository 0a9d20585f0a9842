// SPDX-License-Identifier: MIT
// The renaming behind the symmetry breaking of encode_items.cpp.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "solve/encode.hpp"

namespace chasqui::solve {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// new_number[x]: the place of x when sorted by `key`, ties by number.
std::vector<std::int32_t> places(const std::vector<std::int64_t>& key) {
  std::vector<std::int32_t> order(key.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
  });
  std::vector<std::int32_t> place(key.size());
  for (std::size_t n = 0; n < order.size(); ++n)
    place[static_cast<std::size_t>(order[n])] = static_cast<std::int32_t>(n);
  return place;
}

void rename_items(Schedule& schedule, const std::vector<std::int32_t>& place) {
  for (Send& send : schedule.sends) send.part.lo = place[static_cast<std::size_t>(send.part.lo)];
}

void rename_ranks(Schedule& schedule, const std::vector<std::int32_t>& place) {
  for (Send& send : schedule.sends) {
    send.from = Rank{place[static_cast<std::size_t>(send.from.index)]};
    send.to = Rank{place[static_cast<std::size_t>(send.to.index)]};
  }
}

/// First begin of a send that `key` files under a number.
template <typename Key>
std::vector<std::int64_t> first_begin(const Schedule& schedule, std::int64_t numbers, Key key) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(numbers), kNever);
  for (const Send& send : schedule.sends) {
    if (const std::int64_t number = key(send); number >= 0) {
      std::int64_t& begin = first[static_cast<std::size_t>(number)];
      begin = std::min(begin, send.begin.ticks);
    }
  }
  return first;
}

/// Ranks other than the root by reception of item 0; the root keeps its number.
void order_by_reception(const Instance& instance, Schedule& schedule) {
  const Rank root = instance.problem.root;
  const auto first = first_begin(schedule, instance.machine.P,
                                 [](const Send& s) { return s.part.lo == 0 ? s.to.index : std::int64_t{-1}; });
  std::vector<std::int64_t> others;
  for (std::int64_t p = 0; p < instance.machine.P; ++p) {
    if (p != root.index) others.push_back(first[static_cast<std::size_t>(p)]);
  }
  const std::vector<std::int32_t> rank = places(others);
  std::vector<std::int32_t> place;
  for (std::int32_t p = 0, n = 0; p < instance.machine.P; ++p) {
    if (p == root.index) {
      place.push_back(p);
    } else {
      const std::int32_t to = rank[static_cast<std::size_t>(n++)];
      place.push_back(to < root.index ? to : to + 1);
    }
  }
  rename_ranks(schedule, place);
}

/// A rank that sends first becomes rank 0, the items of each rank are numbered by the owner's first send, and then the other
/// ranks by the reception of item 0.
void order_allgather(const Instance& instance, Schedule& schedule) {
  const std::int64_t k = instance.problem.items;
  const auto rename = [&](const std::vector<std::int32_t>& rank) {
    rename_ranks(schedule, rank);
    std::vector<std::int32_t> item(static_cast<std::size_t>(instance.machine.P * k));
    for (std::size_t i = 0; i < item.size(); ++i) {
      const std::size_t own = i / static_cast<std::size_t>(k);
      item[i] = static_cast<std::int32_t>(rank[own] * k + static_cast<std::int64_t>(i) % k);
    }
    rename_items(schedule, item);
  };
  rename(places(first_begin(schedule, instance.machine.P, [](const Send& s) { return s.from.index; })));
  const auto first = first_begin(schedule, instance.machine.P * k, [&](const Send& s) {
    return owner(instance, s.part.lo) == s.from ? std::int64_t{s.part.lo} : std::int64_t{-1};
  });
  std::vector<std::int32_t> item;
  for (std::int64_t p = 0; p < instance.machine.P; ++p) {
    const auto begin = first.begin() + static_cast<std::ptrdiff_t>(p * k);
    for (const std::int32_t place : places({begin, begin + k}))
      item.push_back(static_cast<std::int32_t>(p * k) + place);
  }
  rename_items(schedule, item);
  auto received = first_begin(schedule, instance.machine.P,
                              [](const Send& s) { return s.part.lo == 0 ? s.to.index : std::int64_t{-1}; });
  received[0] = -1;  // rank 0 stays
  rename(places(received));
}

}  // namespace

Schedule canonical_items(const Instance& instance, Schedule schedule) {
  if (schedule.sends.empty()) return schedule;
  if (instance.problem.kind == Kind::stream) {
    const std::int64_t items = item_count(instance);
    for (Send& send : schedule.sends) {  // the representative whose item is in the first period
      const std::int64_t number = send.part.lo;
      const std::int64_t periods = number >= 0 ? number / items : -((items - 1 - number) / items);
      send.part.lo = static_cast<std::int32_t>(number - periods * items);
      send.begin -= periods * instance.period;
    }
    order_by_reception(instance, schedule);
    return schedule;
  }
  Time begin = schedule.sends.front().begin;
  for (const Send& send : schedule.sends) begin = std::min(begin, send.begin);
  for (Send& send : schedule.sends) send.begin -= begin;
  schedule.finish -= begin;
  if (instance.problem.kind == Kind::allgather) {
    order_allgather(instance, schedule);
    return schedule;
  }
  rename_items(schedule, places(first_begin(schedule, instance.problem.items, [&](const Send& s) {
                 return s.from == instance.problem.root ? std::int64_t{s.part.lo} : std::int64_t{-1};
               })));
  order_by_reception(instance, schedule);
  return schedule;
}

}  // namespace chasqui::solve
