// SPDX-License-Identifier: MIT
// The second half of an all-gather found by its traffic: which item each message carries, and the search that uses both halves.
#pragma once

#include <optional>

#include "chasqui/schedule/schedule.hpp"
#include "chasqui/solve/instance.hpp"
#include "solve/search.hpp"
#include "solve/traffic.hpp"

namespace chasqui::solve {

/// Enough for every instance of the atlas; about a minute and 500 MB at worst.
inline constexpr std::int64_t kMostMoments = 30'000'000;

/// Has the instance a traffic that can be counted? All-gather with overhead.
bool has_traffic(const Instance& instance);

/// Can the ports alone finish by T?
TrafficCount count_traffic(const Instance& instance, Time T, const Stop& stop = {});

/// A schedule with this traffic: senders matched with receivers, and an item for every message. Empty: there is none, or `conflicts` of the
/// SAT solver were not enough.
std::optional<Schedule> schedule_with(const Instance& instance, const Traffic& traffic, std::int64_t conflicts,
                                      const Stop& stop);

/// Raises the bound as long as there is no traffic, then looks for a schedule that meets it among random traffics. Leaves the search as it is
/// where that does not help.
void search_by_traffic(Search& search);

}  // namespace chasqui::solve
