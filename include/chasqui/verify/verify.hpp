// SPDX-License-Identifier: MIT
// Is a schedule legal? Checks the rules of docs/model.md and shares no code with those who build schedules.
// Any value is judged, however absurd; nothing is assumed of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chasqui/schedule/schedule.hpp"
#include "chasqui/verify/report.hpp"

namespace chasqui {

/// When does a reception begin?
enum class Receptions {
  exact,     ///< o + L after its send
  buffered,  ///< arrivals may wait for the port
};
/// Which rules are meant.
struct VerifyOptions {
  Receptions receptions = Receptions::exact;  ///< must a message be taken in when it arrives?
  std::int64_t buffer = 2;                    ///< buffered: how many messages may be left waiting at one processor
  unsigned rules = 0b1111'1110;               ///< bit r: report violations of rule r
  std::size_t most = 100'000;                 ///< violations spelt out; the others are counted
};

/// All violations of the rules. Time: O(n log n) for n messages of items, O(sum over ranks of sends x receptions)
/// for folds in the worst case; near-linear for every schedule whose ranks receive O(log P) messages.
/// Throws an Error only if asked for buffered receptions of a stream, which the model does not define.
Report verify(const Schedule& schedule, const VerifyOptions& options = {});

}  // namespace chasqui
