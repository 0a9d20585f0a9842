// SPDX-License-Identifier: MIT
// Streams: planning, and the next messages of one rank.
#include <benchmark/benchmark.h>

#include "chasqui/plan/stream.hpp"

namespace {

using namespace chasqui;

/// Arguments: L, P. Wanted: L = 16, P = 10^17 in under 10 ms; L = 100, P = 10^6 in under a second.
void plan_stream(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(plan::make_stream(state.range(1), state.range(0)));
}
BENCHMARK(plan_stream)
    ->Args({1, 100'000'000'000'000'000})
    ->Args({2, 100'000'000'000'000'000})
    ->Args({3, 100'000'000'000'000'000})
    ->Args({16, 100'000'000'000'000'000})
    ->Args({100, 1'000'000})
    ->Args({100, 100'000'000'000'000'000})
    ->Unit(benchmark::kMillisecond);

/// One reception and one send of one rank, a new rank and time for each. Wanted: microseconds.
void next_messages(benchmark::State& state) {
  const auto stream = plan::make_stream(state.range(1), state.range(0));
  std::int64_t rank = 1;
  std::int64_t time = 1'000'000;
  for (auto _ : state) {
    benchmark::DoNotOptimize(stream->received(rank, Time{time}));
    benchmark::DoNotOptimize(stream->sent(rank, Time{time}));
    rank = (rank + 61'803'398'874'989'484 % stream->P()) % stream->P();
    ++time;
  }
}
BENCHMARK(next_messages)
    ->Args({3, 100'000})
    ->Args({16, 100'000'000'000'000'000})
    ->Args({100, 1'000'000})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
