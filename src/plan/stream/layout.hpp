// SPDX-License-Identifier: MIT
// A stream ready to be played (streams.md, Theorem 4): runs of equal blocks, words in legal order. Non-source ranks are numbered
// run by run and block by block, the receive-only rank last. Time counts from an item's arrival at its tree's root.
#pragma once

#include <cstdint>

#include "chasqui/plan/stream.hpp"
#include "plan/stream/recipe.hpp"

namespace chasqui::plan::stream_detail {

using Head = StreamHead;
using Run = StreamRun;
using Layout = StreamLayout;

/// Orders every word. Time: O(types · q · uncommon letters).
Layout lay_out(const Recipe& recipe);

/// n <= L+1 ranks under the root alone: one block whose letters are all different, with a word in closed
/// form. Time: O(n). REQUIRES 1 <= n <= L+1.
Layout single_block(std::int64_t L, std::int64_t n);

/// The stream that plays a layout. REQUIRES layout.L >= L: nodes then wait layout.L - L steps before they send.
StreamPtr block_stream(std::int64_t P, std::int64_t L, std::int64_t root, Layout layout, Claim claim);

}  // namespace chasqui::plan::stream_detail
