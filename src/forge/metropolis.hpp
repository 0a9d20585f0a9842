// SPDX-License-Identifier: MIT
// Metropolis' rule, by which all annealing here goes: a move that does not raise the cost is accepted, another one with
// a chance that falls with its price and with the temperature.
#pragma once

#include <cmath>

#include "chasqui/base/random.hpp"

namespace chasqui::forge {

inline bool accept(int change, double temperature, Random& random) {
  return change <= 0 || random.unit() < std::exp(-change / temperature);
}

}  // namespace chasqui::forge
