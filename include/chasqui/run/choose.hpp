// SPDX-License-Identifier: MIT
// Choosing how to run a collective: every method that applies is given a predicted time from the machine's profile,
// the least wins; where a board spans all ranks, from a table that every call looks up: there messages go through the same
// memory in more steps, and are never predicted faster. Pure functions of their arguments, so that every rank decides alike
// and `explain` says the truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/model/nearness.hpp"
#include "chasqui/model/problem.hpp"
#include "chasqui/model/profile.hpp"
#include "chasqui/run/call.hpp"

namespace chasqui::run {
/// What a choice depends on besides the machine.
struct Query {
  Kind kind = Kind::barrier;  ///< the collective
  std::size_t bytes = 0;      ///< of one rank's contribution
  std::size_t element = 1;    ///< bytes that must stay together
  bool commutative = true;    ///< may operands be reordered?
};

/// How the ranks of a communicator lie.
struct Topology {
  int ranks = 1;                                  ///< in all
  int nodes = 1;                                  ///< 1: the board, if there is one, spans all ranks
  int largest_node = 1;                           ///< ranks of the largest node
  int smallest_node = 1;                          ///< and of the smallest
  bool board = false;                             ///< do ranks of a node share a board?
  bool shares_memory = false;                     ///< threads: direct access to buffers
  bool cross_memory = false;                      ///< processes that may read and write each other's memory
  bool lends_pages = false;                       ///< and lend each other pages of it
  bool ordered = true;                            ///< nodes are intervals of ranks, in order
  bool messages = true;                           ///< point-to-point messages between all ranks
  bool native = true;                             ///< can the MPI library's own collectives be asked?
  std::size_t largest_element = ~std::size_t{0};  ///< bytes of an element that the board can fold
  std::optional<std::size_t>
      wide;  ///< bytes of a slot beside its lines; nothing: as boards of so many ranks usually have
  std::shared_ptr<const Nearness>
      near{};  ///< of one node: which ranks are near each other; none: all alike, or nobody knows

  bool board_spans() const { return board && nodes == 1; }  ///< all ranks are on one board
};
/// A method with its predicted time.
struct Choice {
  Method method = Method::tree;  ///< how
  double nanoseconds = 0;        ///< predicted
  std::int64_t parts = 1;        ///< items: how many; exchange, windows: radix of the circulant, 0: the plan's windows;
                                 ///< two_level: how many ranks of a node talk to other nodes side by side, at most
  std::string why;               ///< a few words for people
};

/// The level whose messages go between all ranks. REQUIRES a profile with a level.
const Level& message_level(const Topology& topology, const Profile& profile);

/// All that apply, the fastest first. Never empty.
std::vector<Choice> choices(const Query& query, const Topology& topology, const Profile& profile);

/// Why the predictions do not fit these ranks, with the remedy, in lines for people; none where they do.
std::vector<std::string> doubt_of(const Topology& topology, const Profile& profile);

/// Why so many ranks of a node talk to other nodes, or only one, in lines for people; none where it can only be one.
std::vector<std::string> reason_for_lanes(const Query& query, const Topology& topology, const Profile& profile);

/// The levels of a node with what a line costs inside them, and what a short collective takes by them and in one step, in lines for people; none
/// where all ranks are alike near each other, or nobody knows.
std::vector<std::string> reason_for_levels(const Query& query, const Topology& topology, const Profile& profile);

/// Several lines for people: the choice, its predicted time, the runners-up and why.
std::string explain(const Query& query, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
