// SPDX-License-Identifier: MIT
// The two families of encodings behind encode() and canonical().
#pragma once

#include "chasqui/solve/encoding.hpp"

namespace chasqui::solve {

/// About how many variables the formula of the question has. In floating point: it is an estimate. The formula's text has at least a
/// third as many bytes: of items, each receives(item, rank, step) and has(…) is in a clause; of folds, each of the
/// P^2 / 2 intervals, ranks and steps has a clause of P literals; and a literal takes two bytes.
double estimated_variables(const Instance& instance, Time horizon);

/// Throws an Error for a question whose formula or program would not fit into memory.
void refuse_giants(const Instance& instance, Time horizon);

std::unique_ptr<Encoding> encode_items(const Instance& instance, Time horizon);
Schedule canonical_items(const Instance& instance, Schedule schedule);

std::unique_ptr<Encoding> encode_folds(const Instance& instance, Time horizon);
Schedule canonical_folds(const Instance& instance, Schedule schedule);

}  // namespace chasqui::solve
