// SPDX-License-Identifier: MIT
// What the classical algorithms send, as rounds, root 0. A pattern says who sends which items when; which items there are follows from
// the collective, unless a pattern cuts the message in its own way.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "chasqui/tune/rounds.hpp"

namespace chasqui::tune {

/// What rounds depend on.
struct Case {
  int P = 2;
  std::int64_t bytes = 0;    ///< of one rank's contribution
  std::int64_t fan = 0;      ///< fan-out, radix or number of chains
  std::int64_t segment = 0;  ///< bytes; 0: not cut
};

using Items = std::vector<std::int32_t>;

/// A tree with root 0; who serves whom, in order.
struct Tree {
  std::vector<Items> children;
  Items order;  ///< parents before children
};

Tree flat(const Case& c);           ///< the root serves all
Tree heap(const Case& c);           ///< v serves fan·v + 1 .. fan·v + fan
Tree binary_heap(const Case& c);    ///< the same, of two
Tree levels(const Case& c);         ///< the shape of a binary heap, ranks dealt out in turn to the parents of a level
Tree chains(const Case& c);         ///< the root serves the heads of `fan` chains of consecutive ranks
Tree pipeline(const Case& c);       ///< one chain
Tree near_binomial(const Case& c);  ///< v serves v + 2^j for 2^j > v, the nearest first
Tree binomial(const Case& c);       ///< v serves v + 2^j below its lowest digit, the farthest first
Tree knomial(const Case& c);        ///< the same to the base 4: v serves v + m·4^j
Tree in_order_binary(
    const Case& c);  ///< root P-1; every subtree is an interval of ranks, and its root the last of them

/// Rounds in the making.
class Builder {
 public:
  /// With the items of the collective: segments of the message, a block for each rank or pair of ranks, or the one value.
  Builder(Kind kind, const Case& c);
  /// Other items; before the first round.
  void items(std::vector<double> bytes) { rounds_.item_bytes = std::move(bytes); }
  Items all() const;  ///< items

  void round() { rounds_.list.emplace_back(); }
  /// In the round that is open.
  void send(int from, int to, Items items, bool folds = false);
  /// In a round of its own.
  void alone(int from, int to, Items items, bool folds = false) {
    round();
    send(from, to, std::move(items), folds);
  }
  void spread_from_here() { rounds_.spread = rounds_.list.size(); }
  Rounds take() { return std::move(rounds_); }

 private:
  Rounds rounds_;
};

void down(Builder& builder, const Tree& tree);     ///< item by item
void up(Builder& builder, const Tree& tree);       ///< item by item, folded; a parent takes what comes as it arrives
void deal(Builder& builder, const Tree& tree);     ///< to each child the blocks of the ranks below it
void collect(Builder& builder, const Tree& tree);  ///< from each child the blocks of the ranks below it

/// A step along a tree as a pattern.
template <void (*step)(Builder&, const Tree&), Tree (*tree)(const Case&)>
void along(Builder& builder, const Case& c) {
  step(builder, tree(c));
}
template <Tree (*tree)(const Case&)>
void up_and_down(Builder& builder, const Case& c) {
  up(builder, tree(c));
  down(builder, tree(c));
}

using Pattern = void(Builder& builder, const Case& c);
Pattern in_order_reduce;         ///< the fold at rank P-1 of the in-order tree, and from there to rank 0
Pattern split_binary_broadcast;  ///< halves of the message down the sides of a binary tree, then exchanged
Pattern scatter_ring;            ///< a broadcast: a binomial scatter, then a ring
Pattern scatter_doubling;        ///< REQUIRES P a power of two
Pattern reduce_scatter_gather;   ///< reduce: recursive halving, then a binomial gather
Pattern exchange;                ///< everybody folds with everybody, in groups of two
Pattern exchange_by_radix;       ///< … in groups of `fan`
Pattern ring_allreduce;
Pattern rabenseifner;
Pattern gather_then_broadcast;
Pattern ring_allgather;
Pattern neighbour_allgather;  ///< REQUIRES P even
Pattern bruck_allgather;
Pattern doubling_allgather;  ///< REQUIRES P a power of two
Pattern linear_alltoall;
Pattern pairwise_alltoall;
Pattern bruck_alltoall;
Pattern double_ring_barrier;
Pattern dissemination_barrier;
Pattern asked_gather;  ///< rank 0 asks one after another
Pattern reduce_then_scatter;
Pattern halving_reduce_scatter;
Pattern ring_reduce_scatter;
Pattern pairwise_reduce_scatter;
Pattern doubling_reduce_scatter;
Pattern chain_scan;
Pattern doubling_scan;

}  // namespace chasqui::tune
