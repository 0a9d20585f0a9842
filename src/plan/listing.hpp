// SPDX-License-Identifier: MIT
// What may be made a list of, and in which order: the limits of plans that answer for one rank of a billion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

/// May a plan of so many messages, publications and readings be a list?
bool listable(std::int64_t events);
/// Throws an Error where it may not.
void require_listable(const Cluster& cluster, const Problem& problem, std::int64_t events);
/// Throws an Error with this remedy where one rank has too much to do to list it.
void require_own_list(Rank rank, std::int64_t events, std::string_view remedy);

inline Part item_part(std::int64_t item) { return {static_cast<std::int32_t>(item), 1}; }

/// What a rank does, each list by time.
inline LocalForm in_order(LocalForm form) {
  const auto sort = [](auto& events) {  // most are in order already, and a rank may have millions
    if (!std::is_sorted(events.begin(), events.end())) std::sort(events.begin(), events.end());
  };
  sort(form.sends);
  sort(form.receives);
  sort(form.publications);
  sort(form.readings);
  return form;
}

}  // namespace chasqui::plan
