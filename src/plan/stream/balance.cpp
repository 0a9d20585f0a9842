// SPDX-License-Identifier: MIT
#include "plan/stream/balance.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan::stream_detail {
namespace {

/// What one attempt does differently from the others.
struct Variant {
  std::uint64_t seed;
  bool small_root_last;     ///< weak form: a root block of at most 2L ranks takes the rest
  bool random_last;         ///< the block that takes the rest is drawn
  bool largest_first;       ///< the other blocks by descending size
  bool shuffled;            ///< or in random order
  bool larger_letter_wins;  ///< among piles of one size
  std::uint64_t noise;      ///< how far a pile may be misjudged: 16 is one letter
};

/// Number 0 settles nearly all. The next ones change tie rule, order and last block; from 6 on chance joins in.
Variant variant(int number) {
  return {.seed = 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(number + 1),
          .small_root_last = number % 3 != 2,
          .random_last = number >= 6,
          .largest_first = number >= 3 && number % 2 == 1,
          .shuffled = number >= 10 && number % 4 == 2,
          .larger_letter_wins = number % 2 == 0,
          .noise = number < 8 ? 0 : 16 * static_cast<std::uint64_t>(1 + number % 7)};
}

/// One attempt: blocks in a fixed order, each takes plenty and repairs its sum by swaps; the last block takes the rest.
class Attempt {
 public:
  Attempt(const Instance& instance, const Variant& variant)
      : instance_(instance), variant_(variant), random_(variant.seed) {
    low_ = instance.pool.empty() ? 0 : instance.pool.begin()->first;
    const std::int32_t high = instance.pool.empty() ? 0 : instance.pool.rbegin()->first;
    pool_.assign(static_cast<std::size_t>(high - low_ + 1), 0);
    noise_.assign(pool_.size(), 0);
    for (const auto& [y, count] : instance.pool) pool_[at(y)] = count;
    result_.letters.resize(instance.blocks.size());
  }

  std::optional<Balanced> run() {
    if (!plan_order()) return std::nullopt;
    if (instance_.K) {
      if (count(*instance_.K) == 0) return std::nullopt;
      --pool_[at(*instance_.K)];
      result_.receive_only = *instance_.K;
      const std::int64_t q = instance_.blocks[0].q;
      take(0);
      if (!swap_to_exact(0, *instance_.K * q)) return std::nullopt;
    }
    for (const std::size_t block : order_) {
      take(block);
      if (!swap_to_residue(block)) return std::nullopt;
    }
    return finish() ? std::optional(std::move(result_)) : std::nullopt;
  }

