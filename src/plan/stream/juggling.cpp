// SPDX-License-Identifier: MIT
#include "plan/stream/juggling.hpp"

#include <algorithm>
#include <map>

#include "chasqui/base/error.hpp"

namespace chasqui::plan::stream_detail {
namespace {

/// The throws in hand and in the air: every item has a position and a value, and no two land together.
class Pattern {
 public:
  Pattern(std::int64_t q, std::int64_t value) : q_(q) {
    for (std::int64_t i = 0; i < q; ++i) {
      position_.push_back(i);
      value_.push_back(value);
    }
    lands_.assign(static_cast<std::size_t>(q), 0);
    for (std::int64_t i = 0; i < q; ++i) lands_[index(landing(i, i))] = i;
  }

  std::int64_t value(std::int64_t item) const { return value_[index(item)]; }
  std::int64_t position(std::int64_t item) const { return position_[index(item)]; }

  /// Gives item i its value and lets j compensate. Each displaced item moves to the free position of the step
  /// before, so no item is displaced twice: at most q steps.
  void set(std::int64_t i, std::int64_t value, std::int64_t j) {
    lands_[index(landing(i, position(i)))] = kFree;
    lands_[index(landing(j, position(j)))] = kFree;
    value_[index(j)] += value_[index(i)] - value;
    value_[index(i)] = value;
    std::int64_t hand = i;
    std::int64_t from = position(i);
    std::int64_t other = position(j);
    for (std::int64_t steps = 0;; ++steps) {
      CHASQUI_CHECK(steps <= q_, "juggling_order: q={} steps={}", q_, steps);
      std::int64_t& landed = lands_[index(landing(hand, from))];
      const std::int64_t displaced = landed;
      landed = hand;
      position_[index(hand)] = from;
      if (displaced == kFree) break;
      hand = displaced;
      from = other;
      other = position(displaced);
    }
    position_[index(j)] = other;
    lands_[index(landing(j, other))] = j;
  }

 private:
  static constexpr std::int64_t kFree = -1;
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::int64_t landing(std::int64_t item, std::int64_t position) const {
    return ((position + value_[index(item)]) % q_ + q_) % q_;
  }

  std::int64_t q_;
  std::vector<std::int64_t> position_, value_, lands_;
};

}  // namespace

std::vector<std::int32_t> juggling_order(const std::vector<std::int32_t>& values) {
  const auto q = static_cast<std::int64_t>(values.size());
  std::map<std::int32_t, std::int64_t> counts;
  std::int64_t sum = 0;
  for (const std::int32_t value : values) {
    ++counts[value];
    sum += value;
  }
  CHASQUI_CHECK(q >= 1 && sum % q == 0, "juggling_order: sum={} q={}", sum, q);
  const auto commonest =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  Pattern pattern(q, commonest->first);
  std::int64_t wrong = -1;  // the item that compensates so far
  for (std::int64_t i = 0; i < q; ++i) {
    if (values[static_cast<std::size_t>(i)] == commonest->first) continue;
    if (wrong >= 0) pattern.set(wrong, values[static_cast<std::size_t>(wrong)], i);
    wrong = i;
  }
  std::vector<std::int32_t> word(values.size());
  for (std::int64_t i = 0; i < q; ++i) {
    word[static_cast<std::size_t>(pattern.position(i))] = values[static_cast<std::size_t>(i)];
  }
  return word;
}

bool is_juggling(const std::vector<std::int32_t>& values) {
  const auto q = static_cast<std::int64_t>(values.size());
  std::vector<bool> taken(values.size());
  for (std::int64_t j = 0; j < q; ++j) {
    const auto landing = static_cast<std::size_t>(((j + values[static_cast<std::size_t>(j)]) % q + q) % q);
    if (taken[landing]) return false;
    taken[landing] = true;
  }
  return true;
}

}  // namespace chasqui::plan::stream_detail
