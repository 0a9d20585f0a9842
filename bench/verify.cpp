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

void check(benchmark::State& state, const Schedule& schedule, const VerifyOptions& options = {}) {
  for (auto _ : state) {
    const Report report = verify(schedule, options);
    if (!report.legal()) state.SkipWithError("illegal");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(schedule.sends.size()));
  state.counters["messages"] = static_cast<double>(schedule.sends.size());
}

void verify_broadcast(benchmark::State& state) {
  check(state, plan::broadcast({1'000'001, Time{6}, Time{2}, Time{4}})->schedule());
}
BENCHMARK(verify_broadcast)->Unit(benchmark::kMillisecond);

void verify_broadcast_buffered(benchmark::State& state) {
  check(state, plan::broadcast({1'000'001, Time{6}, Time{2}, Time{4}})->schedule(),
        {.receptions = Receptions::buffered});
}
BENCHMARK(verify_broadcast_buffered)->Unit(benchmark::kMillisecond);

void verify_reduce(benchmark::State& state) {
  check(state, plan::reduce({1'000'001, Time{6}, Time{2}, Time{4}}, Rank{0}, false)->schedule());
}
BENCHMARK(verify_reduce)->Unit(benchmark::kMillisecond);

void verify_allgather(benchmark::State& state) {
  check(state, plan::allgather(LogP::postal(1001, Time{3}), 1)->schedule());
}
BENCHMARK(verify_allgather)->Unit(benchmark::kMillisecond);

void verify_allreduce(benchmark::State& state) {
  check(state, plan::allreduce(LogP::postal(state.range(0), Time{3}), true)->schedule());
}
BENCHMARK(verify_allreduce)->Arg(50'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

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
