// SPDX-License-Identifier: MIT
// How far the all-to-all plans are from their lower bounds, over a grid of machines: one line of figures for
// each collective and each regime, tab-separated. Not a timing.
#include <fmt/core.h>

#include <functional>
#include <string>
#include <vector>

#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/alltoall.hpp"
#include "chasqui/plan/scan.hpp"

namespace chasqui {
namespace {

struct Figures {
  std::string regime;
  double sum = 0, most = 0;
  long count = 0, optimal = 0;
  LogP worst{};

  void add(const plan::Plan& plan) {
    const double ratio = static_cast<double>(plan.claim().finish.ticks) / static_cast<double>(plan.claim().bound.ticks);
    sum += ratio;
    ++count;
    optimal += plan.claim().optimal() ? 1 : 0;
    if (ratio > most) most = ratio, worst = plan.machine();
  }
};

/// Only names that begin with this are reported.
std::string wanted;

void report(const std::string& name, const std::vector<std::int64_t>& sizes,
            const std::function<plan::PlanPtr(const LogP&)>& planner) {
  if (!name.starts_with(wanted)) return;
  std::vector<Figures> all = {{"o = 0"}, {"2o <= g <= L + 2o"}, {"g < 2o"}, {"g > L + 2o"}};
  for (const std::int64_t P : sizes) {
    for (std::int64_t L = 0; L <= 12; ++L) {
      for (std::int64_t o = 0; o <= 4; ++o) {
        for (std::int64_t g = 1; g <= 9; ++g) {
          const LogP m{P, Time{L}, Time{o}, Time{g}};
          if (L + o == 0) continue;
          const auto plan = planner(m);
          all[o == 0 ? 0 : g > L + 2 * o ? 3 : g >= 2 * o ? 1 : 2].add(*plan);
        }
      }
    }
  }
  for (const Figures& f : all) {
    if (f.count == 0) continue;
    fmt::print("{}\t{}\t{}\t{:.4f}\t{:.3f}\t{}\t{:.1f}%\n", name, f.regime, f.count,
               f.sum / static_cast<double>(f.count), f.most, to_string(f.worst),
               100.0 * static_cast<double>(f.optimal) / static_cast<double>(f.count));
  }
}

std::vector<std::int64_t> range(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> all;
  for (; from <= to; ++from) all.push_back(from);
  return all;
}

}  // namespace
}  // namespace chasqui

int main(int argc, char** argv) {
  using namespace chasqui;
  if (argc > 1) wanted = argv[1];
  fmt::print("collective\tregime\tmachines\tmean finish/bound\tmost\tat\toptimal\n");
  report("allgather P=2..32", range(2, 32), [](const LogP& m) { return plan::allgather(m); });
  report("allgather P=33..120", {33, 41, 50, 64, 77, 89, 97, 101, 120},
         [](const LogP& m) { return plan::allgather(m); });
  report("allgather k=4", {2, 3, 4, 5, 7, 8, 13, 16}, [](const LogP& m) { return plan::allgather(m, 4); });
  report("alltoall P=2..32", range(2, 32), [](const LogP& m) { return plan::alltoall(m); });
  report("alltoall P=33..120", {33, 41, 50, 64, 77, 89, 97, 101, 120}, [](const LogP& m) { return plan::alltoall(m); });
  report("alltoall k=4", {2, 3, 4, 5, 7, 8, 13, 16}, [](const LogP& m) { return plan::alltoall(m, 4); });
  report("allreduce P=2..16", range(2, 16), [](const LogP& m) { return plan::allreduce(m); });
  report("allreduce P<=10^6", {25, 64, 100, 1000, 1'000'000}, [](const LogP& m) { return plan::allreduce(m); });
  report("scan P=2..16", range(2, 16), [](const LogP& m) { return plan::scan(m); });
}
