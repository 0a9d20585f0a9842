// SPDX-License-Identifier: MIT
// What one rank has heard of failures elsewhere: collectives that failed, and calls whose arguments a rank refused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace chasqui::run {
/// What is known of failures elsewhere.
class BadNews {
 public:
  /// Collectives first .. last failed somewhere.
  void report(std::uint64_t first, std::uint64_t last, const std::string& why) {
    if (why_.empty()) why_ = why;
    first_ = std::min(first_, first);
    last_ = std::max(last_, last);
  }
  /// A rank refused its arguments for a collective. Harmless if all ranks did.
  void refuse(std::uint64_t number, const std::string& why) {
    if (why_.empty()) why_ = why;
    refused_.push_back(number);
  }
  /// Did a collective up to `number` fail, or did a rank refuse one that is not in `own`?
  bool concerns(std::uint64_t number, const std::vector<std::uint64_t>& own) const {
    if (number >= first_ && number <= last_) return true;
    return std::any_of(refused_.begin(), refused_.end(), [&](std::uint64_t refused) {
      return refused <= number && std::find(own.begin(), own.end(), refused) == own.end();
    });
  }
  bool broken() const { return last_ != 0; }       ///< did any collective fail?
  const std::string& why() const { return why_; }  ///< of the first that was told

 private:
  std::uint64_t first_ = ~std::uint64_t{0};
  std::uint64_t last_ = 0;
  std::string why_;
  std::vector<std::uint64_t> refused_;
};

}  // namespace chasqui::run
