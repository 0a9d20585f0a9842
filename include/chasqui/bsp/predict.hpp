// SPDX-License-Identifier: MIT
// What a recorded run would cost on a described machine. Supersteps follow each other; submachines of one
// split run side by side, the slowest counts. (Subset syncs of one machine are taken as side by side, which
// may be too kind.)
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "chasqui/bsp/ledger.hpp"
#include "chasqui/model/bsp.hpp"

namespace chasqui::bsp {

using Machine = std::variant<Bsp, BspStar, DBsp>;  ///< any of the three models

/// Where w comes from.
enum class Work {
  automatic,  ///< what the program charged, if it charged anything, else what was measured
  charged,    ///< what the program charged; nothing, if it charged nothing
  measured,   ///< nanoseconds
};

/// `work` with automatic settled for this ledger.
Work settle(Work work, const Ledger& ledger);

/// Time: O(supersteps of all machines · log).
double predict(const Ledger& ledger, const Machine& machine, Work work = Work::automatic);

/// The cost of one superstep of a machine of `size` processors. REQUIRES work is settled.
double predict(const Superstep& step, std::int64_t size, Work work, const Machine& machine);

std::string to_string(const Machine& machine);  ///< the model's name and parameters

/// {"model":"bsp","p":8,"g":2,"L":100}, {"model":"bsp*",…,"B":64,"unit_bytes":8},
/// {"model":"d-bsp","p":8,"g":[1,1],"L":[0,1,2,3]}. `place` is named in errors.
Machine machine_from_json(const std::string& text, const std::string& place);
std::string to_json(const Machine& machine);  ///< one object

}  // namespace chasqui::bsp
