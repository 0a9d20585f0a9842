// SPDX-License-Identifier: MIT
// The edges of the plain trees.
#pragma once

#include <vector>

#include "chasqui/plan/plain_trees.hpp"

namespace chasqui::plan {

/// A tree on the places 0 .. P-1, place 0 the root, parents before children; place v stands for rank root + v (mod P)
/// and the subtree of v is the interval [v, v + size).
struct Branch {
  std::int64_t parent;
  std::int64_t child;
  std::int64_t size;
};

/// In the order in which each parent serves its children.
std::vector<Branch> branches_of(PlainTree tree, std::int64_t P);

}  // namespace chasqui::plan
