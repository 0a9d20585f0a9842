// SPDX-License-Identifier: MIT
// Backward from the empty clause. A step is undone first (an added clause leaves, a deleted one returns), so that what is present is
// what was present when the step was made; an addition is checked only if a later check used it. Nothing stays assigned
// between two checks: every check starts from the units that are present, which keeps watches valid without bookkeeping.
#include "chasqui/solve/drat.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>
#include <unordered_map>
#include <vector>

namespace chasqui::solve {
namespace drat {
namespace {

// The clauses of a DIMACS formula and the steps of a DRAT proof, read into one flat pool.

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

/// Words between blanks, with the line they stand on.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::string_view next() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !blank(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  int line() const { return line_; }

 private:
  static bool blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void skip() {
    for (; at_ < text_.size() && blank(text_[at_]); ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

constexpr int kLargest = 1 << 30;

bool to_int(std::string_view word, int& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && value > -kLargest && value < kLargest;
}

/// Reads literals up to 0 into the pool, `word` being the first. False: something else stands there, or the text ends.
bool read_literals(Words& words, std::string_view word, Proof& proof) {
  for (int literal = 0;; word = words.next()) {
    if (!to_int(word, literal)) return false;
    if (literal == 0) return true;
    proof.pool.push_back(literal);
  }
}

std::string read_formula(std::string_view text, Proof& proof) {
  Words words(text);
  std::string_view word = words.next();
  while (word == "c") {
    words.skip_line();
    word = words.next();
  }
  int announced = 0, clauses = 0;
  if (word != "p" || words.next() != "cnf" || !to_int(words.next(), announced) || !to_int(words.next(), clauses) ||
      announced < 0 || clauses < 0) {
    return "the formula does not begin with 'p cnf VARIABLES CLAUSES'";
  }
  for (int c = 0; c < clauses; ++c) {
    if (!read_literals(words, words.next(), proof))
      return fmt::format("the formula's line {} is not a clause", words.line());
    for (std::size_t i = proof.first.back(); i < proof.pool.size(); ++i) {
      const int variable = std::abs(proof.pool[i]);
      if (variable > announced)
        return fmt::format("the formula's line {} has variable {} of only {}", words.line(), variable, announced);
      proof.variables = std::max(proof.variables, variable);
    }
    proof.first.push_back(proof.pool.size());
  }
  if (!words.next().empty()) return fmt::format("the formula has more than the {} clauses it announces", clauses);
  proof.formula_clauses = proof.count();
  return "";
}

/// Clauses that are present, by a hash that ignores the order of literals.
class Present {
 public:
  explicit Present(Proof& proof) : proof_(proof) {}

  void add(ClauseId c) { by_hash_.emplace(hash(proof_.clause(c)), c); }
  /// Takes a clause with these literals out; false if there is none.
  bool take(std::span<const int> literals, ClauseId& found) {
    const std::vector<int> wanted = sorted(literals);
    const auto [begin, end] = by_hash_.equal_range(hash(literals));
    for (auto place = begin; place != end; ++place) {
      if (sorted(proof_.clause(place->second)) != wanted) continue;
      found = place->second;
      by_hash_.erase(place);
      return true;
    }
    return false;
  }

 private:
  static std::vector<int> sorted(std::span<const int> literals) {
    std::vector<int> copy(literals.begin(), literals.end());
    std::sort(copy.begin(), copy.end());
    return copy;
  }
  static std::uint64_t hash(std::span<const int> literals) {
    std::uint64_t sum = 0, product = 1, exclusive = 0;
    for (const int literal : literals) {
      const auto word = static_cast<std::uint64_t>(static_cast<std::int64_t>(literal));
      sum += word;
      product *= 2 * word + 1;
      exclusive ^= word;
    }
    return (1023 * sum + product) ^ (31 * exclusive);
  }

  Proof& proof_;
  std::unordered_multimap<std::uint64_t, ClauseId> by_hash_;
};

std::string read_steps(std::string_view text, Proof& proof) {
  Present present(proof);
  for (ClauseId c = 0; c < proof.count(); ++c) present.add(c);
  Words words(text);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    const bool deletes = word == "d";
    if (deletes) word = words.next();
    const int line = words.line();
    if (!read_literals(words, word, proof))
      return fmt::format("the proof's line {} is not a step: literals, then 0", line);
    const std::span<const int> literals = std::span(proof.pool).subspan(proof.first.back());
    for (const int literal : literals) proof.variables = std::max(proof.variables, std::abs(literal));
    if (!deletes) {
      const bool empty = literals.empty();
      proof.first.push_back(proof.pool.size());
      present.add(proof.count() - 1);
      proof.steps.push_back({proof.count() - 1, false});
      if (empty) return "";  // what follows is of no use
      continue;
    }
    ClauseId found = 0;
    // Units stay: a formula with more clauses is no easier to satisfy, so every later check remains sound.
    if (literals.size() != 1) {
      if (!present.take(literals, found))
        return fmt::format("the proof's line {} deletes a clause that is not there", line);
      proof.steps.push_back({found, true});
    }
    proof.pool.resize(proof.first.back());
  }
  return "the proof does not derive the empty clause";
}

/// Few variables with large numbers get small ones, so that tables by variable are no larger than the texts.
void renumber_if_sparse(Proof& proof) {
  if (static_cast<std::size_t>(proof.variables) <= 1000 + 4 * proof.pool.size()) return;
  std::vector<int> used;
  for (const int literal : proof.pool) used.push_back(std::abs(literal));
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (int& literal : proof.pool) {
    const auto place = std::lower_bound(used.begin(), used.end(), std::abs(literal)) - used.begin();
    literal = (literal < 0 ? -1 : 1) * static_cast<int>(place + 1);
  }
  proof.variables = static_cast<int>(used.size());
}

/// Fills `proof`; what is wrong with the texts, or "" if nothing.
std::string read(std::string_view formula, std::string_view steps, Proof& proof) {
  std::string wrong = read_formula(formula, proof);
  if (wrong.empty()) wrong = read_steps(steps, proof);
  if (wrong.empty()) renumber_if_sparse(proof);
  return wrong;
}

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
