// SPDX-License-Identifier: MIT
// k items: a kernel from the shipped table, its plan, its schedule in messages a second, one rank's part, the search.
#include <benchmark/benchmark.h>

#include "chasqui/plan/kitem.hpp"
#include "forge/search.hpp"
#include "plan/items/few_items.hpp"
#include "plan/kernel/table.hpp"

namespace {

using namespace chasqui;
using namespace chasqui::plan;

LogP postal(std::int64_t P, std::int64_t L) { return LogP::postal(P, Time{L}); }

void kernel_from_the_table(benchmark::State& state) {
  kernel::shipped_table();
  for (auto _ : state) benchmark::DoNotOptimize(kernel::from_table(state.range(0) - 1, state.range(1)));
}
BENCHMARK(kernel_from_the_table)->Args({10, 3})->Args({128, 3})->Args({128, 16})->Unit(benchmark::kMicrosecond);

void plan_of_a_million_items(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(kitem(postal(state.range(0), state.range(1)), 1'000'000));
}
BENCHMARK(plan_of_a_million_items)->Args({10, 3})->Args({128, 3})->Args({128, 16})->Unit(benchmark::kMicrosecond);

void schedule_expanded(benchmark::State& state) {
  const std::int64_t k = 4'000'000 / state.range(0);
  const auto plan = kitem(postal(state.range(0), state.range(1)), k);
  for (auto _ : state) {
    const Schedule schedule = plan->schedule();
    benchmark::DoNotOptimize(schedule.sends.data());
  }
  state.SetItemsProcessed(state.iterations() * k * (state.range(0) - 1));
}
BENCHMARK(schedule_expanded)->Args({10, 3})->Args({128, 3})->Args({128, 16})->Unit(benchmark::kMillisecond);

void part_of_one_rank(benchmark::State& state) {
  const auto plan = kitem(postal(128, 8), 1000);
  std::int32_t rank = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan->local(Rank{rank}));
    rank = rank % 127 + 1;
  }
  state.SetItemsProcessed(state.iterations() * 2000);
}
BENCHMARK(part_of_one_rank)->Unit(benchmark::kMicrosecond);

void bound_of_a_billion_items(benchmark::State& state) {
  const LogP machine{1'000'000'000, Time{1'000'000}, Time{300}, Time{7}};
  for (auto _ : state) benchmark::DoNotOptimize(kitem_bound(machine, 1'000'000'000));
}
BENCHMARK(bound_of_a_billion_items)->Unit(benchmark::kMicrosecond);

void few_items_to_ten_thousand(benchmark::State& state) {
  const auto counting = kernel::count(10'000, 8);
  for (auto _ : state) benchmark::DoNotOptimize(kernel::few_items(counting, counting.k_star));
  state.SetItemsProcessed(state.iterations() * counting.k_star * 10'000);
}
BENCHMARK(few_items_to_ten_thousand)->Unit(benchmark::kMillisecond);

void search_a_kernel(benchmark::State& state) {
  std::uint64_t seed = 1;
  for (auto _ : state) benchmark::DoNotOptimize(forge::search(state.range(0) - 1, state.range(1), 1000, seed++));
}
BENCHMARK(search_a_kernel)->Args({60, 3})->Args({100, 8})->Unit(benchmark::kMillisecond);

}  // namespace
