// SPDX-License-Identifier: MIT
// The clauses of a DIMACS formula and the steps of a DRAT proof, read into one flat pool. Part of the proof checker.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chasqui::solve::drat {

using ClauseId = std::uint32_t;

struct Step {
  ClauseId clause = 0;
  bool deletes = false;
};

/// Clauses by number: those of the formula first, then those the proof adds.
struct Proof {
  std::vector<int> pool;
  std::vector<std::size_t> first{0};  ///< clause c is pool[first[c] .. first[c+1])
  ClauseId formula_clauses = 0;
  std::vector<Step> steps;
  int variables = 0;

  ClauseId count() const { return static_cast<ClauseId>(first.size() - 1); }
  std::span<int> clause(ClauseId c) { return {pool.data() + first[c], first[c + 1] - first[c]}; }
};

/// Fills `proof`; what is wrong with the texts, or "" if nothing.
std::string read(std::string_view formula, std::string_view steps, Proof& proof);

}  // namespace chasqui::solve::drat
