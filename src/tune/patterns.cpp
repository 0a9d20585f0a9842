// SPDX-License-Identifier: MIT
#include "tune/patterns.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "chasqui/base/error.hpp"

namespace chasqui::tune {
namespace {

using Items = std::vector<std::int32_t>;

class Builder {
 public:
  Builder(Kind kind, int P, std::vector<double> item_bytes) {
    rounds_.kind = kind;
    rounds_.ranks = P;
    rounds_.item_bytes = std::move(item_bytes);
  }

  void round() { rounds_.list.emplace_back(); }
  /// In the round that is open.
  void send(int from, int to, Items items, bool folds = false) {
    double bytes = 0;
    for (const std::int32_t item : items) bytes += rounds_.item_bytes[static_cast<std::size_t>(item)];
    rounds_.list.back().push_back({from, to, folds, bytes, std::move(items)});
  }
  /// In a round of its own.
  void alone(int from, int to, Items items, bool folds = false) {
    round();
    send(from, to, std::move(items), folds);
  }
  void spread_from_here() { rounds_.spread = rounds_.list.size(); }
  Rounds take() { return std::move(rounds_); }

 private:
  Rounds rounds_;
};

Items range(std::int64_t first, std::int64_t end) {
  Items items(static_cast<std::size_t>(std::max<std::int64_t>(0, end - first)));
  std::iota(items.begin(), items.end(), static_cast<std::int32_t>(first));
  return items;
}

int power_below(int P) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(P))); }

Tree empty_tree(int P) { return {std::vector<Items>(static_cast<std::size_t>(P)), {}}; }

/// The order from the children, parents first; ranks that are not below the root are left out.
Tree ordered(Tree tree, int root = 0) {
  tree.order = {root};
  for (std::size_t i = 0; i < tree.order.size(); ++i) {
    const Items& next = tree.children[static_cast<std::size_t>(tree.order[i])];
    tree.order.insert(tree.order.end(), next.begin(), next.end());
  }
  return tree;
}

std::vector<double> blocks(int P, std::int64_t bytes) {
  return std::vector<double>(static_cast<std::size_t>(P), static_cast<double>(bytes));
}
std::vector<double> one(std::int64_t bytes) { return {static_cast<double>(bytes)}; }

void down(Builder& builder, const Tree& tree, const Items& items) {
  for (const std::int32_t item : items) {
    for (const int v : tree.order) {
      for (const int child : tree.children[static_cast<std::size_t>(v)]) builder.alone(v, child, {item});
    }
  }
}

/// A parent takes in what its children send in the order in which it arrives.
void up(Builder& builder, const Tree& tree, const Items& items) {
  for (const std::int32_t item : items) {
    for (auto v = tree.order.rbegin(); v != tree.order.rend(); ++v) {
      builder.round();
      for (const int child : tree.children[static_cast<std::size_t>(*v)]) builder.send(child, *v, {item}, true);
    }
  }
}

/// The ranks below each rank of a tree, itself first.
std::vector<Items> subtrees(const Tree& tree) {
  std::vector<Items> below(tree.children.size());
  for (auto v = tree.order.rbegin(); v != tree.order.rend(); ++v) {
    Items& own = below[static_cast<std::size_t>(*v)];
    own.push_back(*v);
    for (const int child : tree.children[static_cast<std::size_t>(*v)]) {
      const Items& more = below[static_cast<std::size_t>(child)];
      own.insert(own.end(), more.begin(), more.end());
    }
  }
  return below;
}

void scatter_blocks(Builder& builder, const Tree& tree) {
  const auto below = subtrees(tree);
  for (const int v : tree.order) {
    for (const int child : tree.children[static_cast<std::size_t>(v)])
      builder.alone(v, child, below[static_cast<std::size_t>(child)]);
  }
}

