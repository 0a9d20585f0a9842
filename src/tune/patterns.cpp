// SPDX-License-Identifier: MIT
#include "tune/patterns.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "chasqui/base/error.hpp"

namespace chasqui::tune {
namespace {

Items range(std::int64_t first, std::int64_t end) {
  Items items(static_cast<std::size_t>(std::max<std::int64_t>(0, end - first)));
  std::iota(items.begin(), items.end(), static_cast<std::int32_t>(first));
  return items;
}

std::vector<Items> one_by_one(const Items& items) {
  std::vector<Items> list;
  for (const std::int32_t item : items) list.push_back({item});
  return list;
}

int power_below(int P) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(P))); }

/// Bytes cut into segments of at most `segment` (0: one), whole doubles.
std::vector<double> cut(std::int64_t bytes, std::int64_t segment) {
  const std::int64_t most = segment == 0 ? bytes : std::max<std::int64_t>(8, segment / 8 * 8);
  std::vector<double> list;
  for (std::int64_t left = bytes; left > 0; left -= most) list.push_back(static_cast<double>(std::min(left, most)));
  if (list.empty()) list.push_back(0);
  return list;
}

/// Bytes in `parts` chunks, whole doubles, the first ones longer.
std::vector<double> chunks(std::int64_t bytes, std::int64_t parts) {
  const std::int64_t whole = bytes / 8;
  std::vector<double> list;
  for (std::int64_t i = 0; i < parts; ++i)
    list.push_back(static_cast<double>(8 * (whole / parts + (i < whole % parts ? 1 : 0)) + (i == 0 ? bytes % 8 : 0)));
  return list;
}

std::vector<double> items_of(Kind kind, const Case& c) {
  const auto blocks = [&](int n) {
    return std::vector<double>(static_cast<std::size_t>(n), static_cast<double>(c.bytes));
  };
  switch (kind) {
    case Kind::broadcast:
    case Kind::reduce:
    case Kind::allreduce: return cut(c.bytes, c.segment);
    case Kind::barrier: return {0};
    case Kind::scan: return blocks(1);
    case Kind::alltoall: return blocks(c.P * c.P);
    default: return blocks(c.P);
  }
}

/// `serve(v, put)` puts the children of v. The order from them, parents first; ranks that are not below the root are left out.
template <typename Serve>
Tree tree_of(int P, int root, const Serve& serve) {
  Tree tree{std::vector<Items>(static_cast<std::size_t>(P)), {root}};
  for (int v = 0; v < P; ++v) {
    serve(v, [&](std::int64_t parent, std::int64_t child) {
      tree.children[static_cast<std::size_t>(parent)].push_back(static_cast<std::int32_t>(child));
    });
  }
  for (std::size_t i = 0; i < tree.order.size(); ++i) {
    const Items& next = tree.children[static_cast<std::size_t>(tree.order[i])];
    tree.order.insert(tree.order.end(), next.begin(), next.end());
  }
  return tree;
}

Tree heap_tree(int P, std::int64_t fan) {
  return tree_of(P, 0, [&](int v, const auto& put) {
    if (v > 0) put((v - 1) / fan, v);
  });
}

Tree chain_tree(int P, std::int64_t most) {
  const std::int64_t count = std::min<std::int64_t>(most, P - 1);
  std::int64_t left = 0, chain = 0;  // of the chain that is open
  return tree_of(P, 0, [&](int v, const auto& put) {
    if (v == 0) return;
    put(left == 0 ? 0 : v - 1, v);
    if (left == 0) left = (P - 1) / count + (chain++ < (P - 1) % count ? 1 : 0);
    --left;
  });
}

Tree knomial_tree(int P, std::int64_t radix) {
  return tree_of(P, 0, [&](int v, const auto& put) {
    std::int64_t reach = 1;
    while (reach < P && v % (radix * reach) == 0) reach *= radix;
    for (reach /= radix; reach > 0; reach /= radix) {
      for (std::int64_t d = 1; d < radix && v + d * reach < P; ++d) put(v, v + d * reach);
    }
  });
}

