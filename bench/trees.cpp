// SPDX-License-Identifier: MIT
// Trees: one rank's place at P = 10^9, alone and on 10^7 nodes, and materialising 10^6 ranks against a priority queue in the same run.
#include <benchmark/benchmark.h>

#include <queue>
#include <vector>

#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/universal_tree.hpp"

namespace {

using namespace chasqui;
using namespace chasqui::plan;

const LogP kHuge{1'000'000'000, Time{5'000'000}, Time{2'000}, Time{4'000}};

LogP million(std::int64_t L) { return LogP::postal(1'000'000, Time{L}); }

void place_of_one_rank(benchmark::State& state) {
  const UniversalTree tree(broadcast_shape(kHuge), kHuge.P);
  std::int64_t index = 1;
  for (auto _ : state) {
    const auto node = tree.node(index);
    benchmark::DoNotOptimize(node);
    index = (index * 6364136223846793005 + 1442695040888963407) & 0x1fffffff;
  }
}
BENCHMARK(place_of_one_rank);

void plan_a_broadcast(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(broadcast(kHuge));
}
BENCHMARK(plan_a_broadcast);

/// 10^7 nodes of 100 ranks. The root of a scatter or gather and its node have millions of messages each: it is the last node, and none
/// of the ranks that are asked for lives there.
const Cluster kNodes =
    Cluster::uniform(10'000'000, 100, LogP{1, Time{28}, Time{2}, Time{6}}, Time{1}, Time{2}, Time{2});
Problem on_nodes(benchmark::State& state) {
  constexpr Kind kKinds[] = {Kind::broadcast, Kind::reduce,  Kind::allreduce, Kind::barrier,
                             Kind::scan,      Kind::scatter, Kind::gather};
  Problem problem{.kind = kKinds[state.range(0)]};
  if (problem.kind == Kind::scatter || problem.kind == Kind::gather) problem.root = Rank{999'999'999};
  state.SetLabel(std::string(to_string(problem.kind)));
  return problem;
}

void local_form_on_nodes(benchmark::State& state) {
  const auto plan = on_cluster(kNodes, on_nodes(state));
  std::int64_t rank = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan->local({static_cast<std::int32_t>(rank)}));
    rank = (rank * 6364136223846793005 + 1442695040888963407) & 0x1fffffff;
  }
}
BENCHMARK(local_form_on_nodes)->DenseRange(0, 6);

void plan_on_nodes(benchmark::State& state) {
  const Problem problem = on_nodes(state);
  for (auto _ : state) benchmark::DoNotOptimize(on_cluster(kNodes, problem));
}
BENCHMARK(plan_on_nodes)->DenseRange(0, 6)->Unit(benchmark::kMicrosecond);

void materialise_with_the_tree(benchmark::State& state) {
  const auto plan = broadcast(million(state.range(0)));
  for (auto _ : state) {
    const Schedule schedule = plan->schedule();
    benchmark::DoNotOptimize(schedule.sends.data());
  }
  state.SetItemsProcessed(state.iterations() * 1'000'000);
}
BENCHMARK(materialise_with_the_tree)->Arg(1)->Arg(3)->Arg(20)->Unit(benchmark::kMillisecond);

void materialise_with_a_priority_queue(benchmark::State& state) {
  const LogP machine = million(state.range(0));
  struct Offer {
    Time begin;
    Rank from;
    bool operator<(const Offer& other) const { return begin != other.begin ? begin > other.begin : from > other.from; }
  };
  for (auto _ : state) {
    std::vector<Send> sends;
    sends.reserve(static_cast<std::size_t>(machine.P) - 1);
    std::priority_queue<Offer> offers;
    offers.push({Time{0}, Rank{0}});
    for (std::int32_t next = 1; next < machine.P; ++next) {
      const Offer offer = offers.top();
      offers.pop();
      sends.push_back(send_item(offer.begin, offer.from, Rank{next}, 0));
      offers.push({offer.begin + machine.gap(), offer.from});
      offers.push({offer.begin + machine.lambda(), Rank{next}});
    }
    benchmark::DoNotOptimize(sends.data());
  }
  state.SetItemsProcessed(state.iterations() * 1'000'000);
}
BENCHMARK(materialise_with_a_priority_queue)->Arg(1)->Arg(3)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