void gather_blocks(Builder& builder, const Tree& tree) {
  const auto below = subtrees(tree);
  for (auto v = tree.order.rbegin(); v != tree.order.rend(); ++v) {
    builder.round();
    for (const int child : tree.children[static_cast<std::size_t>(*v)])
      builder.send(child, *v, below[static_cast<std::size_t>(child)]);
  }
}

void ring(Builder& builder, int P) {
  for (int t = 0; t + 1 < P; ++t) {
    builder.round();
    for (int r = 0; r < P; ++r) builder.send(r, (r + 1) % P, {(r - t + P) % P});
  }
}

void doubling(Builder& builder, int P) {
  for (int reach = 1; reach < P; reach *= 2) {
    builder.round();
    for (int r = 0; r < P; ++r) builder.send(r, r ^ reach, range(r / reach * reach, r / reach * reach + reach));
  }
}

/// Chunks are folded by halving; rank `of(v)` plays v of 0 .. n-1, n a power of two, and ends with chunk v.
template <typename Of>
void halving(Builder& builder, int n, const Of& of, const std::vector<Items>& chunk) {
  for (int reach = n / 2; reach > 0; reach /= 2) {
    builder.round();
    for (int v = 0; v < n; ++v) {
      const int other = v ^ reach, begin = other / reach * reach;
      Items items;
      for (int c = begin; c < begin + reach; ++c)
        items.insert(items.end(), chunk[static_cast<std::size_t>(c)].begin(), chunk[static_cast<std::size_t>(c)].end());
      builder.send(of(v), of(other), items, true);
    }
  }
}

/// Ranks beyond a power of the radix: the first `2·rest` ranks pair up, the even one hands its part to the odd one.
struct Folded {
  int n = 1;     ///< who take part
  int rest = 0;  ///< who hand over first
  int operator()(int v) const { return v < rest ? 2 * v + 1 : v + rest; }
};
Folded folded(int P) {
  const int n = power_below(P);
  return {n, P - n};
}

void hand_over(Builder& builder, const Folded& who, const Items& items) {
  if (who.rest == 0) return;
  builder.round();
  for (int i = 0; i < who.rest; ++i) builder.send(2 * i, 2 * i + 1, items, true);
}
void hand_back(Builder& builder, const Folded& who, const Items& items) {
  if (who.rest == 0) return;
  builder.round();
  for (int i = 0; i < who.rest; ++i) builder.send(2 * i + 1, 2 * i, items);
}

/// Everybody folds with everybody: groups of `radix` ranks, ever farther apart. Ranks beyond the largest power of the radix hand
/// over to one of those below it, and get the result from there.
void exchange(Builder& builder, int P, std::int64_t radix) {
  int n = 1;
  while (n * radix <= P) n *= static_cast<int>(radix);
  if (radix == 2) {
    const Folded who = folded(P);
    hand_over(builder, who, {0});
    for (int reach = 1; reach < n; reach *= 2) {
      builder.round();
      for (int v = 0; v < n; ++v) builder.send(who(v), who(v ^ reach), {0}, true);
    }
    hand_back(builder, who, {0});
    return;
  }
  if (n < P) builder.round();
  for (int r = n; r < P; ++r) builder.send(r, r % n, {0}, true);
  for (int reach = 1; reach < n; reach *= static_cast<int>(radix)) {
    builder.round();
    for (int v = 0; v < n; ++v) {
      const int digit = v / reach % static_cast<int>(radix);
      for (int d = 1; d < radix; ++d) {
        const int other = (digit + d) % static_cast<int>(radix);
        builder.send(v, v + (other - digit) * reach, {0}, true);
      }
    }
  }
  if (n < P) builder.round();
  for (int r = n; r < P; ++r) builder.send(r % n, r, {0});
}

std::vector<Items> single_chunks(int n) {
  std::vector<Items> list;
  for (int c = 0; c < n; ++c) list.push_back({c});
  return list;
}

}  // namespace

