// SPDX-License-Identifier: MIT
#include "measure/common_start.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "chasqui/run/choose.hpp"
#include "measure/message_probe.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr double kQuiet = 60e9;  ///< simulated nanoseconds after which nothing is under way any more
constexpr double kLead = 1.25;   ///< times a barrier, between hosts: a start lies so far ahead

}  // namespace

CommonStart::CommonStart(Comm& comm) : CommonStart(comm, clock_now, comm.topology().nodes > 1) {}

CommonStart::CommonStart(Comm& comm, std::function<double()> clock, bool clocks_differ)
    : comm_(comm), clock_(std::move(clock)) {
  const Timing& timing = fabric_of(comm).timing;
  if (timing.blocks) {
    sleep_until_ = timing.sleep_until;
    clock_ = timing.now;
    lead_ = slack_ = kQuiet;
    return;
  }
  if (clocks_differ && fabric_of(comm).messages != nullptr) {
    offset_ = clock_offset(comm, clock_);
    uncertainty_ = comm.allreduce(offset_.uncertainty, Maximum{});
  }
  // A start must lie behind the time that telling it takes, which is long on wide networks. A barrier takes longer than telling; the first
  // one may make connections.
  comm.barrier();
  const double before = now();
  comm.barrier();
  const bool wide = comm.topology().nodes > 1;
  lead_ = std::max(20'000.0, wide ? kLead * (now() - before) : 0.0);
  slack_ = wide ? 100'000 : 5'000;
}

double CommonStart::uncertainty_by_now() {
  if (uncertainty_ == 0) return 0;  // one clock
  const ClockOffset now = clock_offset(comm_, clock_);
  const double apart = std::abs(now.ahead - offset_.ahead) + now.uncertainty;
  return comm_.allreduce(std::max(offset_.uncertainty, apart), Maximum{});
}

void CommonStart::wait_until(double start) {
  if (sleep_until_ != nullptr) return sleep_until_(start);
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

std::vector<CommonStart::Timed> CommonStart::several(const std::vector<double>& slots, const Bodies& bodies) {
  double start = now() + lead_;
  comm_.broadcast(start, 0);
  std::vector<double> own, all(3 * slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    bodies.before(i);
    wait_until(start);
    const double begun = now();
    bodies.timed(i);
    const double ended = now();
    own.insert(own.end(), {ended - start, begun - start, bodies.after(i)});
    start += slots[i];
  }
  comm_.allreduce(std::span<const double>(own), std::span<double>(all), Maximum{});
  std::vector<Timed> list;
  for (std::size_t i = 0; i < slots.size(); ++i) list.push_back({all[3 * i], all[3 * i + 1], all[3 * i + 2]});
  return list;
}

}  // namespace chasqui::measure
