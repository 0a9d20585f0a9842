// SPDX-License-Identifier: MIT
// Rank 0 asks around while it waits long: two equal waves of answers in which everybody waits and no message is under way prove a
// deadlock (Mattern's four counters). Nobody answers while it computes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chasqui/bsp/detail/endpoint.hpp"
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

/// What a rank that waits says of itself.
struct RankStatus {
  std::uint64_t sent = 0, received = 0;  ///< messages
  Waiting why;
  std::string where;  ///< the file of `why`, which may be of another process
};
void pack(const RankStatus& status, Buffer& out);
RankStatus unpack_status(std::span<const std::byte> bytes);

class DeadlockWaves {
 public:
  explicit DeadlockWaves(std::int32_t ranks) : answers_(static_cast<std::size_t>(ranks)) {}

  enum class Found {
    nothing,   ///< somebody has not answered yet
    question,  ///< another wave has begun: all others are to be asked
    deadlock
  };
  /// Of rank 0, which waits itself.
  Found look(RankStatus own);
  std::uint32_t number() const { return number_; }  ///< of the wave under way; 0: there was none
  /// An answer; those to earlier waves do not count.
  void hear(std::int32_t from, std::uint32_t wave, RankStatus status);
  bool all_have_answered() const;  ///< but rank 0
  /// REQUIRES a deadlock that was found.
  MachineError report() const;

 private:
  bool same_as_before() const;

  std::uint32_t number_ = 0;
  std::vector<std::optional<RankStatus>> answers_, before_;
};

}  // namespace chasqui::bsp::detail
