// SPDX-License-Identifier: MIT
// Whose contributions a value has: a set of ranks.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::translate {

class Contributions {
 public:
  explicit Contributions(std::int64_t P) : P_(P), words_(static_cast<std::size_t>((P + 63) / 64)) {}
  Contributions(std::int64_t P, Rank only) : Contributions(P) { word(only.index) |= bit(only.index); }

  bool has(std::int64_t rank) const { return (words_[static_cast<std::size_t>(rank / 64)] & bit(rank)) != 0; }

  std::int64_t count() const {
    std::int64_t n = 0;
    for (const std::uint64_t w : words_) n += std::popcount(w);
    return n;
  }
  bool all() const { return count() == P_; }

  /// The least rank that both have.
  std::optional<std::int64_t> common(const Contributions& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t both = words_[i] & other.words_[i];
      if (both != 0) return static_cast<std::int64_t>(i) * 64 + std::countr_zero(both);
    }
    return std::nullopt;
  }

  void unite(const Contributions& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

  /// As intervals of ranks, cyclically, in the order of their first ranks.
  std::vector<Part> intervals() const {
    if (all()) return {{0, static_cast<std::int32_t>(P_)}};
    std::vector<Part> found;
    for (std::int64_t rank = 0; rank < P_; ++rank) {
      if (!has(rank) || has((rank + P_ - 1) % P_)) continue;
      std::int32_t length = 1;
      while (has((rank + length) % P_)) ++length;
      found.push_back({static_cast<std::int32_t>(rank), length});
    }
    return found;
  }

  /// The same as an interval that `part` names, cyclically.
  static Contributions of(std::int64_t P, const Part& part) {
    Contributions set(P);
    for (std::int64_t i = 0; i < part.len; ++i) set.word((part.lo + i) % P) |= bit((part.lo + i) % P);
    return set;
  }

  friend bool operator==(const Contributions&, const Contributions&) = default;

 private:
  std::uint64_t& word(std::int64_t rank) { return words_[static_cast<std::size_t>(rank / 64)]; }
  static std::uint64_t bit(std::int64_t rank) { return std::uint64_t{1} << (rank % 64); }

  std::int64_t P_;
  std::vector<std::uint64_t> words_;
};

/// A fold of these ranks' contributions as a message of the model names it. False where it would take more than two intervals.
inline bool set_parts(Send& message, const Contributions& from) {
  const std::vector<Part> parts = from.intervals();
  if (parts.empty() || parts.size() > 2) return false;
  message.part = parts[0];
  if (parts.size() == 2) message.second = parts[1];
  return true;
}

}  // namespace chasqui::translate
