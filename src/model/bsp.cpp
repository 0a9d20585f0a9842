// SPDX-License-Identifier: MIT
#include "chasqui/model/bsp.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "chasqui/base/error.hpp"

namespace chasqui {

namespace {

double look_up(const std::vector<double>& table, std::int64_t k) {
  if (table.empty()) return 0;
  const auto level = static_cast<std::size_t>(k <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(k - 1)));
  return table[std::min(level, table.size() - 1)];
}

void check(const char* name, double value, const char* model) {
  if (!std::isfinite(value) || value < 0)
    throw Error("{} machine: {} = {}: must be a number, and at least 0", model, name, value);
}

void check_size(std::int64_t p, const char* model) {
  if (p < 1) throw Error("{} machine: p = {}: must be at least 1", model, p);
}

}  // namespace

double DBsp::gap(std::int64_t k) const { return look_up(g, k); }
double DBsp::latency(std::int64_t k) const { return look_up(L, k); }

DBsp DBsp::hypercube(std::int64_t p) {
  DBsp machine{p, {1}, {0}};
  for (int level = 1; level <= 62 && (std::int64_t{1} << (level - 1)) < p; ++level) machine.L.push_back(level);
  return machine;
}

double superstep_cost(const DBsp& machine, std::int64_t k, double w, double h) {
  return w + h * machine.gap(k) + machine.latency(k);
}

void validate(const Bsp& machine) {
  check_size(machine.p, "BSP");
  check("g", machine.g, "BSP"), check("L", machine.L, "BSP");
}

void validate(const BspStar& machine) {
  check_size(machine.p, "BSP*");
  check("g", machine.g, "BSP*"), check("L", machine.L, "BSP*"), check("B", machine.B, "BSP*");
  check("unit_bytes", machine.unit_bytes, "BSP*");
  if (machine.unit_bytes == 0) throw Error("BSP* machine: unit_bytes = 0: must be more than 0");
}

void validate(const DBsp& machine) {
  check_size(machine.p, "D-BSP");
  for (const double g : machine.g) check("g", g, "D-BSP");
  for (const double L : machine.L) check("L", L, "D-BSP");
}

std::string to_string(const Bsp& machine) { return fmt::format("BSP p={} g={} L={}", machine.p, machine.g, machine.L); }
std::string to_string(const BspStar& machine) {
  return fmt::format("BSP* p={} g={} L={} B={}", machine.p, machine.g, machine.L, machine.B);
}
std::string to_string(const DBsp& machine) {
  return fmt::format("D-BSP p={} g=[{}] L=[{}]", machine.p, fmt::join(machine.g, ","), fmt::join(machine.L, ","));
}

}  // namespace chasqui
