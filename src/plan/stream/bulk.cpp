// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "plan/stream/compose.hpp"

namespace chasqui::plan::stream_detail {
namespace {

constexpr std::int64_t kListedRanks = 10'000'000;   ///< trees up to this size are balanced block by block
constexpr std::int64_t kKeptRanks = 300'000;        ///< of larger ones about so many ranks are left for that
constexpr std::int64_t kLongestWords = 40'000'000;  ///< letters of all block types together

using BlockKind = std::pair<std::int64_t, std::int64_t>;  // potential, missing children

/// The leaves not yet given away, and the largest pile of them.
class Pool {
 public:
  explicit Pool(const Letters& letters) {
    low_ = letters.begin()->first;
    count_.assign(static_cast<std::size_t>(letters.rbegin()->first - low_ + 1), 0);
    for (const auto& [y, count] : letters) {
      count_[at(y)] = count;
      piles_.emplace(count, y);
    }
  }

  std::int32_t low() const { return low_; }
  std::int32_t high() const { return low_ + static_cast<std::int32_t>(count_.size()) - 1; }
  std::int64_t count(std::int64_t y) const { return y < low_ || y > high() ? 0 : count_[at(y)]; }

  /// The letter of the largest pile.
  std::int32_t largest() {
    while (piles_.top().first != count(piles_.top().second)) piles_.pop();  // outdated
    return piles_.top().second;
  }

  void take(const Letters& letters, std::int64_t times) {
    for (const auto& [y, each] : letters) {
      count_[at(y)] -= each * times;
      piles_.emplace(count_[at(y)], y);
    }
  }

  Letters rest() const {
    Letters letters;
    for (std::int32_t y = low_; y <= high(); ++y) {
      if (count(y) > 0) letters[y] = count(y);
    }
    return letters;
  }

 private:
  std::size_t at(std::int64_t y) const { return static_cast<std::size_t>(y - low_); }

