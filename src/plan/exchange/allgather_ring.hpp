// SPDX-License-Identifier: MIT
// All-gather on a ring of classes: in block b every rank (class c, column i) passes the items of (c - b, i) on to all
// columns of class c + 1, one column a round, its own column first. What it passes on in block b it received in the
// first rounds of block b - 1. The last block brings a class its own items, so the first column is left out.
#pragma once

#include "chasqui/plan/plan.hpp"
#include "plan/exchange/ring_shape.hpp"

namespace chasqui::plan {

/// What both plans share: places on the ring, and messages from a class to the next.
class RingPlan : public Plan {
 public:
  RingPlan(const LogP& machine, const Problem& problem, Claim claim, RingShape ring)
      : Plan(machine, problem, std::move(claim)), ring_(std::move(ring)) {}

 protected:
  struct Place {
    std::int64_t c, i;
  };

  Place place(Rank rank) const;
  Rank rank(Place place) const { return Rank{static_cast<std::int32_t>(place.i * ring_.m + place.c)}; }
  bool exists(Place place) const { return place.i * ring_.m + place.c < machine_.P; }
  std::int64_t after(std::int64_t c) const { return c + 1 == ring_.m ? 0 : c + 1; }
  std::int64_t before(std::int64_t c) const { return c == 0 ? ring_.m - 1 : c - 1; }
  /// All items of `owner`, one each in rounds round*k .. round*k + k-1 of the block.
  void pass(std::vector<Send>& list, Place from, Place to, std::int64_t block, std::int64_t round, Place owner) const;

  RingShape ring_;
};

/// REQUIRES at most one rank over. With a lone rank in the last column, P = m*h + 1, class c > 0 has nobody there. Its
/// ranks pass the lone rank's items on in the rounds in which they would have sent to that empty place, to the
/// receivers that the missing sender would have served; class 0, where no place is empty, gets them in one round more
/// at the very end. Blocks alternate the direction in which the columns are served, so that such an item is passed on
/// in the round it was received in.
class RingAllgather final : public RingPlan {
 public:
  using RingPlan::RingPlan;

  LocalForm local(Rank rank) const override;
  Schedule schedule() const override;
};

/// REQUIRES 2 <= e < m ranks over: P = mh + e, the rest is column h of the classes 0 .. e-1.
/// The ranks of the full columns pass items on as in RingAllgather, to all h + 1 columns. A rank of the rest
/// sends only its own items, in block 0, to all of the next class. From then on every rank of a full column
/// passes them on to its own column in one round more, the last of each block: received and sent in the same
/// round, they never wait. At the very end the rest gets the items of the rest, one rank's a round, except
/// those of the class before, which came directly. All of it stays on the ring's lattice of send times, so no
/// overheads meet. It takes about 2m rounds more than a ring that comes out even.
class RestRingAllgather final : public RingPlan {
 public:
  using RingPlan::RingPlan;

  LocalForm local(Rank rank) const override;
  Schedule schedule() const override;

 private:
  std::int64_t full() const { return ring_.columns - 1; }
  void add_sends(Place me, std::vector<Send>& list) const;
  void add_receives(Place me, std::vector<Send>& list) const;
};

}  // namespace chasqui::plan
