// SPDX-License-Identifier: MIT
// Without CaDiCaL.
#include "chasqui/base/error.hpp"
#include "chasqui/simulate/worst_case.hpp"

namespace chasqui::simulate {

bool sat_available() { return false; }

WorstCase worst_case_sat(const Schedule&, const AdversaryOptions&, WorstCase) {
  throw Error("the exact adversary by SAT needs CaDiCaL: install libcadical-dev and configure again");
}

}  // namespace chasqui::simulate
