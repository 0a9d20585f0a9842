// SPDX-License-Identifier: MIT
#include "plan/stream/balance.hpp"

#include <algorithm>
#include <numeric>

namespace chasqui::plan::stream_detail {
namespace {

std::int64_t modulo(std::int64_t a, std::int64_t q) {
  return (a % q + q) % q;
}

std::int64_t size_of(const Letters& letters) {
  std::int64_t size = 0;
  for (const auto& [y, count] : letters) size += count;
  return size;
}

std::int64_t sum_of(const Letters& letters) {
  std::int64_t sum = 0;
  for (const auto& [y, count] : letters) sum += y * count;
  return sum;
}

/// One attempt: blocks in a fixed order, each takes plenty and repairs its sum by swaps; the last block takes
/// the rest.
class Attempt {
 public:
  Attempt(const Instance& instance, int variant)
      : instance_(instance),
        variant_(variant),
        random_(0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(variant + 1)) {
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
  std::int64_t count(std::int32_t y) const { return y < low_ || at(y) >= pool_.size() ? 0 : pool_[at(y)]; }
  std::uint64_t next() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  /// The last block and the order of the others. Without a block that wants letters there is nothing to
  /// order.
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
    if (!strong && blocks[0].q <= 2 * instance_.L && variant_ % 3 != 2) {
      z = static_cast<std::size_t>(std::find(candidates.begin(), candidates.end(), 0U) - candidates.begin());
    } else {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (blocks[candidates[c]].q <= instance_.L) z = c;
      }
    }
    if (z >= candidates.size()) z = candidates.size() - 1;
    if (variant_ >= 6) z = static_cast<std::size_t>(next() % candidates.size());
    last_ = candidates[z];
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(z));
    if (variant_ >= 3 && variant_ % 2 == 1) std::reverse(candidates.begin(), candidates.end());
    if (variant_ >= 10 && variant_ % 4 == 2) {
      for (std::size_t i = candidates.size(); i > 1; --i)
        std::swap(candidates[i - 1], candidates[next() % i]);
    }
    order_ = candidates;
    return true;
  }

  /// How willingly a letter is given away: its count, with noise in the later variants.
  std::int64_t plenty(std::size_t i) const { return pool_[i] * 16 + noise_[i]; }

