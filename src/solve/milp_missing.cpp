// SPDX-License-Identifier: MIT
// Stands in for milp.cpp in a build without CBC.
#include "chasqui/base/error.hpp"
#include "solve/milp.hpp"

namespace chasqui::solve {

bool milp_available() { return false; }

MilpResult minimise(const Program&, double, const Stop&) {
  throw Error("this build has no MILP solver: install coinor-libcbc-dev and configure again");
}

}  // namespace chasqui::solve
