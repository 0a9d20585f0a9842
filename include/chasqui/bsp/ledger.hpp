// SPDX-License-Identifier: MIT
// The cost ledger: what every superstep of every (sub)machine cost, as plain values. Predictions for machine
// descriptions are in chasqui/bsp/predict.hpp, files in chasqui/bsp/ledger_file.hpp.
#pragma once

#include <cstdint>
#include <vector>

namespace chasqui::bsp {

/// One processor in one superstep.
struct Row {
  std::uint64_t step = 0;  ///< superstep, from 0
  std::int64_t rank = 0;
  std::int64_t nanoseconds = 0;    ///< measured between two syncs
  std::int64_t work = 0;           ///< what the program charged with World::charge
  std::int64_t sent_messages = 0;  ///< sends, puts, requests and replies of gets, messages of collectives
  std::int64_t sent_blocks = 0;    ///< blocks they were packed into
  std::int64_t sent_bytes = 0;     ///< what the program put into them
  std::int64_t received_messages = 0;
  std::int64_t received_blocks = 0;
  std::int64_t received_bytes = 0;

  friend bool operator==(const Row&, const Row&) = default;
};

/// One superstep of one machine: maxima over its processors, and totals.
struct Superstep {
  std::int64_t nanoseconds = 0;  ///< w, measured: the most any processor computed
  std::int64_t work = 0;         ///< w, charged
  std::int64_t messages = 0;     ///< h of BSP: the most messages any processor sent or received
  std::int64_t blocks = 0;       ///< h of BSP*: the most blocks (start-ups)
  std::int64_t bytes = 0;        ///< s of BSP*, in bytes
  std::int64_t total_messages = 0;
  std::int64_t total_blocks = 0;
  std::int64_t total_bytes = 0;
  std::int64_t span_nanoseconds = 0;  ///< measured from the end of the superstep before to the end of this one
  std::vector<Row> rows;              ///< only with Options::per_processor_costs

  friend bool operator==(const Superstep&, const Superstep&) = default;
};

/// A machine or submachine: where it was split off, and its supersteps.
struct MachineCosts {
  std::uint64_t id = 0;      ///< other machines name it as their parent
  std::uint64_t parent = 0;  ///< 0: this is the whole machine
  std::uint64_t split = 0;   ///< submachines of one split run side by side; splits follow each other
  std::int64_t size = 1;
  std::vector<Superstep> supersteps;  ///< by number

  friend bool operator==(const MachineCosts&, const MachineCosts&) = default;
};
/// What a run cost, superstep by superstep and machine by machine.
struct Ledger {
  std::int64_t processors = 1;
  double seconds = 0;                  ///< wall clock of the run
  std::vector<MachineCosts> machines;  ///< the whole machine first, parents before children

  friend bool operator==(const Ledger&, const Ledger&) = default;
};

/// Takes one processor's row into the superstep.
void merge(Superstep& step, const Row& row, bool keep_row);
void merge(MachineCosts& machine, const Row& row, bool keep_row);  ///< into the one that the row names

/// Takes another account of the same superstep in (rows are appended).
void merge(Superstep& step, const Superstep& other);

/// Takes another account of the same machine in (rows are appended).
void merge(MachineCosts& machine, const MachineCosts& other);

/// The machines in the ledger's order: a tree in preorder, without submachines that neither synchronised nor
/// have submachines that did. Rows go by rank.
std::vector<MachineCosts> arrange(std::vector<MachineCosts> machines);

/// T, H, W, S of the critical path: supersteps follow each other, submachines of one split run side by side
/// and the one with the largest value counts, for each quantity on its own.
struct Totals {
  std::int64_t supersteps = 0;   ///< T
  std::int64_t messages = 0;     ///< H of BSP
  std::int64_t blocks = 0;       ///< H of BSP*
  std::int64_t bytes = 0;        ///< S of BSP*
  std::int64_t work = 0;         ///< W, charged
  std::int64_t nanoseconds = 0;  ///< W, measured

  friend bool operator==(const Totals&, const Totals&) = default;
};
Totals totals(const Ledger& ledger);  ///< everything added up

}  // namespace chasqui::bsp
