// SPDX-License-Identifier: MIT
// Ledgers as files and as something to look at.
#pragma once

#include <string>
#include <vector>

#include "chasqui/bsp/ledger.hpp"
#include "chasqui/bsp/predict.hpp"

namespace chasqui::bsp {

/// {"chasqui_bsp":1,"processors":p,"seconds":s,"machines":[{"id":"…","parent":"…","split":n,"size":k,"supersteps":[…]}]}
std::string to_json(const Ledger& ledger);
/// Throws an Error that names `place` and what is wrong; unknown keys are an error.
Ledger ledger_from_json(const std::string& text, const std::string& place);
Ledger read_ledger(const std::string& path);  ///< throws an Error that names the file and what is wrong with it
void write_ledger(const std::string& path, const Ledger& ledger);  ///< throws an Error where it cannot be written

/// A line for each superstep of the whole machine (long runs are cut in the middle), totals, and for each
/// machine what it would take there, next to the wall clock measured here.
std::string to_table(const Ledger& ledger, const std::vector<Machine>& machines, Work work = Work::automatic);

}  // namespace chasqui::bsp