  std::int32_t low_ = 0;
  std::vector<std::int64_t> count_;
  std::priority_queue<std::pair<std::int64_t, std::int32_t>> piles_;
};

/// How often a block can take these letters without spending more than half of a pile.
std::int64_t affordable(const Pool& pool, const Letters& letters) {
  std::int64_t times = std::int64_t{1} << 62;
  for (const auto& [y, each] : letters) times = std::min(times, pool.count(y) / 2 / each);
  return times;
}

/// q-1 letters, nearly all y, whose sum is `residue` modulo q: (q-1)y is -y, so one letter or a few must make up for
/// y + residue. Of several such patterns the one that can be taken most often.
Letters pattern(const Pool& pool, std::int32_t q, std::int64_t residue, std::int32_t y) {
  if (q == 1) return {};
  const std::int64_t up = ((y + residue) % q + q) % q;
  Letters best{{y, q - 1}};
  if (up == 0) return best;
  std::int64_t most = -1;
  const auto consider = [&](Letters letters) {
    if (letters[y] == 0) letters.erase(y);
    const std::int64_t times = affordable(pool, letters);
    if (times <= most) return;
    most = times;
    best = std::move(letters);
  };
  for (std::int64_t z = y + up - (y + up - pool.low()) / q * q; z <= pool.high(); z += q) {
    if (z != y && pool.count(z) > 1) consider({{y, q - 2}, {static_cast<std::int32_t>(z), 1}});
  }
  // Several other letters, upwards or downwards, each about as far away.
  for (const bool upwards : {true, false}) {
    const std::int64_t way = upwards ? up : q - up;
    const std::int64_t room = upwards ? pool.high() - y : y - std::max(0, pool.low());
    for (std::int64_t part = 0; part < 3 && room > part; ++part) {
      const std::int64_t steps = (way + room - part - 1) / (room - part);
      if (steps >= q) continue;
      const auto other = [&](std::int64_t by) { return static_cast<std::int32_t>(upwards ? y + by : y - by); };
      Letters mixed{{y, q - 1 - steps}};
      mixed[other(way / steps)] += steps - way % steps;
      if (way % steps > 0) mixed[other(way / steps + 1)] += way % steps;
      consider(std::move(mixed));
    }
  }
  return best;
}

/// Gives all but the kept blocks of each kind their letters. The smallest kinds first, whose letters are prescribed most
/// narrowly, then the largest, which need most. Blocks for which no pile is large enough are kept too.
bool take_in_bulk(Recipe& recipe, Pool& pool, const Heads& heads, std::map<BlockKind, std::int64_t>& kept) {
  constexpr std::int64_t kSmall = 16;
  std::vector<BlockKind> order;
  for (const auto& [kind, count] : heads) {
    if (kind.first - kind.second <= kSmall) order.push_back(kind);
  }
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) {
    if (head->first.first - head->first.second > kSmall) order.push_back(head->first);
  }
  std::int64_t words = 0;  // every kind that is not kept altogether has one word at least
  for (const auto& [kind, count] : heads) words += count > kept[kind] ? kind.first - kind.second : 0;
  if (words > kLongestWords) return false;
  words = 0;
  std::int64_t listed = 0;
  for (const BlockKind& kind : order) {
    std::int64_t& stays = kept[kind];
    std::int64_t left = heads.at(kind) - stays;
    const auto q = static_cast<std::int32_t>(kind.first - kind.second);
    while (left > 0) {
      const Letters letters = pattern(pool, q, kind.first % q, pool.largest());
      const std::int64_t times = std::min(left, q == 1 ? left : affordable(pool, letters));
      if (times == 0) {
        if (left > kListedRanks / q || (listed += left * q) > kListedRanks) return false;
        stays += left;
        break;
      }
      pool.take(letters, times);
      auto& blocks = recipe.blocks[{kind.first, kind.second, q, letters}];
      if (blocks == 0) words += q;
      blocks += times;
      left -= times;
      if (words > kLongestWords) return false;
    }
  }
  std::erase_if(kept, [](const auto& entry) { return entry.second == 0; });
  return true;
}

/// Which blocks are left for the end: some of each of the smaller kinds, about kKeptRanks ranks.
std::map<BlockKind, std::int64_t> kept_blocks(const Heads& heads, std::int64_t L) {
  std::map<BlockKind, std::int64_t> kept;
  std::int64_t ranks = 0;
  for (std::int64_t round = 0; ranks < kKeptRanks && round < 64; ++round) {
    for (const auto& [kind, count] : heads) {  // by potential
      const std::int64_t q = kind.first - kind.second;
      if (q < 2 || q > L || ranks >= kKeptRanks) continue;
      std::int64_t& stays = kept[kind];
      if (stays == count) continue;
      ++stays;
      ranks += q;
    }
  }
  return kept;
}

}  // namespace

std::optional<Recipe> balance_in_bulk(std::int64_t L, std::int64_t n) {
  const Growth f(L, n);
  const std::int64_t t = f.last();
  const std::int64_t u = n - f(t - 1);
  if (n <= kListedRanks) {
    const auto base = direct(f, t, u, std::nullopt);
    return base ? std::optional(alone(*base, L, t)) : std::nullopt;
  }
  Recipe recipe{L, t, {}, {}};
  const Heads heads = *pruned_heads(f, t, u);
  auto kept = kept_blocks(heads, L);
  Pool pool(leaves(L, t, heads));
  if (!take_in_bulk(recipe, pool, heads, kept)) return std::nullopt;
  const auto balanced = balance_heads(L, kept, pool.rest(), std::nullopt, 8);
  if (!balanced) return std::nullopt;
  recipe.receive_only = balanced->receive_only;
  for (const BlockType& type : balanced->blocks) ++recipe.blocks[type];
  return recipe;
}

}  // namespace chasqui::plan::stream_detail
