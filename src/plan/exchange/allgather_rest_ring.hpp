// SPDX-License-Identifier: MIT
// All-gather on a ring of m classes with 2 <= e < m ranks over: P = mh + e, the rest is column h of the
// classes 0 .. e-1.
#pragma once

#include "chasqui/plan/plan.hpp"
#include "plan/exchange/ring_shape.hpp"

namespace chasqui::plan {

/// The ranks of the full columns pass items on as in RingAllgather, to all h + 1 columns. A rank of the rest
/// sends only its own items, in block 0, to all of the next class. From then on every rank of a full column
/// passes them on to its own column in one round more, the last of each block: received and sent in the same
/// round, they never wait. At the very end the rest gets the items of the rest, one rank's a round, except
/// those of the class before, which came directly. All of it stays on the ring's lattice of send times, so no
/// overheads meet. It takes about 2m rounds more than a ring that comes out even.
class RestRingAllgather final : public Plan {
 public:
  RestRingAllgather(const LogP& machine, const Problem& problem, Claim claim, RingShape ring)
      : Plan(machine, problem, std::move(claim)), ring_(std::move(ring)) {}

  LocalForm local(Rank rank) const override;
  Schedule schedule() const override;

 private:
  std::int64_t full() const { return ring_.columns - 1; }
  bool exists(std::int64_t c, std::int64_t i) const { return i < full() || c < ring_.rest; }
  std::int64_t next(std::int64_t c) const { return c + 1 == ring_.m ? 0 : c + 1; }
  std::int64_t previous(std::int64_t c) const { return c == 0 ? ring_.m - 1 : c - 1; }
  /// The items of the owner, in rounds round*k .. round*k + k-1 of the block.
  void pass(std::vector<Send>& list, std::int64_t c, std::int64_t from, std::int64_t to, std::int64_t block,
            std::int64_t round, std::int64_t owner_class, std::int64_t owner_column) const;
  void local_sends(std::int64_t c, std::int64_t i, std::vector<Send>& list) const;
  void local_receives(std::int64_t c, std::int64_t i, std::vector<Send>& list) const;

  RingShape ring_;
};

}  // namespace chasqui::plan
