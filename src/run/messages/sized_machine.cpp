// SPDX-License-Identifier: MIT
#include "run/messages/sized_machine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chasqui/plan/kitem.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {
namespace {

SizedMachine with_gap(double g, const Level& level, std::int64_t ranks, double bytes, std::int64_t most) {
  const double o = std::min(g, (level.o_s.value + level.o_r.value) / 2);  // what a lone message costs beyond is latency
  const double L = flight_time(level, bytes) - 2 * o;
  const auto whole = [](double x) { return std::max<std::int64_t>(0, std::llround(std::min(x, 1e14))); };
  std::int64_t ticks[3] = {whole(L), whole(o), std::max<std::int64_t>(1, whole(g))};
  std::int64_t common = std::gcd(std::gcd(ticks[0], ticks[1]), ticks[2]);
  double tick = static_cast<double>(common);
  for (auto& t : ticks) t /= common;
  const std::int64_t lambda = ticks[0] + 2 * ticks[1];
  if (lambda > most) {
    const double scale = static_cast<double>(lambda) / static_cast<double>(most);
    tick *= scale;
    for (auto& t : ticks) t = whole(static_cast<double>(t) / scale);
    ticks[2] = std::max<std::int64_t>(1, ticks[2]);
  }
  if (ticks[0] + 2 * ticks[1] == 0) ticks[0] = 1;
  return {LogP{ranks, Time{ticks[0]}, Time{ticks[1]}, Time{ticks[2]}}, tick};
}

}  // namespace

SizedMachine machine_for(const Level& level, std::int64_t ranks, double bytes, std::int64_t most) {
  return with_gap(port_time(level, bytes), level, ranks, bytes, most);
}

SizedMachine receiving_machine_for(const Level& level, std::int64_t ranks, double bytes, std::int64_t most) {
  return with_gap(receive_port_time(level, bytes), level, ranks, bytes, most);
}

SizedMachine item_machine(const Level& level, std::int64_t ranks, double bytes) {
  constexpr double kMost = 1e9;  // steps; beyond, items do not follow each other
  // Where messages under way share the link, sends keep to the plan's times, with a margin for headers and rounding.
  const double own = level.shares_bandwidth
                         ? std::max(1.01 * port_time(level, bytes), level.o_s.value + level.o_r.value)
                         : std::max(level.g.value, level.o_s.value + level.o_r.value + level.G.value * bytes);
  const double step = std::max(own, 1e-6);
  const double lambda = flight_time(level, bytes);
  const auto steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(std::min(lambda / step, kMost) - 1e-9)));
  return {LogP::postal(ranks, Time{steps}), step};
}

double items_time(const SizedMachine& sized, const Level& level, double flight, std::int64_t items) {
  const double steps = static_cast<double>(plan::quick_kitem_time(sized.machine, items).ticks);
  if (!level.shares_bandwidth) return steps * sized.tick;  // nobody keeps to the plan's times
  return (steps - static_cast<double>(sized.machine.lambda().ticks)) * sized.tick + flight;
}

}  // namespace chasqui::run
