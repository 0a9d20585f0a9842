// SPDX-License-Identifier: MIT
// An optimum that anyone can check. A folder with
//   certificate.json  the instance, the finish time and what the bound rests on
//   schedule.json     a schedule that meets it (`chasqui verify` checks it, too)
//   bound.cnf         "one step less" as a formula, and
//   bound.drat        a proof that the formula is unsatisfiable; both missing where an argument gives the bound, or where it rests on
//                     the traffic of an all-gather and the formula is hard.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "chasqui/solve/answer.hpp"
#include "chasqui/solve/drat.hpp"
#include "chasqui/solve/instance.hpp"

namespace chasqui::solve {

/// Writes the folder. The solver runs once more, on the formula of one step less alone; if the bound rests on the traffic, only for a
/// while, since the count can be made again. False: `stop` ended it, and the folder is
/// incomplete. REQUIRES an optimal answer.
bool write_certificate(const std::filesystem::path& folder, const Instance& instance, const Answer& answer,
                       const std::function<bool()>& stop = {});
/// What came of checking a certificate.
struct CertificateReport {
  bool accepted = false;
  std::string reason;  ///< why not, on one line
  Instance instance;
  Time finish;                             ///< of the schedule
  Evidence evidence = Evidence::argument;  ///< only `search` comes with a proof file
  std::string bound_source;
  ProofReport proof;  ///< of the refutation, where there is one
};

/// Reads the folder and checks everything again: the schedule is legal, belongs to the instance and finishes when it says; the
/// formula is, byte for byte, the one the encoder makes of "one step less", and the proof refutes it; or the traffic is counted again. Throws an Error for a folder without
/// certificate.json.
CertificateReport check_certificate(const std::filesystem::path& folder);

}  // namespace chasqui::solve