 private:
  std::size_t at(std::int32_t y) const { return static_cast<std::size_t>(y - low_); }
  std::int32_t high() const { return low_ + static_cast<std::int32_t>(pool_.size()) - 1; }
  std::int64_t count(std::int32_t y) const { return y < low_ || at(y) >= pool_.size() ? 0 : pool_[at(y)]; }
  std::uint64_t next() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  /// The last block and the order of the others. Without a block that wants letters there is nothing to order.
  bool plan_order() {
    const auto& blocks = instance_.blocks;
    const bool strong = instance_.K.has_value();
    std::vector<std::size_t> candidates;
    for (std::size_t b = strong ? 1 : 0; b < blocks.size(); ++b) {
      if (blocks[b].q > 1) candidates.push_back(b);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](std::size_t a, std::size_t b) { return blocks[a].q < blocks[b].q; });
    if (candidates.empty()) {
      last_.reset();
      return true;
    }
    std::size_t z = 0;
    if (!strong && blocks[0].q <= 2 * instance_.L && variant_.small_root_last) {
      z = static_cast<std::size_t>(std::find(candidates.begin(), candidates.end(), 0U) - candidates.begin());
    } else {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (blocks[candidates[c]].q <= instance_.L) z = c;
      }
    }
    if (z >= candidates.size()) z = candidates.size() - 1;
    if (variant_.random_last) z = static_cast<std::size_t>(next() % candidates.size());
    last_ = candidates[z];
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(z));
    if (variant_.largest_first) std::reverse(candidates.begin(), candidates.end());
    if (variant_.shuffled) {
      for (std::size_t i = candidates.size(); i > 1; --i) std::swap(candidates[i - 1], candidates[next() % i]);
    }
    order_ = candidates;
    return true;
  }

  /// How willingly a letter is given away: its count, with noise in the later variants.
  std::int64_t plenty(std::size_t i) const { return pool_[i] * 16 + noise_[i]; }

  void take(std::size_t block) {
    if (variant_.noise > 0) {
      for (std::int64_t& noise : noise_) noise = static_cast<std::int64_t>(next() % variant_.noise);
    }
    std::int64_t wanted = instance_.blocks[block].q - 1;
    const auto scarcer = [&](std::size_t a, std::size_t b) {
      if (plenty(a) != plenty(b)) return plenty(a) < plenty(b);
      return variant_.larger_letter_wins ? a < b : a > b;
    };
    piles_.clear();
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (pool_[i] > 0) piles_.push_back(i);
    }
    std::make_heap(piles_.begin(), piles_.end(), scarcer);
    while (wanted > 0 && !piles_.empty()) {
      std::pop_heap(piles_.begin(), piles_.end(), scarcer);
      const std::size_t best = piles_.back();
      piles_.pop_back();
      const std::int64_t taken = std::min(wanted, pool_[best]);
      pool_[best] -= taken;
      result_.letters[block][low_ + static_cast<std::int32_t>(best)] += taken;
      wanted -= taken;
    }
  }

  void swap(std::size_t block, std::int32_t mine, std::int32_t pools) {
    Letters& letters = result_.letters[block];
    if (--letters[mine] == 0) letters.erase(mine);
    ++letters[pools];
    ++pool_[at(mine)];
    --pool_[at(pools)];
  }

  struct Swap {
    std::int32_t mine = 0, pools = 0;
    std::int64_t gain = 0;
  };

  void consider(std::optional<Swap>& best, std::int32_t mine, std::int64_t pools) const {
    const auto wanted = static_cast<std::int32_t>(pools);
    const std::int64_t gain = plenty(at(wanted)) - plenty(at(mine));
    if (!best || gain > best->gain) best = Swap{mine, wanted, gain};
  }

  /// The swap that changes the sum by exactly `step`, from plenty to scarcity. Time: O(letters of the block).
  std::optional<Swap> swap_by(std::size_t block, std::int64_t step) const {
    std::optional<Swap> best;
    for (const auto& [mine, held] : result_.letters[block]) {
      const std::int64_t pools = mine + step;
      if (pools >= low_ && pools <= high() && pool_[static_cast<std::size_t>(pools - low_)] > 0)
        consider(best, mine, pools);
    }
    return best;
  }

  /// The swap that changes the sum by `up` modulo q. Time: O(range of the letters).
  std::optional<Swap> swap_modulo(std::size_t block, std::int64_t up, std::int64_t q) const {
    std::optional<Swap> best;
    for (const auto& [mine, held] : result_.letters[block]) {
      for (std::int64_t pools = low_ + modulo(mine + up - low_, q); pools <= high(); pools += q) {
        if (pools != mine && pool_[static_cast<std::size_t>(pools - low_)] > 0) consider(best, mine, pools);
      }
    }
    return best;
  }

  bool swap_to_exact(std::size_t block, std::int64_t target) {
    std::int64_t missing = target - sum_of(result_.letters[block]);
    while (missing != 0) {
      const std::int64_t sign = missing > 0 ? 1 : -1;
      std::optional<Swap> swapped;
      std::int64_t step = std::min<std::int64_t>(std::abs(missing), high() - low_);
      for (; step > 0 && !swapped; --step) swapped = swap_by(block, sign * step);
      if (!swapped) return false;
      swap(block, swapped->mine, swapped->pools);
      missing -= swapped->pools - swapped->mine;
    }
    return true;
  }

  bool swap_to_residue(std::size_t block) {
    const Demand& demand = instance_.blocks[block];
    const std::int64_t q = demand.q;
    std::int64_t up = modulo(demand.residue - sum_of(result_.letters[block]), q);
    if (up == 0) return true;
    if (const auto one = swap_modulo(block, up, q)) {
      swap(block, one->mine, one->pools);
      return true;
    }
    // No single swap: walk up by `up` or down by q - up, the shorter way that can be finished.
    const bool up_first = 2 * up <= q;
    const auto saved_pool = pool_;
    const auto saved_letters = result_.letters[block];
    for (const bool upwards : {up_first, !up_first}) {
      const std::int64_t distance = upwards ? up : up - q;
      if (swap_to_exact(block, sum_of(saved_letters) + distance)) return true;
      pool_ = saved_pool;
      result_.letters[block] = saved_letters;
    }
    return false;
  }

  /// What remains is for the last block and, in the weak form, for the receive-only rank.
  bool finish() {
    Letters rest;
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (pool_[i] > 0) rest[low_ + static_cast<std::int32_t>(i)] = pool_[i];
    }
    const std::int64_t places = last_ ? instance_.blocks[*last_].q - 1 : 0;
    spare_ = size_of(rest) - places;
    if (spare_ < 0 || spare_ > 1) return false;
    if (settle(rest)) return true;
    return exchange_one(rest) || exchange_two(rest);
  }

  bool settle(const Letters& rest) {
    if (!last_) {
      if (spare_ == 1) result_.receive_only = rest.begin()->first;
      return true;
    }
    const Demand& demand = instance_.blocks[*last_];
    const std::int64_t excess = modulo(sum_of(rest) - demand.residue, demand.q);
    if (spare_ == 0) {
      if (excess != 0) return false;
      result_.letters[*last_] = rest;
      return true;
    }
    for (const auto& [y, held] : rest) {
      if (modulo(y, demand.q) != excess) continue;
      result_.receive_only = y;
      result_.letters[*last_] = rest;
      Letters& letters = result_.letters[*last_];
      if (--letters[y] == 0) letters.erase(y);
      return true;
    }
    return false;
  }

  static void move(Letters& from, Letters& to, std::int32_t y) {
    if (--from[y] == 0) from.erase(y);
    ++to[y];
  }

  /// Would the rest settle without `out` and with `in` instead? (Sums of letters; `rest` as it is.)
  bool would_settle(const Letters& rest, std::int64_t sum, std::initializer_list<std::int32_t> out,
                    std::initializer_list<std::int32_t> in) const {
    if (!last_) return true;
    const Demand& demand = instance_.blocks[*last_];
    for (const std::int32_t y : out) sum -= y;
    for (const std::int32_t y : in) sum += y;
    const std::int64_t excess = modulo(sum - demand.residue, demand.q);
    if (spare_ == 0) return excess == 0;
    for (const std::int32_t y : in) {
      if (modulo(y, demand.q) == excess) return true;
    }
    for (std::int64_t y = low_ + modulo(excess - low_, demand.q); y <= high(); y += demand.q) {
      const auto held = rest.find(static_cast<std::int32_t>(y));
      if (held == rest.end()) continue;
      if (held->second > std::count(out.begin(), out.end(), static_cast<std::int32_t>(y))) return true;
    }
    return false;
  }

  /// Exchanges one letter with another block, congruent modulo its size, so that the rest settles.
  bool exchange_one(Letters& rest) {
    const std::int64_t sum = sum_of(rest);
    for (const std::size_t block : order_) {
      const std::int64_t q = instance_.blocks[block].q;
      Letters& theirs = result_.letters[block];
      for (const auto& [a, a_count] : rest) {
        for (std::int64_t b = low_ + modulo(a - low_, q); b <= high(); b += q) {
          const std::int32_t given = a;
          const auto got = static_cast<std::int32_t>(b);
          if (got == given || !theirs.contains(got) || !would_settle(rest, sum, {given}, {got})) continue;
          move(rest, theirs, given);
          move(theirs, rest, got);
          return settle(rest);
        }
      }
    }
    return false;
  }

  /// The same with two letters. Gives up after many trials: large instances have other variants.
  bool exchange_two(Letters& rest) {
    const std::int64_t sum = sum_of(rest);
    std::int64_t trials = 20'000'000;
    for (const std::size_t block : order_) {
      const std::int64_t q = instance_.blocks[block].q;
      Letters& theirs = result_.letters[block];
      for (const auto& [a, a_count] : rest) {
        for (const auto& [b, b_count] : theirs) {
          if (a == b) continue;
          for (const auto& [c, c_count] : rest) {
            if (c < a || (c == a && a_count < 2)) continue;
            for (const auto& [d, d_count] : theirs) {
              if (--trials < 0) return false;
              if (c == d || (b == d && b_count < 2) || modulo(b + d - a - c, q) != 0) continue;
              if (!would_settle(rest, sum, {a, c}, {b, d})) continue;
              const std::int32_t letters[] = {a, c, b, d};
              move(rest, theirs, letters[0]);
              move(rest, theirs, letters[1]);
              move(theirs, rest, letters[2]);
              move(theirs, rest, letters[3]);
              return settle(rest);
            }
          }
        }
      }
    }
    return false;
  }

  const Instance& instance_;
  Variant variant_;
  std::uint64_t random_;
  std::int32_t low_ = 0;
  std::vector<std::int64_t> pool_, noise_;
  std::vector<std::size_t> piles_;  ///< scratch
  std::vector<std::size_t> order_;
  std::optional<std::size_t> last_;
  std::int64_t spare_ = 0;
  Balanced result_;
};

}  // namespace

std::optional<Balanced> balance(const Instance& instance, int effort) {
  for (int number = 0; number < effort; ++number) {
    if (auto balanced = Attempt(instance, variant(number)).run()) return balanced;
  }
  return std::nullopt;
}

}  // namespace chasqui::plan::stream_detail
