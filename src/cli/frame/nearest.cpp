// SPDX-License-Identifier: MIT
#include "cli/frame/nearest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace chasqui::cli {
namespace {

/// What people write who know MPI or other programs.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {{"--output", "--out"},
                                                                        {"--outfile", "--out"},
                                                                        {"-p", "-P"},
                                                                        {"--P", "-P"},
                                                                        {"-n", "-P"},
                                                                        {"-np", "-P"},
                                                                        {"--ranks", "-P"},
                                                                        {"--L", "-L"},
                                                                        {"--o", "-o"},
                                                                        {"--g", "-g"},
                                                                        {"--size", "--bytes"},
                                                                        {"bcast", "broadcast"},
                                                                        {"all-reduce", "allreduce"},
                                                                        {"all-gather", "allgather"},
                                                                        {"k-item", "kitem"},
                                                                        {"-v", "--version"}};

/// Insertions, deletions, replacements and swaps of neighbours cost 1 each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  std::iota(cost[0].begin(), cost[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    cost[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost.back().back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  if (word.size() > 64) return best;
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t least = std::max<std::size_t>(1, letters / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least && distance < letters) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  for (const auto& [theirs, ours] : kElsewhere) {
    if (word == theirs && std::find(candidates.begin(), candidates.end(), ours) != candidates.end())
      return fmt::format(" (did you mean {}?)", ours);
  }
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : " (did you mean " + best + "?)";
}

}  // namespace chasqui::cli
