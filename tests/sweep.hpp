// SPDX-License-Identifier: MIT
// Long series of cases: all of them, or some where that takes too long for every day.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "sanitized.hpp"

namespace chasqui {

#ifdef CHASQUI_WHOLE_SWEEPS
inline constexpr bool kWholeSweeps = true;
#else
inline constexpr bool kWholeSweeps = false;
#endif

/// Every case where sweeps are whole, otherwise every third, and every seventh under a sanitizer.
class Sweep {
 public:
  bool takes_next() { return next_++ % kEvery == 0; }

 private:
  static constexpr std::uint64_t kEvery = kSanitized ? 7 : kWholeSweeps ? 1 : 3;
  std::uint64_t next_ = 0;
};

/// Some cases, and more of the same kind where sweeps are whole.
template <typename T>
std::vector<T> sweep_of(std::initializer_list<T> some, std::initializer_list<T> more) {
  std::vector<T> cases = some;
  if (kWholeSweeps) cases.insert(cases.end(), more);
  return cases;
}

}  // namespace chasqui
