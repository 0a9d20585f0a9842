// SPDX-License-Identifier: MIT
// Who received which item when: one flat array, by processor and then by item.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "verify/case.hpp"

namespace chasqui::verifier {

struct Holding {
  std::int64_t item = 0;
  std::int64_t available = 0;
  std::uint32_t message = 0;
};

class Holdings {
 public:
  /// REQUIRES: a kind that moves items.
  explicit Holdings(const Case& the_case);

  /// By item, then availability.
  std::span<const Holding> of(std::size_t id) const { return {all_.data() + first_[id], first_[id + 1] - first_[id]}; }
  /// The first copy of the item received there, or nullptr.
  const Holding* find(std::size_t id, std::int64_t item) const;

 private:
  std::vector<std::size_t> first_;
  std::vector<Holding> all_;
};

}  // namespace chasqui::verifier
