// SPDX-License-Identifier: MIT
// Summation against folding first and reducing then.
#include "chasqui/run/sum.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/bench/contest.hpp"
#include "run/messages/sized_machine.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr std::int64_t kTicks = 1'000'000'000;

/// From the right, as run::sum does it.
[[gnu::noinline]] double folded(const std::vector<double>& operands) {
  const Sum op;
  double total = 0;
  for (std::size_t left = operands.size(); left > 0; --left) total = op(operands[left - 1], total);
  return total;
}

/// Nanoseconds, as rank 0 measures it.
double addition_time(Comm& comm) {
  constexpr int kRounds = 5;
  const std::vector<double> operands(4096, 1.0);
  double least = 0;
  volatile double kept = 0;
  for (int i = 0; i < kRounds; ++i) {
    const double before = clock_now();
    kept = folded(operands);
    const double took = clock_now() - before;
    least = i == 0 ? took : std::min(least, took);
  }
  static_cast<void>(kept);
  double each = std::max(0.01, least / static_cast<double>(operands.size()));
  comm.broadcast(each, 0);
  return each;
}

/// Nanoseconds of a call that neither adds nor sends, as rank 0 measures it: a sum of one operand.
double call_time(Comm& comm, const LogP& machine) {
  constexpr int kCalls = 20;
  const auto plan = plan::sum_operands(machine, 1);
  const std::vector<double> mine(static_cast<std::size_t>(plan->local({comm.rank()}).operands), 1.0);
  double least = 0;
  for (int i = 0; i < kCalls; ++i) {
    const double before = clock_now();
    run::sum<double>(comm, *plan, mine);
    const double took = clock_now() - before;
    least = i == 0 ? took : std::min(least, took);
  }
  comm.broadcast(least, 0);
  return least;
}

/// The machine in ticks of one addition.
LogP adding_machine(const Level& level, std::int64_t ranks, double addition) {
  const SizedMachine sized = receiving_machine_for(level, ranks, sizeof(double), kTicks);
  const auto ticks = [&](Time time, std::int64_t least) {
    return Time{std::max(
        least, static_cast<std::int64_t>(std::llround(static_cast<double>(time.ticks) * sized.tick / addition)))};
  };
  return {ranks, ticks(sized.machine.L, 1), ticks(sized.machine.o, 0), ticks(sized.machine.g, 1)};
}

struct Summation {
  std::shared_ptr<const plan::SumPlan> plan;
  std::vector<double> placed, share;  ///< this rank's operands: by the plan, and an equal share
  double fold = 0, total = 0;
};

}  // namespace

Contest contest_of_sum(Comm& comm, std::size_t bytes) {
  const auto n = static_cast<std::int64_t>(bytes / sizeof(double));
  const double addition = addition_time(comm);
  const auto sum = std::make_shared<Summation>();
  const LogP machine = adding_machine(message_level(comm.topology(), comm.profile()), comm.size(), addition);
  const double call_alone = call_time(comm, machine);
  sum->plan = plan::sum_operands(machine, n);
  sum->placed.assign(static_cast<std::size_t>(sum->plan->local({comm.rank()}).operands), 1.0);
  sum->share.assign(static_cast<std::size_t>(n / comm.size() + (comm.rank() < n % comm.size() ? 1 : 0)), 1.0);
  Contest contest{
      {"sum"}, bytes, "tree", {call_alone + static_cast<double>(sum->plan->claim().finish.ticks) * addition},
      {},      {},    {}};
  contest.ours = [&comm, sum, n](CommonStart& start) {
    const double span = start.once([&] { sum->total = run::sum<double>(comm, *sum->plan, sum->placed); });
    if (comm.rank() == 0 && sum->total != static_cast<double>(n))
      throw Error("sum: {} ones were added to {}: please report this", n, sum->total);
    return std::vector<double>{span};
  };
  const auto folded_first = [sum](const std::function<bool(const Call&)>& run) -> Contest::Sample {
    static const Sum op;
    const Call call{.kind = Kind::reduce,
                    .in = &sum->fold,
                    .out = &sum->total,
                    .count = 1,
                    .element = sizeof(double),
                    .op = operator_of<double>(op, true)};
    if (!run(call)) return {};
    return [=](CommonStart& start) {
      return std::vector<double>{start.once([&] {
        sum->fold = folded(sum->share);
        run(call);
      })};
    };
  };
  contest.against = [folded_first](const Rival& rival) { return folded_first(rival.run); };
  contest.further.emplace_back("plain", folded_first([&comm](const Call& call) { return comm.run(call), true; }));
  return contest;
}

}  // namespace chasqui::measure
