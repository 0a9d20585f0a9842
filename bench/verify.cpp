// SPDX-License-Identifier: MIT
// The verifier and the schedule file at a million messages.
#include "chasqui/verify/verify.hpp"

#include <benchmark/benchmark.h>

#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/schedule/json.hpp"

namespace {

using namespace chasqui;

const LogP kMachine{1'000'001, Time{6}, Time{2}, Time{4}};

void check(benchmark::State& state, plan::PlanPtr (*planned)(std::int64_t), Receptions receptions) {
  const Schedule schedule = planned(state.range(0))->schedule();
  for (auto _ : state) {
    const Report report = verify(schedule, {.receptions = receptions});
    if (!report.legal()) state.SkipWithError("illegal");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(schedule.sends.size()));
  state.counters["messages"] = static_cast<double>(schedule.sends.size());
}
plan::PlanPtr broadcast(std::int64_t) { return plan::broadcast(kMachine); }
plan::PlanPtr reduce(std::int64_t) { return plan::reduce(kMachine, Rank{0}, false); }
plan::PlanPtr allgather(std::int64_t P) { return plan::allgather(LogP::postal(P, Time{3}), 1); }
plan::PlanPtr allreduce(std::int64_t P) { return plan::allreduce(LogP::postal(P, Time{3}), true); }
constexpr auto kStrict = VerifyOptions{}.receptions;
BENCHMARK_CAPTURE(check, broadcast, broadcast, kStrict)->Arg(1'000'001)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, broadcast_buffered, broadcast, Receptions::buffered)
    ->Arg(1'000'001)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, reduce, reduce, kStrict)->Arg(1'000'001)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, allgather, allgather, kStrict)->Arg(1001)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, allreduce, allreduce, kStrict)->Arg(50'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void write_json(benchmark::State& state) {
  const Schedule schedule = plan::broadcast(LogP::postal(1'000'001, Time{3}))->schedule();
  for (auto _ : state) benchmark::DoNotOptimize(to_json(schedule).size());
}
BENCHMARK(write_json)->Unit(benchmark::kMillisecond);

void read_json(benchmark::State& state) {
  const std::string text = to_json(plan::broadcast(LogP::postal(1'000'001, Time{3}))->schedule());
  for (auto _ : state) benchmark::DoNotOptimize(schedule_from_json(text, "bench").sends.size());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_json)->Unit(benchmark::kMillisecond);

}  // namespace
