// SPDX-License-Identifier: MIT
#include "chasqui/solve/cnf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "chasqui/base/error.hpp"

namespace chasqui::solve {

void Cnf::clause(std::span<const Literal> literals) {
  for (const Literal literal : literals) {
    CHASQUI_CHECK(literal != 0 && std::abs(literal) <= variables_, "literal={} variables={}", literal, variables_);
    literals_.push_back(literal);
  }
  literals_.push_back(0);
  ++clauses_;
}

void at_most_one(Cnf& cnf, std::span<const Literal> literals) {
  std::vector<Literal> rest(literals.begin(), literals.end());
  const auto pairwise = [&cnf](std::span<const Literal> group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = i + 1; j < group.size(); ++j) cnf.clause({-group[i], -group[j]});
    }
  };
  // Three literals become one that stands for "one of them", until few are left.
  std::size_t first = 0;
  while (rest.size() - first > 6) {
    const std::vector<Literal> group(rest.begin() + static_cast<std::ptrdiff_t>(first),
                                     rest.begin() + static_cast<std::ptrdiff_t>(first) + 3);
    first += 3;
    pairwise(group);
    const Literal any = cnf.fresh();
    for (const Literal literal : group) cnf.clause({-literal, any});
    rest.push_back(any);
  }
  pairwise(std::span(rest).subspan(first));
}

std::vector<Literal> count(Cnf& cnf, std::span<const Literal> inputs, Counts direction, std::size_t most) {
  if (inputs.size() <= 1) return {inputs.begin(), inputs.end()};
  const std::size_t half = inputs.size() / 2;
  const std::vector<Literal> a = count(cnf, inputs.first(half), direction, most);
  const std::vector<Literal> b = count(cnf, inputs.subspan(half), direction, most);
  std::vector<Literal> sum(std::min(a.size() + b.size(), most));
  for (Literal& literal : sum) literal = cnf.fresh();

  std::vector<Literal> clause;
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      clause.clear();
      if (direction == Counts::from_below) {  // i of a and j of b: at least i + j
        if (i + j == 0 || i + j > sum.size()) continue;
        if (i > 0) clause.push_back(-a[i - 1]);
        if (j > 0) clause.push_back(-b[j - 1]);
        clause.push_back(sum[i + j - 1]);
      } else {  // at most i of a and at most j of b: not i + j + 1
        if (i + j >= sum.size()) continue;
        if (i < a.size()) clause.push_back(a[i]);
        if (j < b.size()) clause.push_back(b[j]);
        clause.push_back(-sum[i + j]);
      }
      cnf.clause(clause);
    }
  }
  for (std::size_t n = 1; n < sum.size(); ++n) cnf.clause({-sum[n], sum[n - 1]});
  return sum;
}

std::string to_dimacs(const Cnf& cnf, std::span<const std::string> comments) {
  std::string text;
  for (const std::string& comment : comments) text += "c " + comment + "\n";
  text += fmt::format("p cnf {} {}\n", cnf.variables(), cnf.clauses());
  for (const Literal literal : cnf.literals()) {
    text += std::to_string(literal);
    text += literal == 0 ? '\n' : ' ';
  }
  return text;
}

}  // namespace chasqui::solve
