// SPDX-License-Identifier: MIT
// The first items of a stream as an ordinary broadcast.
#pragma once

#include "chasqui/schedule/schedule.hpp"

namespace chasqui {

/// Items 0 .. items-1 of the stream, with the times the periodic pattern gives them. REQUIRES kind stream, period > 0.
Schedule unroll(const Schedule& stream, std::int64_t items);

}  // namespace chasqui
