// SPDX-License-Identifier: MIT
// What a play may be given and how long it may last, so that its times fit into 63 bits.
#pragma once

#include "chasqui/base/error.hpp"
#include "chasqui/model/logp.hpp"
#include "chasqui/simulate/simulate.hpp"

namespace chasqui::simulate {

inline void validate(const Straggler& straggler, std::int64_t ranks) {
  if (straggler.rank.index < 0 || straggler.rank.index >= ranks)
    throw Error("straggler {} does not exist: ranks are 0..{}", straggler.rank.index, ranks - 1);
  const auto fits = [](Time time, std::int64_t least) { return time.ticks >= least && time.ticks <= kMaxParameter; };
  if (!fits(straggler.start, 0) || !fits(straggler.o, 0) || !fits(straggler.g, 1)) {
    throw Error("straggler {}: start={} o={} g={} is out of range: start and o must be 0..{}, g at least 1",
                straggler.rank.index, straggler.start.ticks, straggler.o.ticks, straggler.g.ticks, kMaxParameter);
  }
}

/// Asked of every instant. After it come a few parameters, or additions of kMaxTime at most.
inline void require_in_time(Time now) {
  if (now.ticks > kMaxTime) throw Error("the play takes more than {} ticks: use a coarser unit of time", kMaxTime);
}

}  // namespace chasqui::simulate