/// What stays together, piece by piece.
void down(Builder& builder, const Tree& tree, const std::vector<Items>& pieces) {
  for (const Items& piece : pieces) {
    for (const int v : tree.order) {
      for (const int child : tree.children[static_cast<std::size_t>(v)]) builder.alone(v, child, piece);
    }
  }
}
void up(Builder& builder, const Tree& tree, const std::vector<Items>& pieces) {
  for (const Items& piece : pieces) {
    for (auto v = tree.order.rbegin(); v != tree.order.rend(); ++v) {
      builder.round();
      for (const int child : tree.children[static_cast<std::size_t>(*v)]) builder.send(child, *v, piece, true);
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

void hand_over(Builder& builder, const Folded& who) {
  if (who.rest == 0) return;
  builder.round();
  for (int i = 0; i < who.rest; ++i) builder.send(2 * i, 2 * i + 1, builder.all(), true);
}
/// `of(i)`: what the even one of pair i gets.
template <typename Of>
void hand_back(Builder& builder, const Folded& who, const Of& of) {
  if (who.rest == 0) return;
  builder.round();
  for (int i = 0; i < who.rest; ++i) builder.send(2 * i + 1, 2 * i, of(i));
}

void collect(Builder& builder, const Tree& tree, const Folded& who) {
  const auto below = subtrees(tree);
  for (auto v = tree.order.rbegin(); v != tree.order.rend(); ++v) {
    builder.round();
    for (const int child : tree.children[static_cast<std::size_t>(*v)])
      builder.send(who(child), who(*v), below[static_cast<std::size_t>(child)]);
  }
}

/// Every rank r sends `of(r)` to the one d places on, in the round that is open.
template <typename Of>
void shift(Builder& builder, int P, int d, bool folds, const Of& of) {
  for (int r = 0; r < P; ++r) builder.send(r, (r + d) % P, of(r), folds);
}

/// Chunks go round, as `of(chunk)`: rank r begins with the one `back` places before its own.
template <typename Of>
void ring(Builder& builder, int P, int back, bool folds, const Of& of) {
  for (int t = 0; t + 1 < P; ++t) {
    builder.round();
    shift(builder, P, 1, folds, [&](int r) { return of((r - t - back + 2 * P) % P); });
  }
}
Items alone(int chunk) { return {chunk}; }

/// A round in which v and v ^ reach of those who take part send each other `of(v)`, `of(v ^ reach)`.
template <typename Of>
void cross(Builder& builder, const Folded& who, int reach, bool folds, const Of& of) {
  builder.round();
  for (int v = 0; v < who.n; ++v) builder.send(who(v), who(v ^ reach), of(v), folds);
}

void doubling(Builder& builder, const Folded& who) {
  for (int reach = 1; reach < who.n; reach *= 2)
    cross(builder, who, reach, false, [&](int v) { return range(v / reach * reach, v / reach * reach + reach); });
}

/// Chunks are folded by halving; who plays v ends with chunk v.
void halving(Builder& builder, const Folded& who, const std::vector<Items>& chunk) {
  for (int reach = who.n / 2; reach > 0; reach /= 2) {
    cross(builder, who, reach, true, [&](int v) {
      Items items;
      const int begin = (v ^ reach) / reach * reach;
      for (int c = begin; c < begin + reach; ++c)
        items.insert(items.end(), chunk[static_cast<std::size_t>(c)].begin(), chunk[static_cast<std::size_t>(c)].end());
      return items;
    });
  }
}

}  // namespace

Tree flat(const Case& c) { return heap_tree(c.P, std::max(1, c.P - 1)); }
Tree heap(const Case& c) { return heap_tree(c.P, c.fan); }
Tree binary_heap(const Case& c) { return heap_tree(c.P, 2); }
Tree chains(const Case& c) { return chain_tree(c.P, c.fan); }
Tree pipeline(const Case& c) { return chain_tree(c.P, 1); }
Tree binomial(const Case& c) { return knomial_tree(c.P, 2); }
Tree knomial(const Case& c) { return knomial_tree(c.P, 4); }

Tree levels(const Case& c) {
  std::int64_t begin = 0, width = 1;  // of a level
  return tree_of(c.P, 0, [&](int v, const auto& put) {
    if (v == begin + width) {
      begin += width;
      width *= 2;
    }
    for (std::int64_t i = 1; i <= 2 && v + i * width < c.P; ++i) put(v, v + i * width);
  });
}

Tree near_binomial(const Case& c) {
  return tree_of(c.P, 0, [&](int v, const auto& put) {
    for (int reach = v == 0 ? 1 : 2 * power_below(v); v + reach < c.P; reach *= 2) put(v, v + reach);
  });
}

Tree in_order_binary(const Case& c) {
  std::vector<std::pair<int, int>> open = {{0, c.P}};  // intervals, their root is the last rank
  return tree_of(c.P, c.P - 1, [&](int, const auto& put) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const int left = (end - begin) / 2;
    for (const auto& [b, e] : {std::pair{begin, begin + left}, std::pair{begin + left, end - 1}}) {
      if (b == e) continue;
      put(end - 1, e - 1);
      open.emplace_back(b, e);
    }
  });
}

Builder::Builder(Kind kind, const Case& c) {
  rounds_.kind = kind;
  rounds_.ranks = c.P;
  rounds_.item_bytes = items_of(kind, c);
}

Items Builder::all() const { return range(0, std::ssize(rounds_.item_bytes)); }

void Builder::send(int from, int to, Items items, bool folds) {
  double bytes = 0;
  for (const std::int32_t item : items) bytes += rounds_.item_bytes[static_cast<std::size_t>(item)];
  rounds_.list.back().push_back({from, to, folds, bytes, std::move(items)});
}

void down(Builder& builder, const Tree& tree) { down(builder, tree, one_by_one(builder.all())); }
void up(Builder& builder, const Tree& tree) { up(builder, tree, one_by_one(builder.all())); }
void collect(Builder& builder, const Tree& tree) { collect(builder, tree, Folded{}); }

void deal(Builder& builder, const Tree& tree) {
  const auto below = subtrees(tree);
  for (const int v : tree.order) {
    for (const int child : tree.children[static_cast<std::size_t>(v)])
      builder.alone(v, child, below[static_cast<std::size_t>(child)]);
  }
}

void in_order_reduce(Builder& builder, const Case& c) {
  up(builder, in_order_binary(c));
  if (c.P > 1) builder.alone(c.P - 1, 0, builder.all());
}

/// Odd ranks are below rank 1, even ones below rank 2: the first half of the segments goes down one side, the second half down the
/// other, then neighbours exchange what they lack. An odd one out gets it from the root.
void split_binary_broadcast(Builder& builder, const Case& c) {
  if (c.P <= 3) return down(builder, flat(c));
  const auto halves = chunks(c.bytes, 2);
  std::vector<double> items = cut(static_cast<std::int64_t>(halves[0]), c.segment);
  const std::int64_t left = std::ssize(items);
  for (const double more : cut(static_cast<std::int64_t>(halves[1]), c.segment)) items.push_back(more);
  const std::int64_t all = std::ssize(items);
  builder.items(items);
  const Tree tree = levels(c);
  for (std::int64_t s = 0; s < std::max(left, all - left); ++s) {
    for (const int v : tree.order) {
      for (const int child : tree.children[static_cast<std::size_t>(v)]) {
        const std::int64_t item = child % 2 == 1 ? s : left + s;
        if (item < (child % 2 == 1 ? left : all)) builder.alone(v, child, {static_cast<std::int32_t>(item)});
      }
    }
  }
  builder.round();
  for (int v = 1; v < c.P; ++v) {
    const int other = v % 2 == 1 ? v + 1 : v - 1;
    if (other < c.P) builder.send(v, other, v % 2 == 1 ? range(0, left) : range(left, all));
  }
  if (c.P % 2 == 0) builder.send(0, c.P - 1, range(left, all));
}

void scatter_ring(Builder& builder, const Case& c) {
  builder.items(chunks(c.bytes, c.P));
  deal(builder, binomial(c));
  ring_allgather(builder, c);
}

void scatter_doubling(Builder& builder, const Case& c) {
  builder.items(chunks(c.bytes, c.P));
  deal(builder, binomial(c));
  doubling_allgather(builder, c);
}

void reduce_scatter_gather(Builder& builder, const Case& c) {
  const Folded who = folded(c.P);
  builder.items(chunks(c.bytes, who.n));
  hand_over(builder, who);
  halving(builder, who, one_by_one(builder.all()));
  collect(builder, knomial_tree(who.n, 2), who);
  if (who(0) != 0) builder.alone(who(0), 0, builder.all());
}

void exchange(Builder& builder, const Case& c) {
  const Folded who = folded(c.P);
  hand_over(builder, who);
  for (int reach = 1; reach < who.n; reach *= 2) cross(builder, who, reach, true, [](int) { return Items{0}; });
  hand_back(builder, who, [](int) { return Items{0}; });
}

/// Groups ever farther apart. Ranks beyond the largest power of the radix hand over to one of those below it, and get the result
/// from there.
void exchange_by_radix(Builder& builder, const Case& c) {
  const int radix = static_cast<int>(c.fan);
  int n = 1;
  while (n * radix <= c.P) n *= radix;
  if (n < c.P) builder.round();
  for (int r = n; r < c.P; ++r) builder.send(r, r % n, {0}, true);
  for (int reach = 1; reach < n; reach *= radix) {
    builder.round();
    for (int v = 0; v < n; ++v) {
      const int digit = v / reach % radix;
      for (int d = 1; d < radix; ++d) builder.send(v, v + ((digit + d) % radix - digit) * reach, {0}, true);
    }
  }
  if (n < c.P) builder.round();
  for (int r = n; r < c.P; ++r) builder.send(r % n, r, {0});
}

/// Rank r ends the folding with chunk r. Segments of a chunk go round one after another.
void ring_allreduce(Builder& builder, const Case& c) {
  const auto whole = chunks(c.bytes, c.P);
  const std::int64_t phases = std::ssize(cut(static_cast<std::int64_t>(whole[0]), c.segment));
  std::vector<double> items;  // (chunk, phase)
  for (const double chunk : whole) {
    for (const double part : chunks(static_cast<std::int64_t>(chunk), phases)) items.push_back(part);
  }
  builder.items(items);
  for (std::int64_t phase = 0; phase < phases; ++phase) {
    ring(builder, c.P, 1, true, [&](int chunk) { return range(chunk * phases + phase, chunk * phases + phase + 1); });
  }
  builder.spread_from_here();
  ring(builder, c.P, 0, false, [&](int chunk) { return range(chunk * phases, (chunk + 1) * phases); });
}

void rabenseifner(Builder& builder, const Case& c) {
  const Folded who = folded(c.P);
  builder.items(chunks(c.bytes, who.n));
  hand_over(builder, who);
  halving(builder, who, one_by_one(builder.all()));
  builder.spread_from_here();
  doubling(builder, who);
  hand_back(builder, who, [&](int) { return builder.all(); });
}

void gather_then_broadcast(Builder& builder, const Case& c) {
  collect(builder, binomial(c));
  down(builder, binomial(c), {builder.all()});
}

void ring_allgather(Builder& builder, const Case& c) { ring(builder, c.P, 0, false, alone); }

/// Pairs exchange their blocks; then, by turns with the neighbours on either side, the two blocks that came last.
void neighbour_allgather(Builder& builder, const Case& c) {
  CHASQUI_CHECK(c.P % 2 == 0, "P={}", c.P);
  std::vector<int> last(static_cast<std::size_t>(c.P));  // the pair whose blocks came last
  for (int step = 0; step < c.P / 2; ++step) {
    builder.round();
    std::vector<int> next(last.size());
    for (int r = 0; r < c.P; ++r) {
      const bool to_right = (r % 2 == 0) == (step % 2 == 0);
      const int to = (r + (to_right ? 1 : c.P - 1)) % c.P;
      const int pair = step == 0 ? 0 : last[static_cast<std::size_t>(r)];
      builder.send(r, to, step == 0 ? Items{r} : Items{2 * pair, 2 * pair + 1});
      next[static_cast<std::size_t>(to)] = step == 0 ? to / 2 : pair;
    }
    last = next;
  }
}

/// Rank r gets from r + reach what it lacks of the blocks r .. r + 2·reach - 1.
void bruck_allgather(Builder& builder, const Case& c) {
  for (int reach = 1; reach < c.P; reach *= 2) {
    builder.round();
    shift(builder, c.P, c.P - reach, false, [&](int r) {
      Items items = range(r, r + std::min(reach, c.P - reach));
      for (std::int32_t& item : items) item %= c.P;
      return items;
    });
  }
}

void doubling_allgather(Builder& builder, const Case& c) {
  CHASQUI_CHECK(power_below(c.P) == c.P, "P={}", c.P);
  doubling(builder, {c.P, 0});
}

void linear_alltoall(Builder& builder, const Case& c) {
  builder.round();
  for (int d = 1; d < c.P; ++d) shift(builder, c.P, d, false, [&](int r) { return Items{r * c.P + (r + d) % c.P}; });
}

void pairwise_alltoall(Builder& builder, const Case& c) {
  for (int d = 1; d < c.P; ++d) {
    builder.round();
    shift(builder, c.P, d, false, [&](int r) { return Items{r * c.P + (r + d) % c.P}; });
  }
}

/// A block for distance j travels by the binary digits of j.
void bruck_alltoall(Builder& builder, const Case& c) {
  for (int reach = 1; reach < c.P; reach *= 2) {
    builder.round();
    shift(builder, c.P, reach, false, [&](int r) {
      Items items;
      for (int j = 0; j < c.P; ++j) {
        if (!(j & reach)) continue;
        const int source = (r - j % reach + c.P) % c.P;
        items.push_back(source * c.P + (source + j) % c.P);
      }
      return items;
    });
  }
}

void double_ring_barrier(Builder& builder, const Case& c) {
  for (int i = 0; i < (c.P > 1 ? 2 * c.P : 0); ++i) builder.alone(i % c.P, (i + 1) % c.P, {0}, true);
}

void dissemination_barrier(Builder& builder, const Case& c) {
  for (int reach = 1; reach < c.P; reach *= 2) {
    builder.round();
    shift(builder, c.P, reach, true, [](int) { return Items{0}; });
  }
}

void asked_gather(Builder& builder, const Case& c) {
  for (int r = 1; r < c.P; ++r) {
    builder.alone(0, r, {});
    builder.alone(r, 0, {r});
  }
}

void reduce_then_scatter(Builder& builder, const Case& c) {
  up(builder, binomial(c), {builder.all()});
  for (int r = 1; r < c.P; ++r) builder.alone(0, r, {r});
}

void halving_reduce_scatter(Builder& builder, const Case& c) {
  const Folded who = folded(c.P);
  hand_over(builder, who);
  std::vector<Items> chunk;  // a pair's blocks stay together
  for (int v = 0; v < who.n; ++v) chunk.push_back(v < who.rest ? Items{2 * v, 2 * v + 1} : Items{who(v)});
  halving(builder, who, chunk);
  hand_back(builder, who, [](int i) { return Items{2 * i}; });
}

void ring_reduce_scatter(Builder& builder, const Case& c) { ring(builder, c.P, 1, true, alone); }

void pairwise_reduce_scatter(Builder& builder, const Case& c) {
  for (int d = 1; d < c.P; ++d) {
    builder.round();
    shift(builder, c.P, d, true, [&](int r) { return Items{(r + d) % c.P}; });
  }
}

/// Everybody folds whole vectors with partners ever farther away, and leaves out what the partner's side does not need.
void doubling_reduce_scatter(Builder& builder, const Case& c) {
  const Folded who = folded(c.P);
  hand_over(builder, who);
  for (int reach = 1; reach < who.n; reach *= 2) {
    cross(builder, who, reach, true, [&](int v) {
      Items items;
      for (int other = 0; other < who.n; ++other) {
        if (other / reach == v / reach) continue;  // folded already where it belongs
        items.push_back(who(other));
        if (other < who.rest) items.push_back(2 * other);
      }
      return items;
    });
  }
  hand_back(builder, who, [](int i) { return Items{2 * i}; });
}

void chain_scan(Builder& builder, const Case& c) {
  for (int r = 0; r + 1 < c.P; ++r) builder.alone(r, r + 1, {0}, true);
}

void doubling_scan(Builder& builder, const Case& c) {
  for (int reach = 1; reach < c.P; reach *= 2) {
    builder.round();
    for (int r = 0; r < c.P; ++r) {
      if ((r ^ reach) < c.P) builder.send(r, r ^ reach, {0}, true);
    }
  }
}

}  // namespace chasqui::tune
