// SPDX-License-Identifier: MIT
#include "plan/stream/recipe.hpp"

#include <algorithm>
#include <vector>

#include "chasqui/base/error.hpp"

namespace chasqui::plan::stream_detail {
namespace {

BlockType shifted(BlockType type, Shift shift) {
  if (shift == Shift::none) return type;
  ++type.potential;
  ++type.missing;
  Letters lower;
  for (const auto& [y, count] : type.letters) lower.emplace_hint(lower.end(), y - 1, count);
  type.letters = std::move(lower);
  return type;
}

}  // namespace

std::optional<Heads> pruned_heads(const Growth& f, std::int64_t t, std::int64_t u, std::int64_t spared,
                                  std::int64_t instead) {
  const std::int64_t L = f.L();
  const std::int64_t top = t - L + 1;
  Heads heads;
  std::int64_t s = f(t - L) - u;
  for (std::int64_t r = 1; r <= top; ++r) {
    const std::int64_t nodes = f.at_label(top - r);
    if (nodes == 0) continue;
    const std::int64_t pruned = std::min(nodes, s);
    s -= pruned;
    if (pruned > 0) heads[{r, 1}] = pruned;
    if (nodes > pruned) heads[{r, 0}] = nodes - pruned;
  }
  if (spared != 0) {
    const auto pruned = heads.find({spared, 1});
    const auto whole = heads.find({instead, 0});
    if (spared == instead || pruned == heads.end() || whole == heads.end()) return std::nullopt;
    ++heads[{spared, 0}];
    ++heads[{instead, 1}];
    if (--pruned->second == 0) heads.erase(pruned);
    if (--whole->second == 0) heads.erase(whole);
  }
  if (const auto gone = heads.find({1, 1}); gone != heads.end()) heads.erase(gone);  // a leaf now
  return heads;
}

Letters leaves(std::int64_t L, std::int64_t t, const Heads& heads) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(t + 2), 0);
  std::vector<std::int64_t> inner(static_cast<std::size_t>(t + 1), 0);
  ++change[0];
  --change[1];  // the root
  for (const auto& [kind, count] : heads) {
    const std::int64_t label = t - L + 1 - kind.first;
    inner[static_cast<std::size_t>(label)] += count;
    change[static_cast<std::size_t>(label + L)] += count;
    change[static_cast<std::size_t>(t + 1 - kind.second)] -= count;
  }
  Letters pool;
  std::int64_t nodes = 0;
  for (std::int64_t label = 0; label <= t; ++label) {
    nodes += change[static_cast<std::size_t>(label)];
    const std::int64_t count = nodes - inner[static_cast<std::size_t>(label)];
    CHASQUI_CHECK(count >= 0, "leaves: L={} t={} label={} count={}", L, t, label, count);
    if (count > 0) pool[static_cast<std::int32_t>(L - 1 - t + label)] = count;
  }
  return pool;
}

std::optional<BalancedBlocks> balance_heads(std::int64_t L, const Heads& heads, Letters pool,
                                            std::optional<std::int32_t> K, int effort) {
  Instance instance{.blocks = {}, .pool = std::move(pool), .L = static_cast<std::int32_t>(L), .K = K};
  BalancedBlocks result;
  for (auto kind = heads.rbegin(); kind != heads.rend(); ++kind) {
    const auto [potential, missing] = kind->first;
    const auto q = static_cast<std::int32_t>(potential - missing);
    const auto count = static_cast<std::size_t>(kind->second);
    result.blocks.insert(result.blocks.end(), count, {potential, missing, q, {}});
    instance.blocks.insert(instance.blocks.end(), count, {q, static_cast<std::int32_t>(potential % q)});
  }
  auto balanced = balance(instance, effort);
  if (!balanced) return std::nullopt;
  result.receive_only = balanced->receive_only;
  for (std::size_t b = 0; b < result.blocks.size(); ++b) result.blocks[b].letters = std::move(balanced->letters[b]);
  return result;
}

std::optional<BaseCase> balance_tree(std::int64_t L, std::int64_t t, const Heads& heads, std::optional<std::int32_t> K,
                                     int effort) {
  const auto balanced = balance_heads(L, heads, leaves(L, t, heads), K, effort);
  if (!balanced) return std::nullopt;
  BaseCase base{{}, {}, balanced->receive_only};
  if (!balanced->blocks.empty()) base.root = balanced->blocks.front();
  for (std::size_t b = 1; b < balanced->blocks.size(); ++b) ++base.others[balanced->blocks[b]];
  return base;
}

std::optional<BaseCase> direct(const Growth& f, std::int64_t t, std::int64_t u, std::optional<std::int32_t> K) {
  const std::int64_t L = f.L();
  const std::int64_t top = t - L + 1;
  for (const int effort : {1, 4, 20, 100}) {
    if (auto base = balance_tree(L, t, *pruned_heads(f, t, u), K, effort)) return base;
    const std::int64_t limit = effort > 1 && f(t - L) <= 400 ? top : 0;
    for (std::int64_t spared = 1; spared <= limit; ++spared) {
      for (std::int64_t instead = 1; instead <= (K ? top - 1 : top); ++instead) {
        const auto heads = pruned_heads(f, t, u, spared, instead);
        if (!heads) continue;
        if (auto base = balance_tree(L, t, *heads, K, effort)) return base;
      }
    }
  }
  return std::nullopt;
}

Recipe alone(const BaseCase& base, std::int64_t L, std::int64_t t) {
  Recipe recipe{L, t, base.others, base.receive_only};
  ++recipe.blocks[base.root];
  return recipe;
}

void add_roots(Recipe& recipe, const BaseCase& base, std::int64_t times, std::int64_t growth, std::int32_t K,
               Shift shift) {
  BlockType root = base.root;
  root.potential += growth;
  root.q += static_cast<std::int32_t>(growth);
  if (growth > 0) root.letters[K] += growth;
  recipe.blocks[shifted(std::move(root), shift)] += times;
}

void add_others(Recipe& recipe, const BaseCase& base, std::int64_t times, Shift shift) {
  for (const auto& [type, count] : base.others) recipe.blocks[shifted(type, shift)] += times * count;
}

bool is_sound(const Recipe& recipe, std::int64_t n) {
  Heads heads;
  Letters used;
  std::int64_t ranks = 0;
  for (const auto& [type, count] : recipe.blocks) {
    heads[{type.potential, type.missing}] += count;
    ranks += count * type.q;
    for (const auto& [y, times] : type.letters) used[y] += count * times;
    if (type.children() < 1 || type.q < type.children()) return false;
    if (size_of(type.letters) != type.q - 1 || (sum_of(type.letters) - type.potential) % type.q != 0) return false;
  }
  if (recipe.receive_only) {
    ++used[*recipe.receive_only];
    ++ranks;
  }
  return ranks == n && used == leaves(recipe.L, recipe.t, heads);
}

}  // namespace chasqui::plan::stream_detail
