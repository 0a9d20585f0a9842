// SPDX-License-Identifier: MIT
// Streams at the bound for L >= 3: base cases balanced, everything larger put together (streams.md, Theorem 7); for large
// latencies in bulk.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "plan/stream/recipe.hpp"

namespace chasqui::plan::stream_detail {

/// Where composition starts and which co-letter K the receive-only rank has there.
struct BaseRange {
  std::int64_t first = 0;  ///< strong base cases at t = first .. first+L-1, and with K+1 one step lower
  std::int32_t K = 0;
};
BaseRange base_range(std::int64_t L);

/// A base case that composition may ask for: the tree on f_{t-1} + u nodes, strong with K or, without K, weak.
struct BaseName {
  std::int64_t t = 0;
  std::int64_t u = 1;
  std::optional<std::int32_t> K;
};

/// (t, growth of the root from outside) -> how many full trees of height t.
using FullTrees = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

/// Adds full trees in the strong form with K. A(t) = A(t-1) with the root grown by one, and A(t-L): so A(t)
/// is the last of the base cases first .. first+L-1 with its root grown t - top times, and A(k-L) for k =
/// top+1 .. t. False if a base case resists.
bool add_full_trees(Recipe& recipe, const Growth& f, const FullTrees& wanted, std::int64_t first, std::int32_t K,
                    Shift shift);

/// Every base case of this L: with a solution for each (and the even-L exception), every P is settled.
/// About f_{first+L} names.
std::vector<BaseName> base_names(std::int64_t L);

/// Is this the one tree of an even L that no block-cyclic plan serves (n = L+3; streams.md, Theorem 9)?
bool is_even_exception(std::int64_t L, std::int64_t n);

/// A recipe for n ranks of delay L + B(n), or nothing if a base case resists or this is the even-L exception.
/// REQUIRES L >= 3, n >= 2.
std::optional<Recipe> compose(std::int64_t L, std::int64_t n);

/// The same for large latencies: of many equal blocks most take letters by one pattern, in bulk, and what remains is small
/// enough to be balanced block by block. No composition, no certificate: every plan is checked. Nothing if the rest resists, or if the words of all block types together
/// would be too long to keep. Time: seconds at L = 10 000, P = 10^6. REQUIRES L >= 3, n >= L+2.
std::optional<Recipe> balance_in_bulk(std::int64_t L, std::int64_t n);

}  // namespace chasqui::plan::stream_detail
