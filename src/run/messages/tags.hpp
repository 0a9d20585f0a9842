// SPDX-License-Identifier: MIT
// The tags of calls by messages. Messages of another kind of call are not taken for this one's.
//
// INVARIANT: no rank has two calls under way whose numbers differ by kTags or more. A call is held back until all those
// so far before it are complete on its rank, whatever the others do. This is enough. Programs ask for messages and send
// as they go on, so it is not the order of beginning that counts. But all that a rank sends in call n precedes all that
// it sends in call n + kTags, and so it is with what it asks for; messages of one pair and tag keep their order, and
// each call asks for all that is sent in it. And nobody waits for ever: the first call that is not complete everywhere
// is held back nowhere.
#pragma once

#include <cstdint>

#include "chasqui/model/kind.hpp"

namespace chasqui::run {

inline constexpr std::uint64_t kTags = 2000;  ///< calls that may be under way at a time

/// Below 32'000: MPI promises no more than 32'767.
inline std::uint32_t tag_of(std::uint64_t number, Kind kind) {
  return static_cast<std::uint32_t>(number % kTags) * 16 + static_cast<std::uint32_t>(kind);
}
/// Of an operation of the program's own; no kind has number 15.
inline std::uint32_t tag_of_own(std::uint64_t number) { return static_cast<std::uint32_t>(number % kTags) * 16 + 15; }

}  // namespace chasqui::run
