// SPDX-License-Identifier: MIT
// What a rank called, in two words: ranks of a board compare it with every line they read, so that a call with another
// size, kind or root is noticed, at once or with the next line. Each line carries 20 bits of a sum over all calls so far.
#pragma once

#include <cstdint>

#include "chasqui/run/call.hpp"

namespace chasqui::run {
/// One call: what all ranks must agree about.
struct Called {
  std::uint64_t bytes = 0;  ///< of one contribution; a barrier has none
  std::uint32_t what = 0;   ///< kind, exclusive, root

  friend bool operator==(const Called&, const Called&) = default;
  Kind kind() const { return static_cast<Kind>((what & 0xff) / 2); }  ///< which collective
  bool exclusive() const { return (what & 1) != 0; }                  ///< of a scan
  std::uint32_t root() const { return what >> 8; }                    ///< of kinds that have one

  /// After `before`, the sum over all earlier calls. Its top 20 bits tell calls apart that differ in the size alone, by
  /// less than 514 229 bytes, or in kind and root alone, roots below 2 125: multiples of the golden ratio keep their
  /// distance from integers. Any others but for one case in 2^19.
  std::uint64_t after(std::uint64_t before) const {
    return (before + bytes + (std::uint64_t{what} << 40)) * 0x9e3779b97f4a7c15;
  }
};

/// `bytes` of one contribution; 0 for a barrier.
inline Called called(const Call& call, std::size_t bytes) {
  constexpr unsigned rooted = 1u << static_cast<unsigned>(Kind::broadcast) | 1u << static_cast<unsigned>(Kind::scatter) |
                              1u << static_cast<unsigned>(Kind::gather) | 1u << static_cast<unsigned>(Kind::reduce);
  const auto kind = static_cast<std::uint32_t>(call.kind);
  const std::uint32_t root = (static_cast<std::uint32_t>(call.root) << 8) & (0u - (rooted >> kind & 1u));
  const std::uint32_t exclusive = call.kind == Kind::scan && call.exclusive ? 1 : 0;
  return {bytes, root | 2 * kind | exclusive};
}

}  // namespace chasqui::run
