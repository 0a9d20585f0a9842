// SPDX-License-Identifier: MIT
// Legal schedules made by the plainest means, without the planner: the verifier's tests must not lean on it.
#pragma once

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::examples {

/// Every informed rank sends as often as it may; the next rank is told as early as possible.
Schedule greedy_broadcast(const LogP& machine, Rank root);
/// The same backwards.
Schedule reversed_reduce(const LogP& machine, bool commutative);
/// The root sends item r to rank r, one after another.
Schedule star_scatter(const LogP& machine, Rank root);
/// Rank r sends to the root, one after another.
Schedule star_gather(const LogP& machine, Rank root);
/// Postal: rank i sends its item to i+1, i+2, …
Schedule rotating_allgather(std::int64_t P, Time L);
/// Round by round, rank i sends to i+d what it has for it.
Schedule rotating_alltoall(const LogP& machine, std::int64_t items);
/// The same with neighbours only: others pass items on.
Schedule alltoall_round_the_ring(const LogP& machine);
/// Item r is handed on from r+1 once round to r.
Schedule ring_reduce_scatter(const LogP& machine, std::int64_t items, bool commutative);
/// That with rank r's items, and then the results go on once round.
Schedule ring_allreduce(const LogP& machine, std::int64_t items, bool commutative);
/// Doubling windows that end at rank i, for every P; the last one without the sender's own value if need be.
Schedule doubling_allreduce(const LogP& machine);
/// Two windows instead of one that wraps.
Schedule ordered_allreduce(const LogP& machine);
Schedule doubling_scan(const LogP& machine, bool exclusive);
Schedule dissemination_barrier(const LogP& machine);
/// The root adds its own operands, then one value from each other rank, which holds two.
Schedule star_sum(const LogP& machine);
/// Postal, L=1, P=3: the root feeds rank 1, which feeds rank 2. Two steps are listed as the period.
Schedule small_stream();

}  // namespace chasqui::examples
