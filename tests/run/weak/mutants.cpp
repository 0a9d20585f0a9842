// SPDX-License-Identifier: MIT
#include "mutants.hpp"

namespace chasqui::run {
Mutants mutants;
}
