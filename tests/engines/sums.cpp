// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/run/sum.hpp"
#include "run/comm/fabric.hpp"
#include "suite.hpp"

namespace chasqui::engines {
namespace {

long plain(std::int64_t position) { return position * position % 1009; }
Affine affine(std::int64_t position) {
  const auto x = static_cast<std::uint32_t>(position);
  return {2 * x + 1, 2654435761u * x + 7};
}

/// This rank's operands, where the plan puts them.
template <typename T, typename Value>
std::vector<T> operands(const plan::SumPlan& plan, int rank, Value value) {
  std::vector<T> mine;
  for (const auto& range : plan.placement({rank})) {
    for (std::int64_t i = 0; i < range.count; ++i) mine.push_back(value(range.position + i));
  }
  return mine;
}

void expect(bool right, const run::Comm& comm, std::int64_t n, const char* what) {
  if (!right) throw std::runtime_error(fmt::format("sum of {} operands on {} ranks: {}", n, comm.size(), what));
}

}  // namespace

void sums(run::Comm& comm) {
  if (run::fabric_of(comm).messages == nullptr) return;
  const bool root = comm.rank() == 0;
  for (const LogP& machine :
       {LogP{comm.size(), Time{5}, Time{2}, Time{4}}, LogP{comm.size(), Time{1}, Time{0}, Time{3}}}) {
    for (const std::int64_t n : {1, 2, 7, 100, 3000}) {
      const auto plan = plan::sum_operands(machine, n, false);
      long expected = 0;
      Affine composed = affine(0);
      for (std::int64_t i = 0; i < n; ++i) expected += plain(i);
      for (std::int64_t i = 1; i < n; ++i) composed = Compose{}(composed, affine(i));
      const auto numbers = operands<long>(*plan, comm.rank(), plain);
      const auto maps = operands<Affine>(*plan, comm.rank(), affine);
      const long total = run::sum(comm, *plan, std::span<const long>(numbers));
      expect(!root || total == expected, comm, n, "blocking");
      // Two summations and a reduction in flight, completed in another order.
      long later = 0, count = 0;
      const long one = 1;
      Affine map{};
      const Compose compose;
      auto first = run::isum(comm, *plan, std::span<const Affine>(maps), map, compose);
      auto between = comm.iallreduce(std::span<const long>(&one, 1), std::span<long>(&count, 1));
      auto second = run::isum(comm, *plan, std::span<const long>(numbers), later);
      second.wait();
      between.wait();
      while (!first.test()) continue;
      expect(!root || map == composed, comm, n, "in the operands' order");
      expect(!root || later == expected, comm, n, "in flight");
      expect(count == comm.size(), comm, n, "the reduction beside it");
    }
  }
  // Plans that follow each other at one address, each used twice.
  for (std::int64_t n = 1; n <= 40; ++n) {
    const auto plan = plan::sum_operands(LogP{comm.size(), Time{1}, Time{0}, Time{1}}, n);
    const auto numbers = operands<long>(*plan, comm.rank(), plain);
    long expected = 0;
    for (std::int64_t i = 0; i < n; ++i) expected += plain(i);
    for (int again = 0; again < 2; ++again) {
      const long total = run::sum(comm, *plan, std::span<const long>(numbers));
      expect(!root || total == expected, comm, n, "a plan after another");
    }
  }
  const auto plan = plan::sum_operands(LogP{comm.size() + 1, Time{5}, Time{2}, Time{4}}, 10);
  try {
    run::sum(comm, *plan, std::span<const long>());
    throw std::runtime_error("sum: a plan for another number of ranks was taken");
  } catch (const Error&) {
  }
}

}  // namespace chasqui::engines
