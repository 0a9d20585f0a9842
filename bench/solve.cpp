// SPDX-License-Identifier: MIT
// Thirty fixed instances of k items from one source: processor seconds of the SAT engine without a warm start and of the integer
// program as published (CBC; its answers are not to be trusted), with `all` also of the corrected one, which is slower. Raw data on
// standard output as CSV; the last line sums up those that both finish. Usage: compare_solve [seconds per instance, default 60] [all]
#include "chasqui/solve/solve.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdlib>
#include <tuple>

#include "solve/milp.hpp"
#include "solve/paper_program.hpp"

namespace {

using chasqui::LogP;
using chasqui::Time;
namespace solve = chasqui::solve;

// (P, L, k). The published program is easy where L >= k, because its receptions in steps 1 .. L need no sender; so most have L < k.
constexpr std::tuple<int, int, int> kInstances[] = {
    {4, 2, 2},  {5, 3, 2},  {6, 3, 1},  {6, 2, 5}, {7, 2, 3}, {7, 3, 4}, {8, 5, 2},  {8, 4, 5},  {10, 4, 2}, {10, 5, 2},
    {5, 1, 8},  {6, 1, 8},  {7, 1, 8},  {8, 1, 6}, {8, 1, 8}, {9, 1, 8}, {10, 1, 8}, {11, 1, 8}, {12, 1, 6}, {12, 1, 8},
    {6, 1, 12}, {7, 1, 12}, {8, 1, 12}, {6, 2, 8}, {7, 2, 8}, {8, 2, 8}, {9, 2, 8},  {10, 2, 8}, {12, 2, 8}, {8, 3, 8},
};

/// Of this process and of its children: CBC runs in one.
double processor_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
    }
  }
  return sum;
}

template <typename Work>
double timed(Work work) {
  const double begin = processor_seconds();
  work();
  return processor_seconds() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 60;
  const bool all = argc > 2;
  if (!solve::available(solve::Engine::both)) {
    fmt::print(stderr, "compare_solve: this build lacks CaDiCaL or CBC\n");
    return 1;
  }
  fmt::print("P,L,k,finish,sat_seconds,sat_status,published_seconds,published_status{}\n",
             all ? ",corrected_seconds,corrected_status" : "");
  double sat_total = 0, published_total = 0;
  int both = 0;
  for (const auto& [P, L, k] : kInstances) {
    const solve::Instance instance{.machine = LogP::postal(P, Time{L}), .problem = {.items = k}};
    solve::Options options;
    options.warm_start = false;
    options.time_limit = limit;
    solve::Answer sat, corrected;
    const double sat_seconds = timed([&] { sat = solve::solve(instance, options); });
    solve::MilpResult published;
    const double published_seconds = timed([&, P = P, L = L, k = k] {
      const solve::PaperProgram literal = solve::literal_program(P, L, k, solve::printed_upper_bound(P, L, k));
      published = solve::minimise(literal.program, limit, {});
    });
    options.engine = solve::Engine::milp;
    const double corrected_seconds = all ? timed([&] { corrected = solve::solve(instance, options); }) : 0;
    fmt::print("{},{},{},{},{:.4f},{},{:.4f},{}", P, L, k, sat.best ? sat.best->finish.ticks : -1, sat_seconds,
               to_string(sat.status), published_seconds, published.optimal ? "optimal" : "unknown");
    if (all) fmt::print(",{:.4f},{}", corrected_seconds, to_string(corrected.status));
    fmt::print("\n");
    std::fflush(stdout);
    if (sat.status == solve::Status::optimal && published.optimal) {
      ++both;
      sat_total += sat_seconds;
      published_total += published_seconds;
    }
  }
  fmt::print("# both finish {} of {}: sat {:.3f} s, published program {:.3f} s, ratio {:.1f}\n", both,
             std::size(kInstances), sat_total, published_total, published_total / sat_total);
}