Tree heap_tree(int P, std::int64_t fan) {
  Tree tree = empty_tree(P);
  for (int v = 1; v < P; ++v) tree.children[static_cast<std::size_t>((v - 1) / fan)].push_back(v);
  return ordered(std::move(tree));
}

Tree level_tree(int P, std::int64_t fan) {
  Tree tree = empty_tree(P);
  std::int64_t begin = 0, width = 1;  // of a level
  for (int v = 0; v < P; ++v) {
    if (v == begin + width) {
      begin += width;
      width *= fan;
    }
    for (std::int64_t i = 1; i <= fan && v + i * width < P; ++i)
      tree.children[static_cast<std::size_t>(v)].push_back(static_cast<std::int32_t>(v + i * width));
  }
  return ordered(std::move(tree));
}

Tree chain_tree(int P, std::int64_t chains) {
  Tree tree = empty_tree(P);
  const int count = static_cast<int>(std::min<std::int64_t>(chains, P - 1));
  int next = 1;
  for (int c = 0; c < count; ++c) {
    const int length = (P - 1) / count + (c < (P - 1) % count ? 1 : 0);
    for (int i = 0; i < length; ++i, ++next)
      tree.children[static_cast<std::size_t>(i == 0 ? 0 : next - 1)].push_back(next);
  }
  return ordered(std::move(tree));
}

Tree near_binomial(int P) {
  Tree tree = empty_tree(P);
  for (int v = 0; v < P; ++v) {
    for (int reach = v == 0 ? 1 : 2 * power_below(v); v + reach < P; reach *= 2)
      tree.children[static_cast<std::size_t>(v)].push_back(v + reach);
  }
  return ordered(std::move(tree));
}

Tree knomial_tree(int P, std::int64_t radix) {
  Tree tree = empty_tree(P);
  for (std::int64_t v = 0; v < P; ++v) {
    std::int64_t reach = 1;
    while (reach < P && v % (radix * reach) == 0) reach *= radix;
    for (reach /= radix; reach > 0; reach /= radix) {
      for (std::int64_t d = 1; d < radix && v + d * reach < P; ++d)
        tree.children[static_cast<std::size_t>(v)].push_back(static_cast<std::int32_t>(v + d * reach));
    }
  }
  return ordered(std::move(tree));
}

Tree in_order_binary(int P) {
  Tree tree = empty_tree(P);
  std::vector<std::pair<int, int>> open = {{0, P}};  // intervals, their root is the last rank
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const int others = end - begin - 1, left = (others + 1) / 2;
    for (const auto& [b, e] : {std::pair{begin, begin + left}, std::pair{begin + left, end - 1}}) {
      if (b == e) continue;
      tree.children[static_cast<std::size_t>(end - 1)].push_back(e - 1);
      open.emplace_back(b, e);
    }
  }
  return ordered(std::move(tree), P - 1);
}

std::vector<double> cut(std::int64_t bytes, std::int64_t segment) {
  const std::int64_t most = segment == 0 ? bytes : std::max<std::int64_t>(8, segment / 8 * 8);
  std::vector<double> list;
  for (std::int64_t left = bytes; left > 0; left -= most) list.push_back(static_cast<double>(std::min(left, most)));
  if (list.empty()) list.push_back(0);
  return list;
}

std::vector<double> chunks(std::int64_t bytes, std::int64_t parts) {
  const std::int64_t whole = bytes / 8;
  std::vector<double> list;
  for (std::int64_t i = 0; i < parts; ++i)
    list.push_back(static_cast<double>(8 * (whole / parts + (i < whole % parts ? 1 : 0)) + (i == 0 ? bytes % 8 : 0)));
  return list;
}

Rounds tree_broadcast(const Tree& tree, const std::vector<double>& segments) {
  Builder builder(Kind::broadcast, static_cast<int>(tree.children.size()), segments);
  down(builder, tree, range(0, static_cast<std::int64_t>(segments.size())));
  return builder.take();
}

