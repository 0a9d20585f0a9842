// SPDX-License-Identifier: MIT
// Combining kinds: could each sender make the folds it sends, and can each rank make the result it is promised? Judged
// once; rule 1 reports what is missing, rule 6 what is counted twice, rule 7 results that are missing.
#pragma once

#include <optional>
#include <vector>

#include "verify/case.hpp"
#include "verify/tiling.hpp"

namespace chasqui::verifier {

/// Where contributions lie: in a sum, ranks without operands have none and are skipped.
class Contributions {
 public:
  explicit Contributions(const Case& the_case);

  std::int64_t count() const { return before_.empty() ? P_ : before_.back(); }
  /// REQUIRES: a well-formed interval.
  Piece piece(const Part& part, std::int64_t available) const;

 private:
  std::int64_t before(std::int64_t rank) const {
    return before_.empty() ? rank : before_[static_cast<std::size_t>(rank)];
  }

  std::int64_t P_;
  std::vector<std::int64_t> before_;  ///< sum: contributions of smaller ranks
};

struct Folds {
  std::vector<Cover> message;  ///< by index into Schedule::sends: the worse of its parts
  std::vector<Cover> result;   ///< by processor id; exact where nothing is promised
};

/// What a rank must be able to fold at the end, if anything.
std::optional<Part> promised_fold(const Case& the_case, Rank rank);

Folds judge_folds(const Case& the_case);

}  // namespace chasqui::verifier
