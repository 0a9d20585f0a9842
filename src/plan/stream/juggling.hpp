// SPDX-License-Identifier: MIT
// The order of a word. A rank that receives, at position j of its cycle of q steps, the item that completes x_j steps
// later never receives an item twice exactly when j -> j + x_j is a permutation modulo q: a juggling sequence. Values
// with sum 0 modulo q can always be ordered so (M. Hall); this is the constructive order (docs/streams.md, Theorem 5).
#pragma once

#include <cstdint>
#include <vector>

namespace chasqui::plan::stream_detail {

/// A rearrangement of `values` with j + values[j] a permutation modulo q = values.size().
/// Time: O(q · values that differ from the commonest). REQUIRES sum = 0 modulo q, q >= 1.
std::vector<std::int32_t> juggling_order(const std::vector<std::int32_t>& values);

/// Is j -> j + values[j] a permutation modulo the size?
bool is_juggling(const std::vector<std::int32_t>& values);

}  // namespace chasqui::plan::stream_detail
