// SPDX-License-Identifier: MIT
// What the classical algorithms send, as rounds, root 0. Sizes are bytes of one rank's contribution.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/tune/rounds.hpp"

namespace chasqui::tune {

/// A tree with root 0; who serves whom, in order.
struct Tree {
  std::vector<std::vector<std::int32_t>> children;
  std::vector<std::int32_t> order;  ///< parents before children
};

Tree heap_tree(int P, std::int64_t fan);       ///< v serves fan·v + 1 .. fan·v + fan; fan P-1: the root serves all
Tree level_tree(int P, std::int64_t fan);      ///< the same shape, ranks dealt out in turn to the parents of a level
Tree chain_tree(int P, std::int64_t chains);   ///< the root serves the heads of so many chains of consecutive ranks
Tree near_binomial(int P);                     ///< v serves v + 2^j for 2^j > v, the nearest first
Tree knomial_tree(int P, std::int64_t radix);  ///< v serves v + m·radix^j below its lowest digit, the farthest first
Tree in_order_binary(int P);  ///< root P-1; every subtree is an interval of ranks, and its root the last of them

/// Bytes cut into segments of at most `segment` (0: one), whole doubles.
std::vector<double> cut(std::int64_t bytes, std::int64_t segment);
/// Bytes in `parts` chunks, whole doubles, the first ones longer.
std::vector<double> chunks(std::int64_t bytes, std::int64_t parts);

Rounds tree_broadcast(const Tree& tree, const std::vector<double>& segments);
Rounds tree_reduce(const Tree& tree, const std::vector<double>& segments);
/// The fold at rank P-1 of the in-order tree, and from there to rank 0.
Rounds in_order_reduce(int P, const std::vector<double>& segments);
Rounds split_binary_broadcast(int P, std::int64_t bytes, std::int64_t segment);
enum class Spread { ring, doubling };  ///< how an all-gather goes on; doubling: P a power of two
Rounds scatter_allgather(int P, std::int64_t bytes, Spread how);
Rounds reduce_scatter_gather(int P, std::int64_t bytes);  ///< reduce: recursive halving, then a binomial gather

Rounds reduce_then_broadcast(const Tree& tree, std::int64_t bytes);  ///< all-reduce
Rounds exchange_allreduce(int P, std::int64_t bytes, std::int64_t radix);
Rounds ring_allreduce(int P, std::int64_t bytes, std::int64_t segment);
Rounds rabenseifner(int P, std::int64_t bytes);

Rounds gather_then_broadcast(int P, std::int64_t bytes);  ///< all-gather
Rounds ring_allgather(int P, std::int64_t bytes);
Rounds neighbour_allgather(int P, std::int64_t bytes);  ///< REQUIRES P even
Rounds bruck_allgather(int P, std::int64_t bytes, std::int64_t radix);
Rounds doubling_allgather(int P, std::int64_t bytes);  ///< REQUIRES P a power of two

Rounds linear_alltoall(int P, std::int64_t bytes);
Rounds pairwise_alltoall(int P, std::int64_t bytes);
Rounds bruck_alltoall(int P, std::int64_t bytes);

Rounds linear_barrier(int P);
Rounds double_ring_barrier(int P);
Rounds exchange_barrier(int P, std::int64_t radix);
Rounds dissemination_barrier(int P);
Rounds tree_barrier(int P);

Rounds tree_gather(const Tree& tree, std::int64_t bytes);
Rounds asked_gather(int P, std::int64_t bytes);  ///< rank 0 asks one after another
Rounds tree_scatter(const Tree& tree, std::int64_t bytes);

Rounds reduce_then_scatter(int P, std::int64_t bytes);  ///< reduce-scatter
Rounds halving_reduce_scatter(int P, std::int64_t bytes);
Rounds ring_reduce_scatter(int P, std::int64_t bytes);
Rounds pairwise_reduce_scatter(int P, std::int64_t bytes);
Rounds doubling_reduce_scatter(int P, std::int64_t bytes);

Rounds chain_scan(int P, std::int64_t bytes);
Rounds doubling_scan(int P, std::int64_t bytes);

}  // namespace chasqui::tune
