// SPDX-License-Identifier: MIT
// A propositional formula in conjunctive normal form, as plain data: encoders write it, solvers and files read it.
// Literals are non-zero integers, -x is "not x", as in the DIMACS format.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace chasqui::solve {

using Literal = int;  ///< a variable (from 1 on), or its negation
/// Clauses, in the solvers' text form.
class Cnf {
 public:
  /// A new variable, as its positive literal.
  Literal fresh() { return ++variables_; }
  void clause(std::span<const Literal> literals);  ///< adds one; empty: a contradiction
  void clause(std::initializer_list<Literal> literals) {
    clause(std::span(literals.begin(), literals.size()));
  }  ///< adds one

  int variables() const { return variables_; }       ///< used so far
  std::int64_t clauses() const { return clauses_; }  ///< added so far
  /// All clauses one after another, each ended by 0.
  const std::vector<Literal>& literals() const { return literals_; }

 private:
  int variables_ = 0;
  std::int64_t clauses_ = 0;
  std::vector<Literal> literals_;
};

/// At most one of the literals is true. Clauses: about 3n; up to six literals pairwise, more in groups of three with one new
/// variable each.
void at_most_one(Cnf& cnf, std::span<const Literal> literals);

/// Which half of a counter is wanted.
enum class Counts {
  from_below,  ///< inputs force outputs up: n true inputs make output n true
  from_above,  ///< a true output n forces n true inputs
};

/// A totalizer (Bailleux and Boufkhad): literal n-1 of the result says "at least n of the inputs", for n up to `most`.
/// Clauses: O(inputs · most).
std::vector<Literal> count(Cnf& cnf, std::span<const Literal> inputs, Counts direction, std::size_t most);

/// The formula as a DIMACS file; `comment` lines come first, each as "c …".
std::string to_dimacs(const Cnf& cnf, std::span<const std::string> comments = {});

}  // namespace chasqui::solve
