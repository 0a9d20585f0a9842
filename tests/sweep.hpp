// SPDX-License-Identifier: MIT
// Long series of cases: all of them, or some where each takes many times as long.
#pragma once

#include <cstdint>

namespace chasqui {

/// Every case, and every seventh under a sanitizer.
class Sweep {
 public:
  bool takes_next() { return next_++ % kEvery == 0; }

 private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::uint64_t kEvery = 7;
#else
  static constexpr std::uint64_t kEvery = 1;
#endif
  std::uint64_t next_ = 0;
};

}  // namespace chasqui
