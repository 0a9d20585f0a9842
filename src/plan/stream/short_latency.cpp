// SPDX-License-Identifier: MIT
#include "plan/stream/short_latency.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"

namespace chasqui::plan::stream_detail {
namespace {

/// Few missing nodes, s <= f_{t-3}: co-letters 1 and -1 go into blocks in pairs, zeros fill the rest. `plenty`, the
/// ones left over when every pruned node has its own, must vanish: by pruning nodes of potential 2, which take none, by
/// the receive-only rank, or by one block of potential e with e+1 ranks and e ones.
class Pairs {
 public:
  Pairs(std::int64_t n, std::int64_t t) : f_(2, n), t_(t), s_(f_(t) - n) {
    recipe_.L = 2;
    recipe_.t = t;
  }

  std::optional<Recipe> run() {
    if (t_ < 2 || s_ > f_(t_ - 3) || s_ < 0) return std::nullopt;
    const std::int64_t plenty = f_(t_ - 2) - 2 * s_;
    std::int64_t extra = 0;  // ones that the enlarged block takes
    std::int64_t two = 0;    // nodes of potential 2 that lose a child
    recipe_.receive_only = 0;
    if (plenty <= 0) {
      two = -plenty;
      if (two == nodes(2) + 1) {
        --two;
        recipe_.receive_only = -1;
      }
    } else if (plenty == 1) {
      recipe_.receive_only = 1;
    } else if (plenty <= t_ - 3 || plenty == t_ - 1) {
      extra = plenty;
    } else if (plenty == t_ - 2) {
      extra = t_ - 1;
      two = 1;
    } else {
      return std::nullopt;
    }
    if (extra > 0) recipe_.receive_only.reset();
    const std::int64_t one = std::min(nodes(1), s_ - two);
    std::int64_t more = s_ - two - one;  // nodes of potential >= 3 that lose a child
    if (two > nodes(2) || one < 0) return std::nullopt;
    pairs_ = one - (recipe_.receive_only == -1 ? 1 : 0);
    if (extra > 0 && extra <= 2 && nodes(extra) == (extra == 1 ? one : two)) return std::nullopt;
    for (std::int64_t r = t_ - 1; r >= 1; --r) {
      std::int64_t count = nodes(r);
      if (count == 0) continue;
      const bool enlarged = r == extra;
      std::int64_t pruned = r == 1 ? one : r == 2 ? two : std::min(more, count - (enlarged ? 1 : 0));
      if (r >= 3) more -= pruned;
      if (enlarged) {
        --count;
        recipe_.blocks[BlockType{r, 0, static_cast<std::int32_t>(r + 1), {{1, r}}}] = 1;
      }
      place(r, 0, count - pruned, 0);
      if (r > 1) place(r, 1, pruned, r > 2 ? 1 : 0);
    }
    return pairs_ == 0 && more == 0 ? std::optional(recipe_) : std::nullopt;
  }

 private:
  std::int64_t nodes(std::int64_t r) const { return r > t_ - 1 ? 0 : f_.at_label(t_ - 1 - r); }

  /// Blocks of q ranks with `ones` co-letters 1 of their own, as many pairs (1, -1) as fit, and zeros.
  void place(std::int64_t r, std::int64_t missing, std::int64_t blocks, std::int64_t ones) {
    const std::int64_t q = r - missing;
    const std::int64_t room = (q - 1 - ones) / 2;
    const auto add = [&](std::int64_t pairs, std::int64_t count) {
      if (count == 0) return;
      BlockType type{r, missing, static_cast<std::int32_t>(q), {}};
      if (ones + pairs > 0) type.letters[1] = ones + pairs;
      if (pairs > 0) type.letters[-1] = pairs;
      if (const std::int64_t zeros = q - 1 - ones - 2 * pairs; zeros > 0) type.letters[0] = zeros;
      recipe_.blocks[type] += count;
      pairs_ -= pairs * count;
    };
    const std::int64_t filled = room > 0 ? std::min(blocks, pairs_ / room) : 0;
    add(room, filled);
    if (filled < blocks && room > 0 && pairs_ > 0) {
      add(pairs_, 1);
      add(0, blocks - filled - 1);
    } else {
      add(0, blocks - filled);
    }
  }

