// SPDX-License-Identifier: MIT
#include "plan/items/few_items.hpp"

#include <algorithm>
#include <limits>

#include "chasqui/base/error.hpp"
#include "chasqui/base/random.hpp"
#include "plan/items/edge_colouring.hpp"

namespace chasqui::plan::kernel {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The early part: who receives which item when, all fresh; and who can send it later.
struct Spread {
  std::vector<StepSend> sends;
  std::vector<std::vector<int>> holders;  ///< by item: receivers, in order of time
  std::vector<std::vector<int>> since;    ///< their steps
};

Spread spread(const std::vector<int>& colour, std::int64_t k, int last, int L) {
  Spread out;
  out.holders.resize(at(k));
  out.since.resize(at(k));
  int fresh = 0;
  for (int tau = 0; tau <= last - L; ++tau) {
    auto send = [&](int from, int item) {
      out.holders[at(item)].push_back(fresh);
      out.since[at(item)].push_back(tau);
      out.sends.push_back({tau, from, fresh++, item});
    };
    send(kNone, colour[at(tau)]);
    for (int item = 0; item < static_cast<int>(k); ++item) {
      const std::size_t before = out.holders[at(item)].size();
      for (std::size_t i = 0; i < before && out.since[at(item)][i] <= tau - L; ++i)
        send(out.holders[at(item)][i], item);
    }
  }
  return out;
}

}  // namespace

std::optional<std::vector<int>> share_trees(const Counting& c, std::int64_t k) {
  const std::int64_t last = last_step(c, k);
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Random random(static_cast<std::uint64_t>(attempt));
    std::vector<std::int64_t> missing(at(k), c.M);
    std::vector<int> colour;
    for (std::int64_t i = 0; i <= last; ++i) {
      auto most = std::max_element(missing.begin(), missing.end());
      if (attempt > 0 && random.below(4) == 0) {
        const auto other = missing.begin() + random.below(static_cast<int>(k));
        if (*other >= c.f(last - i)) most = other;
      }
      *most -= c.f(last - i);
      colour.push_back(static_cast<int>(most - missing.begin()));
    }
    if (std::all_of(missing.begin(), missing.end(), [](std::int64_t m) { return m <= 0; })) return colour;
  }
  return std::nullopt;
}

std::optional<std::vector<StepSend>> few_items(const Counting& c, std::int64_t k) {
  CHASQUI_CHECK(k >= 1 && k <= c.k_star && c.M <= std::numeric_limits<int>::max(), "k={} k*={}", k, c.k_star);
  const int last = static_cast<int>(last_step(c, k));
  const int L = static_cast<int>(c.L);
  const auto colour = share_trees(c, k);
  if (!colour) return std::nullopt;
  Spread early = spread(*colour, k, last, L);

  // multiplicity[item][step - first]: how many receive it then; one more column for what came early.
  const int first = std::max(0, last - L + 1);
  const int late = last - first + 1;
  std::vector<std::vector<std::int64_t>> multiplicity(at(k), std::vector<std::int64_t>(at(late) + 1, 0));
  for (int item = 0; item < static_cast<int>(k); ++item) {
    std::int64_t left = c.M - static_cast<std::int64_t>(early.holders[at(item)].size());
    multiplicity[at(item)][at(late)] = c.M - left;
    for (int step = first; step <= last; ++step) {
      std::int64_t able = (*colour)[at(step)] == item ? 1 : 0;
      able += std::upper_bound(early.since[at(item)].begin(), early.since[at(item)].end(), step - L) -
              early.since[at(item)].begin();
      const std::int64_t used = std::min(able, left);
      multiplicity[at(item)][at(step - first)] = used;
      left -= used;
    }
    CHASQUI_CHECK(left == 0, "item {} lacks {}", item, left);
  }

  std::vector<StepSend> sends = std::move(early.sends);
  std::vector<std::size_t> next_early(at(k), 0);
  int next_fresh = static_cast<int>(sends.size());
  std::vector<std::vector<std::size_t>> used(at(k), std::vector<std::size_t>(at(late), 0));
  for (const Matching& matching : colour_edges(std::move(multiplicity), c.M)) {
    for (std::int64_t copy = 0; copy < matching.copies; ++copy) {
      // The rank: one that got its early item as the matching says, or one that got nothing early.
      int rank = -1;
      for (int item = 0; item < static_cast<int>(k); ++item) {
        if (matching.column[at(item)] == late) rank = early.holders[at(item)][next_early[at(item)]++];
      }
      if (rank < 0) rank = next_fresh++;
      for (int item = 0; item < static_cast<int>(k); ++item) {
        const int column = matching.column[at(item)];
        if (column == late) continue;
        const int step = first + column;
        std::size_t sender = used[at(item)][at(column)]++;
        const bool by_source = (*colour)[at(step)] == item;
        const int from = by_source && sender == 0 ? kNone : early.holders[at(item)][sender - (by_source ? 1 : 0)];
        sends.push_back({step, from, rank, item});
      }
    }
  }
  std::sort(sends.begin(), sends.end(),
            [](const StepSend& a, const StepSend& b) { return a.tau != b.tau ? a.tau < b.tau : a.from < b.from; });
  return sends;
}

}  // namespace chasqui::plan::kernel
