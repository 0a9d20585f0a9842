// SPDX-License-Identifier: MIT
// What planning costs: the plan, and one rank's part of it, as P grows.
#include <benchmark/benchmark.h>

#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/scan.hpp"

namespace chasqui {
namespace {

LogP cluster(std::int64_t P) { return {P, Time{5'000}, Time{400}, Time{700}}; }

void allreduce_plan(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(plan::allreduce(cluster(state.range(0))));
}
void allreduce_postal_plan(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(plan::allreduce(LogP::postal(state.range(0), Time{7})));
}
void scan_local(benchmark::State& state) {
  const auto plan = plan::scan(cluster(state.range(0)));
  const Rank rank{static_cast<std::int32_t>(state.range(0) / 2)};
  for (auto _ : state) benchmark::DoNotOptimize(plan->local(rank));
}
void allgather_plan(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(plan::allgather(cluster(state.range(0))));
}
void allgather_local(benchmark::State& state) {
  const auto plan = plan::allgather(cluster(state.range(0)));
  const Rank rank{static_cast<std::int32_t>(state.range(0) / 2)};
  for (auto _ : state) benchmark::DoNotOptimize(plan->local(rank));
  state.SetItemsProcessed(state.iterations() * 2 * (state.range(0) - 1));
}
void allreduce_schedule(benchmark::State& state) {
  const auto plan = plan::allreduce(LogP::postal(state.range(0), Time{7}));
  std::size_t sends = 0;
  for (auto _ : state) sends = plan->schedule().sends.size();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(sends));
}

BENCHMARK(allreduce_plan)->RangeMultiplier(10)->Range(10, 1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(allreduce_postal_plan)->RangeMultiplier(10)->Range(10, 1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(scan_local)->RangeMultiplier(10)->Range(10, 1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(allgather_plan)->RangeMultiplier(10)->Range(10, 1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(allgather_local)->RangeMultiplier(10)->Range(10, 1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(allreduce_schedule)->RangeMultiplier(10)->Range(100, 10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace chasqui
