// SPDX-License-Identifier: MIT
// k items with a small buffer at every rank. Any share of the leaves will do: q-1 letters and a hole can
// always be ordered so that they land apart; the head then comes where the hole lands. If that is another
// position than the hole's, one leaf waits there until the hole. The last items never wait: after a head of
// potential r the last step is at least L-1+r steps away, and the hole comes within r (streams.md, Theorem 17).
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "plan/listed_plan.hpp"
#include "plan/stream/item_tree.hpp"
#include "plan/stream/juggling.hpp"
#include "plan/stream/recipe.hpp"

namespace chasqui::plan {

using namespace stream_detail;

namespace {

constexpr std::int32_t kHole = -1;

struct BufferedBlock {
  std::int64_t first = 0;  ///< inner rank
  std::int64_t label = 0;
  std::int64_t children = 0;
  std::int64_t head = 0;           ///< position
  std::vector<std::int32_t> word;  ///< letters; kHole where nothing arrives, except perhaps the head
};

/// Orders the letters with a hole and finds the head's position.
BufferedBlock make_block(std::int64_t label, std::int64_t q, std::int64_t t, std::vector<std::int32_t> letters) {
  std::int64_t sum = 0;
  for (const std::int32_t letter : letters) sum += letter;
  const auto hole = static_cast<std::int32_t>(modulo(-sum, q));
  letters.push_back(hole);
  BufferedBlock block;
  block.label = label;
  block.children = q;
  block.word = juggling_order(letters);
  const auto place = std::find(block.word.begin(), block.word.end(), hole);
  block.head = modulo((place - block.word.begin()) + hole - (t - label), q);
  *place = kHole;
  return block;
}

/// Blocks for the tree of latency `lambda` on n nodes; leaves are handed out as they come.
std::vector<BufferedBlock> make_blocks(std::int64_t lambda, std::int64_t n, std::int32_t& receive_only) {
  const Growth f(lambda, n);
  const std::int64_t t = f.last();
  std::vector<std::int32_t> letters;
  std::vector<BufferedBlock> blocks;
  const Heads heads = n == 1 ? Heads{} : *pruned_heads(f, t, n - f(t - 1));
  for (const auto& [y, count] : leaves(lambda, t, heads)) {
    letters.insert(letters.end(), static_cast<std::size_t>(count), static_cast<std::int32_t>(lambda - 1 - y));
  }
  std::int64_t first = 0;
  for (auto kind = heads.rbegin(); kind != heads.rend(); ++kind) {
    const std::int64_t q = kind->first.first - kind->first.second;
    for (std::int64_t i = 0; i < kind->second; ++i) {
      std::vector<std::int32_t> mine(letters.end() - (q - 1), letters.end());
      letters.resize(letters.size() - mine.size());
      blocks.push_back(make_block(t - lambda + 1 - kind->first.first, q, t, std::move(mine)));
      blocks.back().first = first;
      first += q;
    }
  }
  CHASQUI_CHECK(letters.size() == 1 && first == n - 1, "buffered: L={} n={}", lambda, n);
  receive_only = letters.front();
  return blocks;
}

PlanPtr plan_buffered(const LogP& machine, std::int64_t items, Rank root, std::int64_t lambda,
                      std::string construction) {
  validate(machine);
  validate(Problem{.kind = Kind::broadcast, .root = root, .items = items}, machine);
  if (!machine.is_postal()) throw Error("{}: this construction is for the postal machine, o=0 g=1", to_string(machine));
  if (machine.P < 2) throw Error("P={}: this construction needs at least two processors", machine.P);
  if (machine.P > 1'000'000 || machine.P * items > 100'000'000) {
    throw Error("P={} with {} items is too much to list for this construction", machine.P, items);
  }
  const std::int64_t n = machine.P - 1;
  const std::int64_t L = machine.L.ticks;
  const std::int64_t t = Growth(lambda, n).last();
  std::int32_t receive_only = 0;
  const auto blocks = make_blocks(lambda, n, receive_only);
  const auto rank_of = [&](std::int64_t inner) { return (inner + 1 + root.index) % machine.P; };
  std::vector<Send> sends;
  for (std::int64_t item = 0; item < items; ++item) {
    ItemTree tree(lambda);
    const auto player = [&](const BufferedBlock& block, std::int64_t label, std::int64_t position) {
      return rank_of(block.first + modulo(item + label - position, std::ssize(block.word)));
    };
    for (const BufferedBlock& block : blocks)
      tree.add_head(block.label, block.children, player(block, block.label, block.head));
    for (const BufferedBlock& block : blocks) {
      for (std::int64_t j = 0; j < std::ssize(block.word); ++j) {
        const std::int32_t letter = block.word[static_cast<std::size_t>(j)];
        if (letter != kHole) tree.add_leaf(t - letter, player(block, t - letter, j));
      }
    }
    tree.add_leaf(t - receive_only, rank_of(n - 1));
    for (const StreamMessage& m : tree.messages(item, root.index)) {
      sends.push_back(send_item(m.begin, Rank{static_cast<std::int32_t>(m.from)}, Rank{static_cast<std::int32_t>(m.to)},
                                static_cast<std::int32_t>(item)));
    }
  }
  std::sort(sends.begin(), sends.end());
  Claim claim;
  claim.finish = Time{L + t + items - 1};
  claim.bound = kitem_bound(machine, items);
  claim.bound_source = kCountingBound;
  claim.construction = std::move(construction);
  return std::make_shared<ListedPlan>(machine, Problem{.kind = Kind::broadcast, .root = root, .items = items}, claim,
                                      std::move(sends));
}

}  // namespace

PlanPtr buffered_items(const LogP& machine, std::int64_t items, Rank root) {
  return plan_buffered(machine, items, root, machine.L.ticks, "blocks whose leaves may wait in a buffer (SPAA 3.5)");
}

PlanPtr simple_items(const LogP& machine, std::int64_t items, Rank root) {
  return plan_buffered(machine, items, root, machine.L.ticks + 1, "the tree of latency L+1, leaves cyclic (SV 6)");
}

}  // namespace chasqui::plan
