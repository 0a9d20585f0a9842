// SPDX-License-Identifier: MIT
// Machines in short, for tests that make many.
#pragma once

#include <cstdint>

#include "chasqui/model/logp.hpp"

namespace chasqui {

inline LogP postal(std::int64_t P, std::int64_t L) { return LogP::postal(P, Time{L}); }
inline LogP machine(std::int64_t P, std::int64_t L, std::int64_t o, std::int64_t g) {
  return {P, Time{L}, Time{o}, Time{g}};
}

}  // namespace chasqui
