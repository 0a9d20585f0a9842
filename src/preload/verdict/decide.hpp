// SPDX-License-Identifier: MIT
// Which way an interposed call goes: from what all ranks agree on alone, so that all go the same.
#pragma once

#include "preload/serve.hpp"

namespace chasqui::preload {

/// What has been found of a call.
struct Decision {
  enum Way { native, judge, compare_native, compare_ours, ours, both, reproducible, settle, alike } way = native;
  bool comparing() const { return way == compare_native || way == compare_ours; }
  CommState* state = nullptr;
  Race* race = nullptr;
  CallFacts facts;
};

/// Counts the call, looks at its arguments, prepares the communicator when it is time to, and finds the way. What it throws is an error of
/// this rank alone.
void decide(Collective what, MPI_Comm comm, const Interposed& call, Decision& decision);

/// A call of a race that is compared begins. True: and is part of it.
bool goes_on(Collective what, const Decision& decision);
/// It took so long.
void ran(Race& race, double time);

}  // namespace chasqui::preload
