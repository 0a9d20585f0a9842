// SPDX-License-Identifier: MIT
// How ranks hear of failures without each other's help: over messages, or through the memory of a node. Who waits asks now
// and then. The default knows of nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/faults/call_history.hpp"

namespace chasqui::run {

/// What another rank said that it waits in.
struct Told {
  int from = 0;              ///< who
  std::uint64_t number = 0;  ///< of the call on its communicator, from 1
  Signature call;            ///< which call
};

class FaultChannel {
 public:
  virtual ~FaultChannel() = default;

  /// Tells all ranks, without their help, that collectives from the first to the last number
  /// failed here; they look when they wait long.
  virtual void report(std::uint64_t, std::uint64_t, const std::string&) {}
  /// This rank refused its arguments for a collective. Harmless if all ranks did.
  virtual void refuse(std::uint64_t, const std::string&) {}
  /// Did a collective up to this number fail elsewhere, or did a rank refuse one that is not in this rank's list?
  virtual bool failed(std::uint64_t, const std::vector<std::uint64_t>&) { return false; }
  virtual bool broken() const { return false; }       ///< did any collective fail, as far as failed() has heard?
  virtual std::string failure() const { return {}; }  ///< why a collective failed, as the rank said that reported it

  /// Tells one rank, without its help, which call this rank waits in (Gossip). The default does not.
  virtual void tell(int, std::uint64_t, const Signature&) {}
  /// What another rank told this one, the earliest first; each once.
  virtual std::optional<Told> hear() { return std::nullopt; }
  /// Throws the Error for two ranks that have certainly called different things, where that can be seen, in a call up to
  /// number `seen`, which is set before.
  virtual void compare_calls(std::uint64_t& seen) const { static_cast<void>(seen); }
};

}  // namespace chasqui::run
