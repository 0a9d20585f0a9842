// SPDX-License-Identifier: MIT
// From a method to what one rank executes.
#pragma once

#include "chasqui/plan/plan.hpp"
#include "chasqui/run/choose.hpp"
#include "run/messages/script.hpp"

namespace chasqui::run {

/// All-gather on a circulant graph: windows grow up to `radix`-fold a round, for every P. Time is in rounds.
/// Time per rank: O(radix log P). Reversed it is a reduce-scatter.
Script circulant(std::int64_t ranks, int rank, int radix);

/// The machine-dependent scripts (tree, windows, messages, items) for contributions of `bytes`.
Script plan_script(const Choice& choice, Kind kind, const Level& level, int ranks, int root, std::size_t bytes,
                   bool commutative, bool exclusive, int rank);

/// One rank's part of a plan that moves items of `bytes` on `sized`, item_machine() of the level.
Script item_script(const plan::Plan& plan, const SizedMachine& sized, const Level& level, double bytes, int rank);

}  // namespace chasqui::run
