// SPDX-License-Identifier: MIT
// adversary.md, Computed evidence 7: worst-case finish of k-item broadcasts, an adversary choosing latencies in 1..L.
// Usage: robustness [K] [MAX_P] [MAX_L] [MIN_P] [MIN_L] [MUTATIONS] [SEED]; an asterisk marks values that are proved to be the worst (or, in the last column,
// the least worst), the others are the worst that a hill climb found.
#include <fmt/core.h>

#include <cstdlib>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/solve/robust.hpp"

namespace {

using namespace chasqui;

const solve::AdversaryOptions kJudge{.states = 20'000, .conflicts = 200'000, .plays = 1'000, .progress = {}};

std::string cell(const Schedule& schedule) {
  const solve::WorstCase worst = solve::worst_case(schedule, kJudge);
  return fmt::format("{} → {}{}", worst.nominal.ticks, worst.finish().ticks, worst.exact ? "*" : "");
}

std::string cell(const char* algorithm, const LogP& machine, std::int64_t k) {
  try {
    return cell(plan::stream_algorithm(algorithm).items(machine, k, Rank{0})->schedule());
  } catch (const Error&) {
    return "–";
  }
}

std::string robust_cell(const LogP& machine, std::int64_t k, std::uint64_t mutations, std::uint64_t seed) {
  std::vector<solve::Candidate> candidates = {{"best", plan::kitem(machine, k)->schedule()}};
  for (const plan::StreamAlgorithm& algorithm : plan::stream_algorithms()) {
    try {
      candidates.push_back(
          {std::string(algorithm.name), algorithm.items(machine, k, Rank{0})->schedule(), algorithm.buffered});
    } catch (const Error&) {
      continue;  // it does not apply here
    }
  }
  for (solve::Candidate& candidate : candidates) candidate.schedule.bound = plan::kitem_bound(machine, k);
  const auto robust = solve::most_robust(
      candidates, {.adversary = kJudge, .mutations = mutations, .schedules = 200'000, .seed = seed, .progress = {}});
  return fmt::format("{} → {}{}", robust.worst.nominal.ticks, robust.worst.finish().ticks, robust.proved ? "*" : "");
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t k = argc > 1 ? std::atoll(argv[1]) : 4;
  const std::int64_t most_P = argc > 2 ? std::atoll(argv[2]) : 10;
  const std::int64_t most_L = argc > 3 ? std::atoll(argv[3]) : 4;
  const std::int64_t least_P = argc > 4 ? std::atoll(argv[4]) : 3;
  const std::int64_t least_L = argc > 5 ? std::atoll(argv[5]) : 2;
  const std::uint64_t mutations = argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 2'000;
  const std::uint64_t seed = argc > 7 ? std::strtoull(argv[7], nullptr, 10) : 1;
  fmt::print("| P | L | bound | kernels | stream | single-sending | simple (buffers) | robust |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (std::int64_t L = least_L; L <= most_L; ++L) {
    for (std::int64_t P = least_P; P <= most_P; ++P) {
      const LogP machine = LogP::postal(P, Time{L});
      fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} |\n", P, L, plan::kitem_bound(machine, k).ticks,
                 cell(plan::kitem(machine, k)->schedule()), cell("stream", machine, k),
                 cell("single-sending", machine, k), cell("simple", machine, k),
                 robust_cell(machine, k, mutations, seed));
      std::fflush(stdout);
    }
  }
}
