// SPDX-License-Identifier: MIT
// What other tools have measured, as points for a profile: the tables that Intel's and OSU's benchmarks print of collectives,
// and Netgauge's table of LogGP parameters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "chasqui/model/profile.hpp"

namespace chasqui::measure {

struct ForeignTables {
  std::string tool;                          ///< "OSU", "IMB", "Netgauge"
  std::map<std::string, Times> collectives;  ///< the library's own, by kind: bytes as the tool counts them, nanoseconds
  std::map<std::string, std::int64_t> ranks;  ///< of each, where the table says it
  std::optional<Level> network;               ///< parameters of messages
};

/// Throws an Error that names the place for a text that is none of these, and for a row that is no row of its table.
ForeignTables foreign_tables(std::string_view text, std::string_view place);

/// Adds the points to the profile: times of collectives become the library's own (`native`), where a point of the same size is
/// replaced; parameters take the place of the network's. `ranks` is for tables that do not say how many took part; 0: as many
/// as the profile's. Throws an Error for a table of another number of ranks. Returns lines for people.
std::string add_tables(Profile& profile, const ForeignTables& tables, std::string_view place, std::int64_t ranks);

}  // namespace chasqui::measure
