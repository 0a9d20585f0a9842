// SPDX-License-Identifier: MIT
// What a rank knows of the costs of a program over MPI: what meetings have told all their members, and what only it knows.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "chasqui/bsp/detail/endpoint.hpp"

namespace chasqui::bsp::detail {

class MpiBooks {
 public:
  /// The account of a machine that this rank enters. Meetings add to it, the same at all members.
  MachineCosts& open(const GroupInfo& info);
  /// Rows that no meeting will carry any more.
  void report(const GroupInfo& info, std::span<const Booking> rows, bool keep_rows);
  /// Of the machines that this rank has been in.
  Ledger ledger(std::int32_t processors) const;
  /// What `rank`, whose books these are, must tell others: the accounts that it speaks for, and what only it knows.
  void pack_for_others(std::int32_t rank, Buffer& out) const;

 private:
  std::map<std::uint64_t, MachineCosts> accounts_;   ///< what meetings carried
  std::map<std::uint64_t, std::int32_t> speaker_;    ///< machine -> rank that publishes its account
  std::map<std::uint64_t, MachineCosts> leftovers_;  ///< what only this rank knows
};

}  // namespace chasqui::bsp::detail
