// SPDX-License-Identifier: MIT
// A stream lists one period of its steady state; here it is written out from its first item on.
#pragma once

#include "chasqui/schedule/schedule.hpp"

namespace chasqui {

/// Items 0 .. items-1 of the stream as an ordinary broadcast, with the times the periodic pattern gives them.
/// Throws an Error for more than 10^7 messages. REQUIRES kind stream, period > 0.
Schedule unroll(const Schedule& stream, std::int64_t items);

/// The sends of a stream from time 0 until one period after its first item is everywhere, at most 20 000 of them;
/// `problem.items` becomes the number of items seen. Any other schedule, or one without a period: a copy.
Schedule unroll_first_items(const Schedule& schedule);

}  // namespace chasqui
