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

/// Does a rank send, or receive, an item in a message begun at this step of the item's clock?
using ItemStep = std::function<bool(std::int64_t item, std::int64_t rank, std::int64_t step)>;

/// The schedule in which, per item and step, the senders serve the receivers in the order of their ranks. REQUIRES no fewer
/// senders than receivers.
Schedule match_items(const Instance& instance, std::int64_t steps, const ItemStep& sends, const ItemStep& receives);

std::unique_ptr<Encoding> encode_items(const Instance& instance, Time horizon);
Schedule canonical_items(const Instance& instance, Schedule schedule);

std::unique_ptr<Encoding> encode_folds(const Instance& instance, Time horizon);
Schedule canonical_folds(const Instance& instance, Schedule schedule);

}  // namespace chasqui::solve
