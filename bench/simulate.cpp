// SPDX-License-Identifier: MIT
// The simulator on broadcasts of 10^4 to 10^7 ranks: messages a second, and the most memory held per message (schedule,
// trace and all). Growth should be close to linear.
#include "chasqui/simulate/simulate.hpp"

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "chasqui/plan/broadcast.hpp"

namespace {

std::size_t held = 0;
std::size_t most_held = 0;

}  // namespace

void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(memory);
  most_held = held > most_held ? held : most_held;
  return memory;
}
void operator delete(void* memory) noexcept {
  held -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace {

using namespace chasqui;

void play(benchmark::State& state, simulate::Mode mode, bool random) {
  const LogP machine = LogP::postal(state.range(0), Time{5});
  const auto plan = plan::broadcast(machine);
  const auto latency = random ? simulate::uniform(machine, Time{1}, Time{5}, 42) : simulate::exactly_L(machine);
  std::size_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::size_t before = held;
    Schedule schedule = plan->schedule();
    most_held = held;
    state.ResumeTiming();
    const Trace trace =
        simulate::simulate(std::move(schedule), latency, {.mode = mode, .stragglers = {}, .critical_path = false});
    benchmark::DoNotOptimize(trace.finish);
    bytes = most_held - before;
  }
  state.SetItemsProcessed(state.iterations() * (machine.P - 1));
  state.counters["bytes_per_message"] = static_cast<double>(bytes) / static_cast<double>(machine.P - 1);
}

void event_driven(benchmark::State& state) { play(state, simulate::Mode::event_driven, false); }
void timed(benchmark::State& state) { play(state, simulate::Mode::timed, false); }
void event_driven_random_latency(benchmark::State& state) { play(state, simulate::Mode::event_driven, true); }

BENCHMARK(event_driven)->RangeMultiplier(10)->Range(10'000, 10'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(timed)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(event_driven_random_latency)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
