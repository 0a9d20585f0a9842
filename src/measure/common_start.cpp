// SPDX-License-Identifier: MIT
#include "measure/common_start.hpp"

#include <time.h>

#include <algorithm>
#include <limits>

#include "chasqui/run/choose.hpp"
#include "measure/message_probe.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr double kQuiet = 60e9;  ///< simulated nanoseconds after which nothing is under way any more

}  // namespace

CommonStart::CommonStart(Comm& comm) : CommonStart(comm, clock_now, comm.topology().nodes > 1) {}

CommonStart::CommonStart(Comm& comm, std::function<double()> clock, bool clocks_differ)
    : comm_(comm), clock_(std::move(clock)) {
  Transport* const messages = fabric_of(comm).messages.get();
  if (messages != nullptr && messages->blocks()) {
    simulated_ = messages;
    clock_ = [messages] { return messages->clock(); };
    lead_ = kQuiet;
    return;
  }
  if (clocks_differ && messages != nullptr) {
    offset_ = clock_offset(*messages, clock_);
    uncertainty_ = comm.allreduce(offset_.uncertainty, Maximum{});
  }
  // A start must lie behind the time that telling it takes, which is long on wide networks.
  const double before = now();
  comm.barrier();
  comm.barrier();
  lead_ = std::max(20'000.0, comm.topology().nodes > 1 ? 2 * (now() - before) : 0.0);
}

void CommonStart::wait_until(double start) {
  if (simulated_ != nullptr) return simulated_->sleep_until(start);
  if (const double left = start - now(); left > 500'000) {
    const timespec nap{0, static_cast<long>(std::min(left - 300'000, 9e8))};
    nanosleep(&nap, nullptr);
  }
  while (now() < start) cpu_relax();
}

double CommonStart::once(const std::function<void()>& body) {
  double start = now() + lead_;
  comm_.broadcast(start, 0);
  wait_until(start);
  const double begun = now();
  body();
  const double own[2] = {now() - start, begun - start};
  double all[2] = {0, 0};  // of the last rank
  comm_.allreduce(std::span<const double>(own), std::span<double>(all), Maximum{});
  late_ = all[1];
  return all[0];
}

}  // namespace chasqui::measure
