// SPDX-License-Identifier: MIT
// A kernel: the steady state of a k-item broadcast at the counting bound, as one small table, and the table of
// colours that ends it. Letters and conditions: items.md, Definition 4; proof: items.md, Theorem 5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/kernel/counting.hpp"

namespace chasqui::plan::kernel {

inline constexpr int kNone = -1;

/// A cyclic group of m = H.size() ranks. Rank q is in phase (t+q) mod m at step t; there it receives item
/// t - D + H and sends item t - D + S (or nothing, S = kNone).
struct Group {
  std::vector<std::int16_t> H;
  std::vector<std::int16_t> S;

  int size() const { return static_cast<int>(H.size()); }
  friend bool operator==(const Group&, const Group&) = default;
};

/// The free receptions of a role: window steps tau, ascending, at which it does not get an item before the window.
/// Role b of a group is the rank that is in phase b when the window begins.
std::vector<int> free_receptions(const Group& group, int D, int role);

/// True if role b's send at window step tau is free: it has no item from before the window to send.
inline bool free_send(const Group& group, int D, int role, int tau) {
  const int s = group.S[static_cast<std::size_t>((role + tau) % group.size())];
  return s == kNone || tau - D + s >= 0;
}

struct Kernel {
  int M = 1;  ///< receivers
  int L = 1;
  int j = 0;  ///< 0: last step n of the window; 1: one step and one colour more
  std::vector<Group> groups;
  /// For every role, group by group, its free receptions' colours in order of time (kNone: nothing is received).
  std::vector<std::vector<std::int8_t>> colours;

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// N, D and kappa of a kernel. Time: O(L log M).
struct Shape {
  int N = 0;
  int D = 0;
  int kappa = 0;
};
Shape shape_of(const Counting& counting, int j);

/// "" if (J), (A), (B), (C) hold; otherwise the first condition broken and where. Time: O(M + D).
std::string steady_error(const Kernel& kernel);

/// "" if (E1) and (E2) hold. Time: D bipartite matchings of at most M messages.
std::string endgame_error(const Kernel& kernel);

}  // namespace chasqui::plan::kernel
