// SPDX-License-Identifier: MIT
// Backward from the empty clause. A step is undone first (an added clause leaves, a deleted one returns), so that what is present is
// what was present when the step was made; an addition is checked only if a later check used it. Nothing stays assigned
// between two checks: every check starts from the units that are present, which keeps watches valid without bookkeeping.
#include "chasqui/solve/drat.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "solve/drat_text.hpp"

namespace chasqui::solve {
namespace drat {
namespace {

class Checker {
 public:
  explicit Checker(Proof& proof)
      : proof_(proof), present_(proof.count(), false), needed_(proof.count(), false),
        watched_by_(2 * static_cast<std::size_t>(proof.variables) + 2),
        value_(static_cast<std::size_t>(proof.variables) + 1, 0), reason_(value_.size(), kNone),
        seen_(value_.size(), false) {
    for (ClauseId c = 0; c < proof.count(); ++c) {
      const std::span<const int> clause = proof_.clause(c);
      present_[c] = c < proof_.formula_clauses;
      pivot_.push_back(clause.empty() ? 0 : clause[0]);
      if (clause.size() == 1) units_.push_back(c);
      if (clause.empty()) empty_.push_back(c);
      for (std::size_t i = 0; i < 2 && clause.size() >= 2; ++i) watched_by_[slot(clause[i])].push_back(c);
    }
    for (const Step& step : proof_.steps) present_[step.clause] = !step.deletes;
  }

