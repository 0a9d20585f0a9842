// SPDX-License-Identifier: MIT
#include "solve/drat_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <unordered_map>

namespace chasqui::solve::drat {
namespace {

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

}  // namespace

std::string read(std::string_view formula, std::string_view steps, Proof& proof) {
  std::string wrong = read_formula(formula, proof);
  if (wrong.empty()) wrong = read_steps(steps, proof);
  if (wrong.empty()) renumber_if_sparse(proof);
  return wrong;
}

}  // namespace chasqui::solve::drat
