// SPDX-License-Identifier: MIT
// A stream on 10^17 processors: what does one of them do a million steps from now? No table of that size is built.
#include "chasqui/plan/stream.hpp"

#include <fmt/core.h>

int main() {
  using namespace chasqui;
  const plan::StreamPtr stream = plan::make_stream(100'000'000'000'000'000, 16);
  fmt::print("delay {} steps, {}\n", stream->delay().ticks, stream->claim().optimal() ? "optimal" : "not optimal");
  const std::int64_t rank = 31'415'926'535'897'932;
  for (std::int64_t time = 1'000'000; time < 1'000'005; ++time) {
    const auto got = stream->received(rank, Time{time});
    const auto sent = stream->sent(rank, Time{time});
    if (got) fmt::print("{}: item {} from {}\n", time, got->item, got->from);
    if (sent) fmt::print("{}: item {} to {}\n", time, sent->item, sent->to);
  }
}
