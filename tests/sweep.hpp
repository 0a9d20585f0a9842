// SPDX-License-Identifier: MIT
// Long series of cases: all of them, or some where each takes many times as long.
#pragma once

#include <cstdint>

#include "sanitized.hpp"

namespace chasqui {

/// Every case, and every seventh under a sanitizer.
class Sweep {
 public:
  bool takes_next() { return next_++ % kEvery == 0; }

 private:
  static constexpr std::uint64_t kEvery = kSanitized ? 7 : 1;
  std::uint64_t next_ = 0;
};

}  // namespace chasqui
