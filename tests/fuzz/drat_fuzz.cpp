// SPDX-License-Identifier: MIT
// Any bytes are a formula and a proof, divided by a line "=". The checker answers with a reason on one line, and what it accepts
// is unsatisfiable: with few variables that is tried out.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "chasqui/solve/drat.hpp"
#include "require.hpp"

using namespace chasqui::solve;

namespace {

/// The clauses of a formula that the checker has read without complaint.
std::vector<std::vector<int>> clauses_of(const std::string& formula) {
  std::istringstream words(formula);
  std::string word;
  while (words >> word && word != "p") std::getline(words, word);
  int variables = 0, count = 0;
  words >> word >> variables >> count;
  std::vector<std::vector<int>> clauses(static_cast<std::size_t>(count));
  for (auto& clause : clauses) {
    for (int literal = 0; words >> literal && literal != 0;) clause.push_back(literal);
  }
  return clauses;
}

bool satisfiable(const std::vector<std::vector<int>>& clauses, const std::vector<int>& variables) {
  for (std::uint32_t values = 0; values < (1U << variables.size()); ++values) {
    const auto holds = [&](int literal) {
      for (std::size_t v = 0; v < variables.size(); ++v) {
        if (variables[v] == std::abs(literal)) return ((values >> v) & 1U) == (literal > 0 ? 1U : 0U);
      }
      return false;
    };
    bool all = true;
    for (const auto& clause : clauses) {
      bool one = false;
      for (const int literal : clause) one = one || holds(literal);
      all = all && one;
    }
    if (all) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t divider = text.find("\n=\n");
  const std::string formula = text.substr(0, divider);
  const std::string proof = divider == std::string::npos ? "" : text.substr(divider + 3);
  const ProofReport report = check_drat(formula, proof);
  require(report.accepted == report.reason.empty(), "a rejection has a reason");
  require(report.reason.find('\n') == std::string::npos, "the reason is one line");
  if (!report.accepted) return 0;
  const auto clauses = clauses_of(formula);
  std::set<int> variables;
  for (const auto& clause : clauses) {
    for (const int literal : clause) variables.insert(std::abs(literal));
  }
  if (variables.size() <= 10 && clauses.size() <= 200) {
    require(!satisfiable(clauses, {variables.begin(), variables.end()}), "what is accepted is unsatisfiable");
  }
  return 0;
}