Rounds tree_reduce(const Tree& tree, const std::vector<double>& segments) {
  Builder builder(Kind::reduce, static_cast<int>(tree.children.size()), segments);
  up(builder, tree, range(0, static_cast<std::int64_t>(segments.size())));
  return builder.take();
}

Rounds in_order_reduce(int P, const std::vector<double>& segments) {
  Builder builder(Kind::reduce, P, segments);
  up(builder, in_order_binary(P), range(0, static_cast<std::int64_t>(segments.size())));
  if (P > 1) builder.alone(P - 1, 0, range(0, static_cast<std::int64_t>(segments.size())));
  return builder.take();
}

/// Odd ranks are below rank 1, even ones below rank 2: the first half of the segments goes down one side, the second half down the
/// other, then neighbours exchange what they lack. An odd one out gets it from the root.
Rounds split_binary_broadcast(int P, std::int64_t bytes, std::int64_t segment) {
  const auto halves = chunks(bytes, 2);
  std::vector<double> items = cut(static_cast<std::int64_t>(halves[0]), segment);
  const auto left = static_cast<std::int64_t>(items.size());
  for (const double more : cut(static_cast<std::int64_t>(halves[1]), segment)) items.push_back(more);
  const auto all = static_cast<std::int64_t>(items.size());
  if (P <= 3) return tree_broadcast(heap_tree(P, std::max(1, P - 1)), cut(bytes, segment));
  Builder builder(Kind::broadcast, P, items);
  const Tree tree = level_tree(P, 2);
  for (std::int64_t s = 0; s < std::max(left, all - left); ++s) {
    for (const int v : tree.order) {
      for (const int child : tree.children[static_cast<std::size_t>(v)]) {
        const std::int64_t item = child % 2 == 1 ? s : left + s;
        if (item < (child % 2 == 1 ? left : all)) builder.alone(v, child, {static_cast<std::int32_t>(item)});
      }
    }
  }
  builder.round();
  for (int v = 1; v < P; ++v) {
    const int other = v % 2 == 1 ? v + 1 : v - 1;
    if (other < P) builder.send(v, other, v % 2 == 1 ? range(0, left) : range(left, all));
  }
  if (P % 2 == 0) builder.send(0, P - 1, range(left, all));
  return builder.take();
}

Rounds scatter_allgather(int P, std::int64_t bytes, Spread how) {
  Builder builder(Kind::broadcast, P, chunks(bytes, P));
  scatter_blocks(builder, knomial_tree(P, 2));
  how == Spread::ring ? ring(builder, P) : doubling(builder, P);
  return builder.take();
}

Rounds reduce_scatter_gather(int P, std::int64_t bytes) {
  const Folded who = folded(P);
  Builder builder(Kind::reduce, P, chunks(bytes, who.n));
  hand_over(builder, who, range(0, who.n));
  halving(builder, who.n, who, single_chunks(who.n));
  const Tree tree = knomial_tree(who.n, 2);
  const auto below = subtrees(tree);
  for (auto v = tree.order.rbegin(); v != tree.order.rend(); ++v) {
    builder.round();
    for (const int child : tree.children[static_cast<std::size_t>(*v)])
      builder.send(who(child), who(*v), below[static_cast<std::size_t>(child)]);
  }
  if (who(0) != 0) builder.alone(who(0), 0, range(0, who.n));
  return builder.take();
}

Rounds reduce_then_broadcast(const Tree& tree, std::int64_t bytes) {
  Builder builder(Kind::allreduce, static_cast<int>(tree.children.size()), one(bytes));
  up(builder, tree, {0});
  down(builder, tree, {0});
  return builder.take();
}

Rounds exchange_allreduce(int P, std::int64_t bytes, std::int64_t radix) {
  Builder builder(Kind::allreduce, P, one(bytes));
  exchange(builder, P, radix);
  return builder.take();
}

