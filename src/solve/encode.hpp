// SPDX-License-Identifier: MIT
// The two families of encodings behind encode() and canonical().
#pragma once

#include "chasqui/solve/encoding.hpp"

namespace chasqui::solve {

/// Throws an Error for a question whose formula or program would not fit into memory.
void refuse_giants(const Instance& instance, Time horizon);

std::unique_ptr<Encoding> encode_items(const Instance& instance, Time horizon);
Schedule canonical_items(const Instance& instance, Schedule schedule);

std::unique_ptr<Encoding> encode_folds(const Instance& instance, Time horizon);
Schedule canonical_folds(const Instance& instance, Schedule schedule);

}  // namespace chasqui::solve
