// SPDX-License-Identifier: MIT
// A checker of kernels of its own: it shares the value type with the library and nothing else. It recomputes f, k* and
// the shape, plays the steady state on an infinite line of items, and tests (E2) by maximum flow on an explicit graph.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/kernel/kernel.hpp"
#include "plan/recurrence.hpp"

namespace chasqui::test {

struct KernelFacts {
  int n = -1, k_star = 0, slack = 0, N = 0, D = 0, kappa = 0;
};

inline KernelFacts facts(int M, int L, int j) {
  Recurrence f(L);
  std::int64_t total = 0;
  KernelFacts facts;
  for (int t = 0; f(t) < M; ++t) {
    total += f(t);
    facts.n = t;
  }
  facts.k_star = static_cast<int>(total / M);
  facts.slack = static_cast<int>(total % M);
  facts.N = facts.n + j;
  facts.D = facts.N + 1;
  facts.kappa = facts.k_star + j;
  return facts;
}

/// Hall's condition for one step, by augmenting paths from receptions to single senders.
inline bool can_match(const std::vector<int>& wanted, const std::vector<std::set<int>>& senders) {
  std::vector<int> taken(senders.size(), -1);
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    std::vector<char> seen(senders.size(), 0);
    std::function<bool(int)> place = [&](int who) {
      for (std::size_t s = 0; s < senders.size(); ++s) {
        if (seen[s] != 0 || !senders[s].contains(wanted[static_cast<std::size_t>(who)])) continue;
        seen[s] = 1;
        if (taken[s] < 0 || place(taken[s])) return taken[s] = who, true;
      }
      return false;
    };
    if (!place(static_cast<int>(w))) return false;
  }
  return true;
}

/// "" or what is wrong.
inline std::string check_kernel(const plan::kernel::Kernel& kernel) {
  const KernelFacts k = facts(kernel.M, kernel.L, kernel.j);
  if (kernel.j != 0 && kernel.j != 1) return "j";
  std::multiset<int> received, sent{k.D};
  int ranks = 0;
  for (const auto& group : kernel.groups) {
    const int m = static_cast<int>(group.H.size());
    if (m == 0 || group.S.size() != group.H.size()) return "sizes";
    ranks += m;
    auto H = [&](int x) { return static_cast<int>(group.H[static_cast<std::size_t>(((x % m) + m) % m)]); };
    auto S = [&](int x) { return static_cast<int>(group.S[static_cast<std::size_t>(((x % m) + m) % m)]); };
    long sum = 0;
    // Rank 0 of the group on the line: it receives item t - D + H(t) at step t. Over 4 turns of the circle and more than
    // D steps around, every item in the middle must come exactly once.
    std::map<int, std::vector<int>> when;
    const int span = 2 * (m + k.D) + m;
    for (int t = 0; t < span; ++t) when[t - k.D + H(t)].push_back(t);
    for (int item = k.D; item < k.D + m; ++item) {
      const auto found = when.find(item);
      if (found == when.end() || found->second.size() != 1) return "(J) item not received exactly once";
      const int t = found->second[0];
      if (t < item || t > item + k.D) return "(J) outside its window";
    }
    for (int x = 0; x < m; ++x) {
      if (H(x) < 0 || H(x) > k.D || S(x) < -1 || S(x) > k.D) return "range";
      sum += H(x);
      received.insert(H(x));
      if (S(x) == -1) continue;
      sent.insert(S(x));
      const int t = x + m * (k.D / m + 2);  // a step late enough that the item's reception is on the line
      const int item = t - k.D + S(x);
      bool had = false;
      for (int u = std::max(0, item); u <= t - kernel.L; ++u) had = had || u - k.D + H(u) == item;
      if (!had) return "(A) sent before it is there";
    }
    if (sum < static_cast<long>(k.kappa) * m) return "(C)";
  }
  if (ranks != kernel.M) return "ranks";
  if (received != sent) return "(B)";

  std::vector<std::vector<int>> wanted(static_cast<std::size_t>(k.D));
  std::vector<std::vector<std::set<int>>> senders(static_cast<std::size_t>(k.D));
  std::set<int> everything;
  for (int c = 0; c < k.kappa; ++c) everything.insert(c);
  for (auto& step : senders) step.push_back(everything);
  std::size_t role = 0;
  for (const auto& group : kernel.groups) {
    const int m = static_cast<int>(group.H.size());
    for (int b = 0; b < m; ++b, ++role) {
      if (role >= kernel.colours.size()) return "colours";
      std::map<int, int> got;  // colour -> step
      std::size_t next = 0;
      for (int tau = 0; tau < k.D; ++tau) {
        const auto x = static_cast<std::size_t>((b + tau) % m);
        if (group.S[x] == -1 || tau - k.D + group.S[x] >= 0) {
          std::set<int> holds;
          for (auto [colour, since] : got) {
            if (since <= tau - kernel.L) holds.insert(colour);
          }
          senders[static_cast<std::size_t>(tau)].push_back(holds);
        }
        if (tau - k.D + group.H[x] < 0) continue;
        if (next >= kernel.colours[role].size()) return "(E1) too few colours";
        const int colour = kernel.colours[role][next++];
        if (colour == -1) continue;
        if (!everything.contains(colour) || got.contains(colour)) return "(E1) twice or no colour";
        got[colour] = tau;
        wanted[static_cast<std::size_t>(tau)].push_back(colour);
      }
      if (next != kernel.colours[role].size() || static_cast<int>(got.size()) != k.kappa) return "(E1) not all";
    }
  }
  for (std::size_t tau = 0; tau < wanted.size(); ++tau) {
    if (!can_match(wanted[tau], senders[tau])) return "(E2) step " + std::to_string(tau);
  }
  return "";
}

}  // namespace chasqui::test
