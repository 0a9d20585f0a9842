// SPDX-License-Identifier: MIT
// Latency 1, every P: k items in k - 1 + ceil(log2 P) steps, each message from a closed form. A hypercube of single ranks
// and pairs; docs/kernels.md, "Latency 1", has the construction and why it is legal.
#pragma once

#include <cstdint>
#include <optional>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan::kernel {

/// k items on a hypercube of 2^Q vertices, vertex 0 the source; step t uses dimension t mod Q in both directions.
class Cube {
 public:
  /// REQUIRES 1 <= Q <= 31, k >= 1.
  Cube(int dimensions, std::int64_t k) : Q_(dimensions), last_(k - 1) {}

  std::int64_t steps() const { return last_ + Q_; }
  std::uint32_t neighbour(std::uint32_t v, std::int64_t t) const { return v ^ (1U << (t % Q_)); }
  /// The item that v receives from its neighbour at step t, if any. Time: O(1).
  std::optional<std::int64_t> arrival(std::uint32_t v, std::int64_t t) const;
  /// Which member of a pair v deals with the outside as sender at step t; the other one is the receiver. Time: O(1).
  int sender(std::uint32_t v, std::int64_t t) const;
  int receiver(std::uint32_t v, std::int64_t t) const { return 1 - sender(v, t); }
  /// What `member` of a pair has and the other lacks when step t begins, if anything. Time: O(1).
  std::optional<std::int64_t> owed(std::uint32_t v, int member, std::int64_t t) const;

 private:
  /// Steps from t back to the last step before it whose dimension is set in v. REQUIRES v > 0.
  std::int64_t back(std::uint32_t v, std::int64_t t) const;
  /// Steps from t on to the next such step after it.
  std::int64_t ahead(std::uint32_t v, std::int64_t t) const;

  int Q_;
  std::int64_t last_;  ///< index of the last item
};

class TelephonePlan final : public Plan {
 public:
  /// `step`: ticks of a postal step, with latency 1. REQUIRES P >= 2.
  TelephonePlan(const LogP& machine, const Problem& problem, Claim claim, Time step);

  /// The index of the last step with a message: k - 2 + ceil(log2 P).
  static std::int64_t last_step(std::int64_t P, std::int64_t k);

  /// Time: O(1) per step.
  LocalForm local(Rank rank) const override;
  /// Time: O(kP).
  Schedule schedule() const override;

 private:
  /// A rank is a vertex, or one of the two members of a vertex.
  struct Place {
    std::uint32_t vertex = 0;
    int member = 0;
    bool paired = false;
  };

  Place place_of(Rank rank) const;
  Rank rank_of(std::uint32_t vertex, int member) const;
  bool paired(std::uint32_t vertex) const { return vertex >= 1 && vertex <= pairs_; }
  std::optional<Send> sent(const Place& place, std::int64_t t) const;
  std::optional<Send> received(const Place& place, std::int64_t t) const;
  Send message(std::int64_t t, Rank from, Rank to, std::int64_t item) const;

  std::uint32_t vertices_;
  std::uint32_t pairs_;  ///< vertices 1 .. pairs_ have two members
  Cube cube_;
  Time step_;
};

}  // namespace chasqui::plan::kernel