  void take(std::size_t block) {
    if (variant_ >= 8) {
      const std::uint64_t range = 16 * static_cast<std::uint64_t>(1 + variant_ % 7);
      for (std::int64_t& noise : noise_) noise = static_cast<std::int64_t>(next() % range);
    }
    std::int64_t wanted = instance_.blocks[block].q - 1;
    while (wanted > 0) {
      std::size_t best = pool_.size();
      for (std::size_t i = 0; i < pool_.size(); ++i) {
        if (pool_[i] == 0) continue;
        const bool larger_wins = variant_ % 2 == 0;
        if (best == pool_.size() || (larger_wins ? plenty(i) >= plenty(best) : plenty(i) > plenty(best)))
          best = i;
      }
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
    std::int64_t step = 0, gain = 0;
  };

  /// The best swap among those `accept`ed; accept(step) returns a rank, higher is better, or a negative
  /// number.
  template <typename Accept>
  std::optional<Swap> best_swap(std::size_t block, Accept accept) const {
    std::optional<Swap> best;
    std::int64_t best_rank = 0;
    for (const auto& [mine, held] : result_.letters[block]) {
      for (std::size_t i = 0; i < pool_.size(); ++i) {
        const std::int32_t pools = low_ + static_cast<std::int32_t>(i);
        if (pool_[i] == 0 || pools == mine) continue;
        const std::int64_t rank = accept(pools - mine);
        if (rank < 0) continue;
        const std::int64_t gain = plenty(i) - plenty(at(mine));
        if (!best || rank > best_rank || (rank == best_rank && gain > best->gain)) {
          best = Swap{mine, pools, pools - mine, gain};
          best_rank = rank;
        }
      }
    }
    return best;
  }

  bool swap_to_exact(std::size_t block, std::int64_t target) {
    std::int64_t missing = target - sum_of(result_.letters[block]);
    while (missing != 0) {
      const auto step = best_swap(block, [&](std::int64_t s) {
        const bool right_way = missing > 0 ? s > 0 && s <= missing : s < 0 && s >= missing;
        return right_way ? std::abs(s) : -1;
      });
      if (!step) return false;
      swap(block, step->mine, step->pools);
      missing -= step->step;
    }
    return true;
  }

  bool swap_to_residue(std::size_t block) {
    const Demand& demand = instance_.blocks[block];
    const std::int64_t q = demand.q;
    std::int64_t up = modulo(demand.residue - sum_of(result_.letters[block]), q);
    if (up == 0) return true;
    if (const auto one = best_swap(block, [&](std::int64_t s) { return modulo(s, q) == up ? 0 : -1; })) {
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
    return exchange(rest, 1) || exchange(rest, 2);
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

  /// Exchanges one or two letters with another block, congruent modulo its size, until the rest settles.
  bool exchange(Letters& rest, int letters) {
    for (const std::size_t block : order_) {
      const std::int64_t q = instance_.blocks[block].q;
      Letters& theirs = result_.letters[block];
      const Letters rest_before = rest;
      const Letters theirs_before = theirs;
      for (const auto& [a, a_count] : rest_before) {
        for (const auto& [b, b_count] : theirs_before) {
          if (a == b) continue;
          if (letters == 1) {
            if (modulo(b - a, q) != 0) continue;
            move(rest, theirs, a);
            move(theirs, rest, b);
            if (settle(rest)) return true;
            rest = rest_before;
            theirs = theirs_before;
            continue;
          }
          for (const auto& [c, c_count] : rest_before) {
            if (c < a || (c == a && a_count < 2)) continue;
            for (const auto& [d, d_count] : theirs_before) {
              if (c == d || (b == d && b_count < 2) || modulo(b + d - a - c, q) != 0) continue;
              move(rest, theirs, a);
              move(rest, theirs, c);
              move(theirs, rest, b);
              move(theirs, rest, d);
              if (settle(rest)) return true;
              rest = rest_before;
              theirs = theirs_before;
            }
          }
        }
      }
    }
    return false;
  }

  const Instance& instance_;
  int variant_;
  std::uint64_t random_;
  std::int32_t low_ = 0;
  std::vector<std::int64_t> pool_, noise_;
  std::vector<std::size_t> order_;
  std::optional<std::size_t> last_;
  std::int64_t spare_ = 0;
  Balanced result_;
};

}  // namespace

std::optional<Balanced> balance(const Instance& instance, int effort) {
  for (int variant = 0; variant < effort; ++variant) {
    if (auto balanced = Attempt(instance, variant).run()) return balanced;
  }
  return std::nullopt;
}

bool meets(const Instance& instance, const Balanced& balanced) {
  Letters used;
  if (balanced.letters.size() != instance.blocks.size()) return false;
  for (std::size_t b = 0; b < instance.blocks.size(); ++b) {
    const Demand& demand = instance.blocks[b];
    const Letters& letters = balanced.letters[b];
    if (size_of(letters) != demand.q - 1 || modulo(sum_of(letters) - demand.residue, demand.q) != 0)
      return false;
    for (const auto& [y, count] : letters) used[y] += count;
  }
  if (balanced.receive_only) ++used[*balanced.receive_only];
  if (instance.K) {
    if (balanced.receive_only != instance.K) return false;
    if (sum_of(balanced.letters[0]) != std::int64_t{*instance.K} * instance.blocks[0].q) return false;
  }
  Letters pool = instance.pool;
  std::erase_if(pool, [](const auto& entry) { return entry.second == 0; });
  return used == pool;
}

}  // namespace chasqui::plan::stream_detail
