// SPDX-License-Identifier: MIT
// What machines cost, as bytes of a message: the accounts of one rank after those of another.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "chasqui/bsp/detail/block.hpp"
#include "chasqui/bsp/ledger.hpp"

namespace chasqui::bsp::detail {

void pack(const MachineCosts& costs, Buffer& out);
/// By machine; several accounts of one machine are merged.
std::map<std::uint64_t, MachineCosts> unpack_accounts(std::span<const std::byte> bytes);
Ledger ledger_of(const std::map<std::uint64_t, MachineCosts>& accounts, std::int64_t processors);

}  // namespace chasqui::bsp::detail