  /// The number of the first bad addition from the end, or none; counts what it checked.
  bool run(std::int64_t& checked, ClauseId& bad) {
    needed_[proof_.steps.back().clause] = true;
    for (std::size_t s = proof_.steps.size(); s-- > 0;) {
      const Step& step = proof_.steps[s];
      present_[step.clause] = step.deletes;
      if (step.deletes || !needed_[step.clause]) continue;
      ++checked;
      const std::span<const int> lemma = proof_.clause(step.clause);
      if (!propagates_to_conflict(lemma, {}, 0) && !resolvents_propagate(step.clause)) {
        bad = step.clause;
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr ClauseId kNone = ~ClauseId{0};

  static std::size_t slot(int literal) {
    return 2 * static_cast<std::size_t>(std::abs(literal)) + (literal < 0 ? 1 : 0);
  }
  int value(int literal) const {
    const int v = value_[static_cast<std::size_t>(std::abs(literal))];
    return literal > 0 ? v : -v;
  }

  /// Makes a literal true. False: it is false already.
  bool assign(int literal, ClauseId reason) {
    if (value(literal) != 0) return value(literal) > 0;
    value_[static_cast<std::size_t>(std::abs(literal))] = literal > 0 ? 1 : -1;
    reason_[static_cast<std::size_t>(std::abs(literal))] = reason;
    trail_.push_back(literal);
    return true;
  }

  void undo() {
    for (const int literal : trail_) value_[static_cast<std::size_t>(std::abs(literal))] = 0;
    trail_.clear();
  }

  /// Everything the conflict rests on is needed.
  void need(ClauseId conflict, int literal) {
    std::vector<int> open;
    const auto visit = [&](ClauseId c) {
      if (c == kNone) return;
      needed_[c] = true;
      for (const int l : proof_.clause(c)) open.push_back(l);
    };
    visit(conflict);
    if (literal != 0) open.push_back(literal);
    std::vector<std::size_t> visited;
    while (!open.empty()) {
      const auto variable = static_cast<std::size_t>(std::abs(open.back()));
      open.pop_back();
      if (seen_[variable] || value_[variable] == 0) continue;
      seen_[variable] = true;
      visited.push_back(variable);
      visit(reason_[variable]);
    }
    for (const std::size_t variable : visited) seen_[variable] = false;
  }

  /// Do the units, and the negation of `lemma` and of `other` without `pivot`, lead to a conflict?
  bool propagates_to_conflict(std::span<const int> lemma, std::span<const int> other, int pivot) {
    const bool conflict = find_conflict(lemma, other, pivot);
    undo();
    return conflict;
  }

  bool find_conflict(std::span<const int> lemma, std::span<const int> other, int pivot) {
    for (const ClauseId c : empty_) {
      if (present_[c]) return needed_[c] = true, true;
    }
    for (const ClauseId c : units_) {
      if (present_[c] && !assign(proof_.clause(c)[0], c)) return need(c, 0), true;
    }
    for (const std::span<const int> part : {lemma, other}) {
      for (const int literal : part) {
        if (pivot != 0 && literal == -pivot) continue;
        if (!assign(-literal, kNone)) return need(kNone, literal), true;
      }
    }
    for (std::size_t head = 0; head < trail_.size(); ++head) {
      if (!propagate(-trail_[head])) return true;
    }
    return false;
  }

  /// Clauses that watch a literal that became false. False: a conflict, and what it needs is noted.
  bool propagate(int falsified) {
    std::vector<ClauseId>& watching = watched_by_[slot(falsified)];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < watching.size(); ++i) {
      const ClauseId c = watching[i];
      watching[kept++] = c;
      if (!present_[c]) continue;
      const std::span<int> clause = proof_.clause(c);
      if (clause[0] == falsified) std::swap(clause[0], clause[1]);
      if (value(clause[0]) > 0) continue;
      std::size_t k = 2;
      while (k < clause.size() && value(clause[k]) < 0) ++k;
      if (k < clause.size()) {
        std::swap(clause[1], clause[k]);
        watched_by_[slot(clause[1])].push_back(c);
        --kept;
      } else if (!assign(clause[0], c)) {
        need(c, 0);
        while (++i < watching.size()) watching[kept++] = watching[i];
        watching.resize(kept);
        return false;
      }
    }
    watching.resize(kept);
    return true;
  }

  /// RAT: for every clause present that contains the negated pivot, the resolvent propagates to a conflict.
  bool resolvents_propagate(ClauseId lemma) {
    const int pivot = pivot_[lemma];
    if (pivot == 0) return false;
    for (ClauseId c = 0; c < proof_.count(); ++c) {
      if (!present_[c]) continue;
      bool clashes = false;
      for (const int literal : proof_.clause(c)) clashes = clashes || literal == -pivot;
      if (!clashes) continue;
      const std::vector<int> left(proof_.clause(lemma).begin(), proof_.clause(lemma).end());
      const std::vector<int> right(proof_.clause(c).begin(), proof_.clause(c).end());
      if (!propagates_to_conflict(left, right, pivot)) return false;
      needed_[c] = true;
    }
    return true;
  }

  Proof& proof_;
  std::vector<bool> present_, needed_;
  std::vector<ClauseId> units_, empty_;
  std::vector<std::vector<ClauseId>> watched_by_;  ///< by literal; absent clauses stay listed and are passed over
  std::vector<signed char> value_;
  std::vector<ClauseId> reason_;
  std::vector<bool> seen_;
  std::vector<int> trail_;
  std::vector<int> pivot_;  ///< the literal that was written first, before watches move them about
};

}  // namespace
}  // namespace drat

ProofReport check_drat(std::string_view formula, std::string_view proof_text) {
  ProofReport report;
  drat::Proof proof;
  report.reason = drat::read(formula, proof_text, proof);
  report.clauses = proof.formula_clauses;
  report.steps = static_cast<std::int64_t>(proof.steps.size());
  if (!report.reason.empty()) return report;
  drat::Checker checker(proof);
  drat::ClauseId bad = 0;
  report.accepted = checker.run(report.checked, bad);
  if (!report.accepted) {
    const auto clause = proof.clause(bad);
    report.reason =
        clause.empty()
            ? "the empty clause does not follow from the clauses before it"
            : fmt::format(
                  "addition {} of the proof, a clause of {} literals, does not follow from the clauses before it",
                  bad - proof.formula_clauses + 1, clause.size());
  }
  return report;
}

}  // namespace chasqui::solve