/// Rank r ends the folding with chunk r. Segments of a chunk go round one after another.
Rounds ring_allreduce(int P, std::int64_t bytes, std::int64_t segment) {
  const auto whole = chunks(bytes, P);
  const auto phases = static_cast<std::int64_t>(cut(static_cast<std::int64_t>(whole[0]), segment).size());
  std::vector<double> items;  // (chunk, phase)
  for (const double chunk : whole) {
    for (const double part : chunks(static_cast<std::int64_t>(chunk), phases)) items.push_back(part);
  }
  Builder builder(Kind::allreduce, P, items);
  const auto item = [&](int chunk, std::int64_t phase) { return static_cast<std::int32_t>(chunk * phases + phase); };
  for (std::int64_t phase = 0; phase < phases; ++phase) {
    for (int t = 0; t + 1 < P; ++t) {
      builder.round();
      for (int r = 0; r < P; ++r) builder.send(r, (r + 1) % P, {item((r - t - 1 + 2 * P) % P, phase)}, true);
    }
  }
  builder.spread_from_here();
  for (int t = 0; t + 1 < P; ++t) {
    builder.round();
    for (int r = 0; r < P; ++r) {
      const int chunk = (r - t + P) % P;
      builder.send(r, (r + 1) % P, range(item(chunk, 0), item(chunk, 0) + phases));
    }
  }
  return builder.take();
}

Rounds rabenseifner(int P, std::int64_t bytes) {
  const Folded who = folded(P);
  Builder builder(Kind::allreduce, P, chunks(bytes, who.n));
  hand_over(builder, who, range(0, who.n));
  halving(builder, who.n, who, single_chunks(who.n));
  builder.spread_from_here();
  for (int reach = 1; reach < who.n; reach *= 2) {
    builder.round();
    for (int v = 0; v < who.n; ++v)
      builder.send(who(v), who(v ^ reach), range(v / reach * reach, v / reach * reach + reach));
  }
  hand_back(builder, who, range(0, who.n));
  return builder.take();
}

Rounds gather_then_broadcast(int P, std::int64_t bytes) {
  Builder builder(Kind::allgather, P, blocks(P, bytes));
  const Tree tree = knomial_tree(P, 2);
  gather_blocks(builder, tree);
  for (const int v : tree.order) {
    for (const int child : tree.children[static_cast<std::size_t>(v)]) builder.alone(v, child, range(0, P));
  }
  return builder.take();
}

Rounds ring_allgather(int P, std::int64_t bytes) {
  Builder builder(Kind::allgather, P, blocks(P, bytes));
  ring(builder, P);
  return builder.take();
}

/// Pairs exchange their blocks; then, by turns with the neighbours on either side, the two blocks that came last.
Rounds neighbour_allgather(int P, std::int64_t bytes) {
  CHASQUI_CHECK(P % 2 == 0, "P={}", P);
  Builder builder(Kind::allgather, P, blocks(P, bytes));
  std::vector<int> last(static_cast<std::size_t>(P));  // the pair whose blocks came last
  for (int step = 0; step < P / 2; ++step) {
    builder.round();
    std::vector<int> next(last.size());
    for (int r = 0; r < P; ++r) {
      const bool to_right = (r % 2 == 0) == (step % 2 == 0);
      const int to = (r + (to_right ? 1 : P - 1)) % P;
      const int pair = step == 0 ? 0 : last[static_cast<std::size_t>(r)];
      builder.send(r, to, step == 0 ? Items{r} : Items{2 * pair, 2 * pair + 1});
      next[static_cast<std::size_t>(to)] = step == 0 ? to / 2 : pair;
    }
    last = next;
  }
  return builder.take();
}

