// SPDX-License-Identifier: MIT
// Folds in rank order that bring all contributions to whoever wants the result, and fold them there: for ranks that lie in no order that
// could be folded on the way.
#pragma once

#include "chasqui/model/kind.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/program.hpp"

namespace chasqui::run {

/// The collective that brings the contributions. REQUIRES reduce, allreduce, scan or reduce_scatter.
Kind bringing(Kind fold);

/// So many ranks, from the first on, are folded for `rank`: of a scan those before it, and itself unless it is exclusive.
int folded_ranks(Kind fold, bool exclusive, int rank, int size);

/// `bring`: the program of bringing(fold.kind), which leaves the contributions in rank order in its output; `rank`: fold.rank as blocks of
/// buffers count it. Beside the result that takes memory for all contributions.
Program brought_program(const Shape& fold, int rank, const Program& bring);

}  // namespace chasqui::run
