// SPDX-License-Identifier: MIT
// All-gather on a ring of classes: in block b every rank (class c, column i) passes the items of (c - b, i)
// on to all columns of class c + 1, one column a round, its own column first. What it passes on in block b it
// received in the first rounds of block b - 1. The last block brings a class its own items, so the first
// column is left out.
#pragma once

#include "chasqui/plan/plan.hpp"
#include "plan/exchange/ring_shape.hpp"

namespace chasqui::plan {

/// REQUIRES at most one rank over (allgather_rest_ring.hpp has the other cases). With a lone rank in the last
/// column, P = m*h + 1, class c > 0 has nobody there. Its ranks pass the lone rank's items on in the rounds
/// in which they would have sent to that empty place, to the receivers that the missing sender would have
/// served; class 0, where no place is empty, gets them in one round more at the very end. Blocks alternate
/// the direction in which the columns are served, so that such an item is passed on in the round it was
/// received in.
class RingAllgather final : public Plan {
 public:
  RingAllgather(const LogP& machine, const Problem& problem, Claim claim, RingShape ring)
      : Plan(machine, problem, std::move(claim)), ring_(std::move(ring)) {}

  LocalForm local(Rank rank) const override;
  Schedule schedule() const override;

 private:
  struct Place {
    std::int64_t c, i;
  };

  Place place(Rank rank) const { return {rank.index % ring_.m, rank.index / ring_.m}; }
  Rank rank(Place place) const { return Rank{static_cast<std::int32_t>(place.i * ring_.m + place.c)}; }
  bool exists(Place place) const { return place.i * ring_.m + place.c < machine_.P; }
  std::int64_t after(std::int64_t c) const { return c + 1 == ring_.m ? 0 : c + 1; }
  std::int64_t before(std::int64_t c) const { return c == 0 ? ring_.m - 1 : c - 1; }
  Time when(std::int64_t c, std::int64_t block, std::int64_t round) const;
  void pass(std::vector<Send>& list, Place from, Place to, std::int64_t block, std::int64_t round, Place owner) const;

  RingShape ring_;
};

}  // namespace chasqui::plan