/// Rank r gets from r + d·reach, d = 1 .. radix-1, what it lacks of the blocks r .. r + radix·reach - 1.
Rounds bruck_allgather(int P, std::int64_t bytes, std::int64_t radix) {
  Builder builder(Kind::allgather, P, blocks(P, bytes));
  for (std::int64_t reach = 1; reach < P; reach *= radix) {
    builder.round();
    for (int r = 0; r < P; ++r) {
      for (std::int64_t d = 1; d < radix && d * reach < P; ++d) {
        Items items;
        for (std::int64_t i = 0; i < std::min(reach, P - d * reach); ++i)
          items.push_back(static_cast<std::int32_t>((r + i) % P));
        builder.send(r, static_cast<int>((r - d * reach + P) % P), items);
      }
    }
  }
  return builder.take();
}

Rounds doubling_allgather(int P, std::int64_t bytes) {
  CHASQUI_CHECK(power_below(P) == P, "P={}", P);
  Builder builder(Kind::allgather, P, blocks(P, bytes));
  doubling(builder, P);
  return builder.take();
}

Rounds linear_alltoall(int P, std::int64_t bytes) {
  Builder builder(Kind::alltoall, P, blocks(P * P, bytes));
  builder.round();
  for (int d = 1; d < P; ++d) {
    for (int r = 0; r < P; ++r) builder.send(r, (r + d) % P, {r * P + (r + d) % P});
  }
  return builder.take();
}

Rounds pairwise_alltoall(int P, std::int64_t bytes) {
  Builder builder(Kind::alltoall, P, blocks(P * P, bytes));
  for (int d = 1; d < P; ++d) {
    builder.round();
    for (int r = 0; r < P; ++r) builder.send(r, (r + d) % P, {r * P + (r + d) % P});
  }
  return builder.take();
}

/// A block for distance j travels by the binary digits of j.
Rounds bruck_alltoall(int P, std::int64_t bytes) {
  Builder builder(Kind::alltoall, P, blocks(P * P, bytes));
  for (int reach = 1; reach < P; reach *= 2) {
    builder.round();
    for (int r = 0; r < P; ++r) {
      Items items;
      for (int j = 0; j < P; ++j) {
        if (!(j & reach)) continue;
        const int source = (r - j % reach + P) % P;
        items.push_back(source * P + (source + j) % P);
      }
      builder.send(r, (r + reach) % P, items);
    }
  }
  return builder.take();
}

Rounds linear_barrier(int P) {
  Builder builder(Kind::barrier, P, one(0));
  const Tree tree = heap_tree(P, std::max(1, P - 1));
  up(builder, tree, {0});
  down(builder, tree, {0});
  return builder.take();
}

Rounds double_ring_barrier(int P) {
  Builder builder(Kind::barrier, P, one(0));
  for (int i = 0; i < (P > 1 ? 2 * P : 0); ++i) builder.alone(i % P, (i + 1) % P, {0}, true);
  return builder.take();
}

Rounds exchange_barrier(int P, std::int64_t radix) {
  Builder builder(Kind::barrier, P, one(0));
  exchange(builder, P, radix);
  return builder.take();
}

Rounds dissemination_barrier(int P) {
  Builder builder(Kind::barrier, P, one(0));
  for (int reach = 1; reach < P; reach *= 2) {
    builder.round();
    for (int r = 0; r < P; ++r) builder.send(r, (r + reach) % P, {0}, true);
  }
  return builder.take();
}

Rounds tree_barrier(int P) {
  Builder builder(Kind::barrier, P, one(0));
  const Tree tree = knomial_tree(P, 2);
  up(builder, tree, {0});
  down(builder, tree, {0});
  return builder.take();
}

Rounds tree_gather(const Tree& tree, std::int64_t bytes) {
  const int P = static_cast<int>(tree.children.size());
  Builder builder(Kind::gather, P, blocks(P, bytes));
  gather_blocks(builder, tree);
  return builder.take();
}

Rounds asked_gather(int P, std::int64_t bytes) {
  Builder builder(Kind::gather, P, blocks(P, bytes));
  for (int r = 1; r < P; ++r) {
    builder.alone(0, r, {});
    builder.alone(r, 0, {r});
  }
  return builder.take();
}

