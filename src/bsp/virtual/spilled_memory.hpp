// SPDX-License-Identifier: MIT
// What virtual processors have on disk instead of in memory: registered memory of those that do not run, and the payload of
// blocks under way. Only what is long enough to be worth a page.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bsp/virtual/spill_file.hpp"
#include "chasqui/bsp/detail/endpoint.hpp"

namespace chasqui::bsp::detail {

/// Registered memory of one processor that lies on disk; nullptr: none.
using SpilledSegments = std::unique_ptr<std::vector<Segment*>>;

class SpilledMemory {
 public:
  /// Throws MachineError(resources) when no file can be made in `directory`.
  explicit SpilledMemory(const std::string& directory) : file_(directory) {}

  void stow(Block& block);    ///< to disk
  void unstow(Block& block);  ///< back. REQUIRES block.spilled

  /// Memory of a processor that runs. False: too short, nothing is done.
  bool allocate(Segment& segment, SpilledSegments& all);
  /// REQUIRES that allocate() made it.
  void release(Segment& segment, SpilledSegments& all) noexcept;

  /// Before a processor runs: its memory is where it was. What could not be mapped, when this throws, is left out.
  void bring_in(std::span<Segment* const> segments);
  /// Instead, for one that will only end: nothing is there.
  static void leave_out(std::span<Segment* const> segments);
  void put_out(std::span<Segment* const> segments);  ///< after it
  void forget(std::span<Segment* const> segments);   ///< when it is on disk: the system may take its memory
  void read_ahead(std::span<Segment* const> segments);
  void read_ahead(const Block* first);  ///< it and those behind it

 private:
  SpillFile file_;
};

}  // namespace chasqui::bsp::detail
