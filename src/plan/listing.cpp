// SPDX-License-Identifier: MIT
#include "plan/listing.hpp"

#include "chasqui/base/error.hpp"
#include "chasqui/base/in_words.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostEvents = 2'000'000;
constexpr std::int64_t kMostOwnEvents = 10'000'000;

}  // namespace

bool listable(std::int64_t events) { return events <= kMostEvents; }

void require_listable(const Cluster& cluster, const Problem& problem, std::int64_t events) {
  if (listable(events)) return;
  throw Error("{} on {} has {} messages, publications and readings, too many to list (at most {}): ask for less",
              to_string(problem.kind), to_string(cluster), in_words(events), kMostEvents);
}

void require_own_list(Rank rank, std::int64_t events, std::string_view remedy) {
  if (events <= kMostOwnEvents) return;
  throw Error("rank {} alone has {} messages, publications and readings (at most {}): {}", rank.index, in_words(events),
              kMostOwnEvents, remedy);
}

}  // namespace chasqui::plan
