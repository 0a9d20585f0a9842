// SPDX-License-Identifier: MIT
// What a rank has learned about when to look first, for each thing that it waits for on a board.
#pragma once

#include "run/board/back_to_back.hpp"
#include "run/wait/first_look.hpp"

namespace chasqui::run {

/// Never long: who waits in vain loses little.
struct FirstLooks {
  FirstLook all;      ///< lines of everybody
  FirstLook root;     ///< the line of a root
  FirstLook group;    ///< lines of a group, by who folds them
  FirstLook results;  ///< what the groups have folded
  FirstLook shares;   ///< what others have folded of longer data
  FirstLook given;    ///< what all give to one who folds or collects it: no wait

  BackToBack scans;  ///< whether to look for what the rank before hands on alone

  explicit FirstLooks(bool crowded)
      : all(crowded ? 0 : 10, 100), root(crowded ? 0 : 4, 40), group(crowded ? 0 : 5, 50), results(crowded ? 0 : 6, 60),
        shares(crowded ? 0 : 20, 200), given(0, 100) {}
};

}  // namespace chasqui::run
