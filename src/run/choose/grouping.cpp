// SPDX-License-Identifier: MIT
#include "run/choose/grouping.hpp"

namespace chasqui::run {

double fold_time(int ranks, int lines, int group, double publish, double publish_per_rank) {
  if (group == 0) {
    const double one_line = publish + (ranks - 1) * publish_per_rank;
    return lines == 1 ? one_line : 1.7 * one_line;  // a payload of two lines
  }
  const int groups = (ranks + group - 1) / group;
  return 2 * publish + (group - 1 + lines * groups - 1) * publish_per_rank;
}

int fold_group(int ranks, int lines, double publish, double publish_per_rank) {
  int best = 0;
  double least = fold_time(ranks, lines, 0, publish, publish_per_rank);
  for (int group = 2; group <= ranks; ++group) {
    if (ranks % group != 0 && ranks % group < lines) continue;  // a member for each line
    const double time = fold_time(ranks, lines, group, publish, publish_per_rank);
    if (time < least || (time == least && best != 0)) {  // of equal ones the largest: fewer results to read
      best = group;
      least = time;
    }
  }
  return best;
}

}  // namespace chasqui::run