Rounds tree_scatter(const Tree& tree, std::int64_t bytes) {
  const int P = static_cast<int>(tree.children.size());
  Builder builder(Kind::scatter, P, blocks(P, bytes));
  scatter_blocks(builder, tree);
  return builder.take();
}

Rounds reduce_then_scatter(int P, std::int64_t bytes) {
  Builder builder(Kind::reduce_scatter, P, blocks(P, bytes));
  const Tree tree = knomial_tree(P, 2);
  for (auto v = tree.order.rbegin(); v != tree.order.rend(); ++v) {
    builder.round();
    for (const int child : tree.children[static_cast<std::size_t>(*v)]) builder.send(child, *v, range(0, P), true);
  }
  for (int r = 1; r < P; ++r) builder.alone(0, r, {r});
  return builder.take();
}

Rounds halving_reduce_scatter(int P, std::int64_t bytes) {
  const Folded who = folded(P);
  Builder builder(Kind::reduce_scatter, P, blocks(P, bytes));
  hand_over(builder, who, range(0, P));
  std::vector<Items> chunk;  // a pair's blocks stay together
  for (int v = 0; v < who.n; ++v) chunk.push_back(v < who.rest ? Items{2 * v, 2 * v + 1} : Items{who(v)});
  halving(builder, who.n, who, chunk);
  if (who.rest > 0) builder.round();
  for (int i = 0; i < who.rest; ++i) builder.send(2 * i + 1, 2 * i, {2 * i});
  return builder.take();
}

Rounds ring_reduce_scatter(int P, std::int64_t bytes) {
  Builder builder(Kind::reduce_scatter, P, blocks(P, bytes));
  for (int t = 0; t + 1 < P; ++t) {
    builder.round();
    for (int r = 0; r < P; ++r) builder.send(r, (r + 1) % P, {(r - t - 1 + 2 * P) % P}, true);
  }
  return builder.take();
}

Rounds pairwise_reduce_scatter(int P, std::int64_t bytes) {
  Builder builder(Kind::reduce_scatter, P, blocks(P, bytes));
  for (int d = 1; d < P; ++d) {
    builder.round();
    for (int r = 0; r < P; ++r) builder.send(r, (r + d) % P, {(r + d) % P}, true);
  }
  return builder.take();
}

/// Everybody folds whole vectors with partners ever farther away, and leaves out what the partner's side does not need.
Rounds doubling_reduce_scatter(int P, std::int64_t bytes) {
  const Folded who = folded(P);
  Builder builder(Kind::reduce_scatter, P, blocks(P, bytes));
  hand_over(builder, who, range(0, P));
  for (int reach = 1; reach < who.n; reach *= 2) {
    builder.round();
    for (int v = 0; v < who.n; ++v) {
      Items items;
      for (int c = 0; c < who.n; ++c) {
        if (c / reach == v / reach) continue;  // folded already where it belongs
        items.push_back(who(c));
        if (c < who.rest) items.push_back(2 * c);
      }
      builder.send(who(v), who(v ^ reach), items, true);
    }
  }
  if (who.rest > 0) builder.round();
  for (int i = 0; i < who.rest; ++i) builder.send(2 * i + 1, 2 * i, {2 * i});
  return builder.take();
}

Rounds chain_scan(int P, std::int64_t bytes) {
  Builder builder(Kind::scan, P, one(bytes));
  for (int r = 0; r + 1 < P; ++r) builder.alone(r, r + 1, {0}, true);
  return builder.take();
}

Rounds doubling_scan(int P, std::int64_t bytes) {
  Builder builder(Kind::scan, P, one(bytes));
  for (int reach = 1; reach < P; reach *= 2) {
    builder.round();
    for (int r = 0; r < P; ++r) {
      if ((r ^ reach) < P) builder.send(r, r ^ reach, {0}, true);
    }
  }
  return builder.take();
}

}  // namespace chasqui::tune
