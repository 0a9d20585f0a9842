// SPDX-License-Identifier: MIT
// How a bulk-synchronous program is run. The defaults suit most programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "chasqui/model/units.hpp"

namespace chasqui::bsp {
/// What runs the processors.
enum class Engine {
  automatic,           ///< threads while there is a core for each processor, else virtual processors
  threads,             ///< one operating-system thread a processor
  virtual_processors,  ///< user-level contexts on a few carrier threads; 10^5 processors are fine
};
/// How a program is run.
struct Options {
  Engine engine = Engine::automatic;

  /// Threads: how many cores they have; 0: as many as this process may use. With a core for each they meet by spinning on one
  /// each, else they sleep while they wait.
  int cores = 0;

  // Virtual processors.
  int carriers = 0;            ///< carrier threads; 0: one a core
  bool migrate = true;         ///< may processors move to idle carriers between supersteps?
  bool deterministic = false;  ///< one carrier, processors always run in rank order
  /// Per processor; only touched pages cost memory. 0: 1 MiB of up to 4096 processors, else 64 KiB.
  std::size_t stack_bytes = 0;

  /// Not empty: registered variables and messages in flight live in an unlinked file in this directory, and
  /// only those of the running processor are in memory. Implies virtual processors on one carrier.
  std::string spill{};

  /// Critical block size B of BSP*, in bytes: messages to one destination travel in blocks of about this
  /// size. 1: every message on its own. 0: the measured one of the profile $CHASQUI_BSP_PROFILE, else 64 KiB.
  std::int64_t block_bytes = 0;

  bool per_processor_costs = false;  ///< the ledger keeps a row for every processor, not only maxima and totals

  int pretend_node_size = 0;  ///< MPI, for tests: as mpi::Options::pretend_node_size

  // The LogP shape the collectives are planned for (ticks; only the ratios matter).
  Time latency{3};   ///< L of the machine that broadcasts are planned for, in ticks
  Time overhead{0};  ///< o of that machine
  Time gap{1};       ///< g of that machine
};

}  // namespace chasqui::bsp
