// SPDX-License-Identifier: MIT
// Bulk-synchronous machines: BSP (Valiant), BSP* (critical block size), D-BSP (submachines with their own g
// and L). Parameters are real numbers in one time unit, which the machine names; work is charged in the same
// unit. Source: docs/results.md, "Bulk-synchronous machines".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chasqui {

/// A superstep costs w + g h + L; h is the most messages any processor sends or receives.
struct Bsp {
  std::int64_t p = 1;
  double g = 1;  ///< time for each message of an h-relation
  double L = 1;  ///< time of a superstep besides work and messages
};

/// A superstep costs w + g (s + h B) + L; h counts blocks, s the information units in them: a short message
/// costs as much as one of B units.
struct BspStar {
  std::int64_t p = 1;
  double g = 1;           ///< time for each information unit
  double L = 1;           ///< time of a superstep besides work and messages
  double B = 1;           ///< in units
  double unit_bytes = 8;  ///< how many bytes an information unit has
};

/// A superstep on a submachine of k processors costs w + h g(k) + L(k). The functions are tables over log2 k,
/// rounded up; beyond the end the last entry holds. An empty table is 0 everywhere.
struct DBsp {
  std::int64_t p = 1;
  std::vector<double> g;  ///< g[i] for k = 2^i
  std::vector<double> L;  ///< L[i] for k = 2^i

  double gap(std::int64_t k) const;      ///< g(k) of a submachine of k processors, 1 <= k <= p
  double latency(std::int64_t k) const;  ///< L(k) of a submachine of k processors

  /// The hypercube of the literature: g = 1, L(2^i) = i.
  static DBsp hypercube(std::int64_t p);
};
/// Work w and an h-relation on a BSP machine: w + g h + L.
constexpr double superstep_cost(const Bsp& machine, double w, double h) { return w + machine.g * h + machine.L; }
/// The same on a BSP* machine with s information units in h blocks: w + g (s + h B) + L.
constexpr double superstep_cost(const BspStar& machine, double w, double h, double s) {
  return w + machine.g * (s + h * machine.B) + machine.L;
}
double superstep_cost(const DBsp& machine, std::int64_t k, double w,
                      double h);  ///< of a submachine of k processors: w + h g(k) + L(k)

/// Throws an Error naming the first parameter that is negative, not finite or (p, unit_bytes) not positive.
void validate(const Bsp& machine);
void validate(const BspStar& machine);  ///< throws an Error where a parameter is out of range
void validate(const DBsp& machine);     ///< throws an Error where a parameter is out of range

std::string to_string(const Bsp& machine);      ///< "p=8 g=4 L=20"
std::string to_string(const BspStar& machine);  ///< with the critical block size
std::string to_string(const DBsp& machine);     ///< with g and L of every level

}  // namespace chasqui