  Growth f_;
  std::int64_t t_, s_;
  std::int64_t pairs_ = 0;
  Recipe recipe_;
};

std::optional<BaseCase> cut_case(const Growth& f, std::int64_t t, std::int64_t n, std::optional<std::int32_t> K) {
  const auto heads = cut_heads(f, t, n);
  return heads ? balance_tree(2, t, *heads, K, 400) : std::nullopt;
}

/// X(t) = X(t-1) with the root grown by one letter 0, and X(t-2): a height t is a number of base trees of
/// height 11 with various growths and of height 10. All of one height get the same size, give or take one.
std::optional<Recipe> compose_two(std::int64_t n, std::int64_t t) {
  const auto [small, large] = std::pair(kTwoBases[0], kTwoBases[1]);
  std::vector<std::int64_t> trees(static_cast<std::size_t>(t + 1), 0);  // height -> how many are wanted
  std::vector<std::int64_t> grown(static_cast<std::size_t>(t + 1), 0);  // growth -> how many of height 11
  trees[static_cast<std::size_t>(t)] = 1;
  for (std::int64_t h = t; h >= large.t; --h) {
    const std::int64_t times = trees[static_cast<std::size_t>(h)];
    grown[static_cast<std::size_t>(h - large.t)] += times;
    for (std::int64_t k = large.t + 1; k <= h; ++k) trees[static_cast<std::size_t>(k - 2)] += times;
  }
  const std::int64_t tens = trees[static_cast<std::size_t>(small.t)];
  std::int64_t elevens = 0;
  for (const std::int64_t count : grown) elevens += count;
  std::int64_t excess = n - tens * small.low - elevens * large.low;
  if (excess < 0) return std::nullopt;
  Recipe recipe{2, t, {}, 0};
  Growth f(2, 1);
  f.extend_to(large.t);
  // Shares out the excess: every tree of a height gets `each`, the first `rest` of them one more.
  const auto share = [&](const TwoBase& base, std::int64_t count) {
    const std::int64_t given = std::min(excess, count * (base.high - base.low));
    excess -= given;
    return count == 0 ? std::pair<std::int64_t, std::int64_t>{0, 0} : std::pair{given / count, given % count};
  };
  const auto [each_large, rest_large] = share(large, elevens);
  const auto [each_small, rest_small] = share(small, tens);
  if (excess > 0) return std::nullopt;
  std::map<std::pair<std::int64_t, std::int64_t>, std::optional<BaseCase>> cases;  // (height, size)
  const auto add = [&](const TwoBase& base, std::int64_t size, std::int64_t times, std::int64_t growth) {
    if (times == 0) return true;
    auto [place, fresh] = cases.try_emplace({base.t, size});
    auto& solved = place->second;
    if (fresh) solved = cut_case(f, base.t, size, 0);
    if (!solved) return false;
    add_roots(recipe, *solved, times, growth, 0, Shift::none);
    add_others(recipe, *solved, times, Shift::none);
    return true;
  };
  std::int64_t bigger = rest_large;
  for (std::int64_t growth = 0; growth <= t - large.t; ++growth) {
    const std::int64_t count = grown[static_cast<std::size_t>(growth)];
    const std::int64_t with_one_more = std::min(count, bigger);
    bigger -= with_one_more;
    if (!add(large, large.low + each_large + 1, with_one_more, growth)) return std::nullopt;
    if (!add(large, large.low + each_large, count - with_one_more, growth)) return std::nullopt;
  }
  if (!add(small, small.low + each_small + 1, rest_small, 0)) return std::nullopt;
  if (!add(small, small.low + each_small, tens - rest_small, 0)) return std::nullopt;
  return recipe;
}

}  // namespace

Recipe latency_one(std::int64_t n) {
  const Growth f(1, n);
  Recipe recipe;
  recipe.t = f.last();
  std::int64_t s = f(recipe.t) - n;
  std::int64_t leaves_made = 0;  // nodes of potential 1 that lose their child
  for (std::int64_t r = recipe.t; r >= 1; --r) {
    const std::int64_t nodes = f.at_label(recipe.t - r);
    std::int64_t pruned = r > 1 ? std::min(nodes, s / (r - 1)) : leaves_made + s;
    CHASQUI_CHECK(pruned <= nodes, "latency_one: n={} r={} pruned={} nodes={}", n, r, pruned, nodes);
    if (r > 1) {
      s -= pruned * (r - 1);
      leaves_made += pruned * (r - 2);
    }
    const auto q = static_cast<std::int32_t>(r);
    const auto block = [&](std::int32_t ranks, std::int64_t missing, std::int32_t y) {
      BlockType type{r, missing, ranks, {}};
      if (ranks > 1) type.letters[y] = ranks - 1;
      return type;
    };
    if (nodes > pruned) recipe.blocks[block(q, 0, 0)] = nodes - pruned;
    if (pruned > 0 && r > 1) recipe.blocks[block(q - 1, 1, -1)] = pruned;
  }
  CHASQUI_CHECK(s == 0 || s == 1, "latency_one: n={} left={}", n, s);
  recipe.receive_only = s == 1 ? -1 : 0;
  return recipe;
}

bool two_reaches_bound(std::int64_t n) {
  if (n == 1) return true;
  const Growth f(2, n);
  const std::int64_t t = f.last();
  return 2 * (f(t) - n) >= f(t - 2) - (t - 1);
}

std::optional<Heads> cut_heads(const Growth& f, std::int64_t t, std::int64_t n) {
  Heads heads;
  std::int64_t s = f(t) - n;
  for (std::int64_t r = 1; r <= t - 1; ++r) {
    const std::int64_t nodes = f.at_label(t - 1 - r);
    if (nodes == 0) continue;
    const std::int64_t gone = std::min(nodes, s / r);
    s -= gone * r;
    std::int64_t whole = nodes - gone;
    if (s > 0 && whole > 0) {
      heads[{r, s}] = 1;
      s = 0;
      --whole;
    }
    if (whole > 0) heads[{r, 0}] = whole;
  }
  if (s > 0 || heads.empty() || heads.rbegin()->first.first != t - 1) return std::nullopt;
  return heads;
}

std::optional<Recipe> latency_two(std::int64_t n, std::int64_t t) {
  Growth f(2, n);
  f.extend_to(t);
  if (t == f.last() && f(t - 1) < n) {
    if (auto recipe = Pairs(n, t).run(); recipe && is_sound(*recipe, n)) return recipe;
  }
  if (t >= kTwoBases[1].t) {
    if (auto recipe = compose_two(n, t)) return recipe;
  }
  auto base = cut_case(f, t, n, std::nullopt);
  if (!base && t == f.last() && f(t - 1) < n) base = direct(f, t, n - f(t - 1), std::nullopt);
  return base ? std::optional(alone(*base, 2, t)) : std::nullopt;
}

}  // namespace chasqui::plan::stream_detail
