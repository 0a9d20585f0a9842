// SPDX-License-Identifier: MIT
#include "forge/special.hpp"

#include <algorithm>
#include <cstdlib>

#include "forge/rings.hpp"
#include "forge/tree.hpp"
#include "plan/growth.hpp"
#include "plan/kernel/merge.hpp"

namespace chasqui::forge {
namespace {

/// Does every colour come up often enough: once for each receiver, and once more for each spare item of the root?
bool balanced(const Tree& tree, int M, int L, int kappa) {
  const auto chi = tree_colours(L, kappa, tree.D);
  std::vector<std::int64_t> surplus(at(kappa), -M);
  std::vector<int> nodes = tree.leaves;
  for (const Node& node : tree.internal) ++nodes[at(node.h)];
  for (int h = 0; h <= tree.D; ++h) {
    for (int a = 0; a < h; ++a) surplus[at(chi[at(a)])] += nodes[at(h)];
  }
  for (int a = L - 1; a < tree.D; ++a) --surplus[at(chi[at(a)])];
  return std::all_of(surplus.begin(), surplus.end(), [](std::int64_t s) { return s >= 0; });
}

/// Takes the root and the leaves of the root group and of the receive-only rank out of the tree.
bool take_frame(Tree& tree, int L, int kappa) {
  const int m = root_group_size(L, tree.D);
  const auto root =
      std::find_if(tree.internal.begin(), tree.internal.end(), [&](const Node& n) { return n.h == tree.D; });
  if (root == tree.internal.end() || root->r != m || root->first != tree.D - L) return false;
  for (const Node& node : tree.internal) {
    if (node.hole > 0) return false;
  }
  tree.internal.erase(root);
  int& low = tree.leaves[at(kappa - 1)];
  int& high = tree.leaves[at(kappa)];
  low -= L - 1 - kappa;
  high -= m - (L - 1 - kappa);
  return low >= 0 && high >= 0 && !tree.internal.empty();
}

/// Sum of the heights.
std::int64_t balls(const Tree& tree) {
  std::int64_t sum = 0;
  for (const Node& node : tree.internal) sum += node.h;
  for (int h = 0; h <= tree.D; ++h) sum += std::int64_t{h} * tree.leaves[at(h)];
  return sum;
}

int sends(const Tree& tree) {
  int r = 0;
  for (const Node& node : tree.internal) r += node.r;
  return r;
}

/// Takes nodes with `size` sends and as many receptions out of the tree, with `wanted` balls. False if the random choice fails.
bool split(Tree& rest, Tree& part, int size, std::int64_t wanted, Random& random) {
  part = {rest.D, {}, std::vector<int>(rest.leaves.size(), 0)};
  int left = size;
  for (std::size_t i = rest.internal.size(); i > 1; --i) {
    std::swap(rest.internal[i - 1], rest.internal[at(random.below(static_cast<int>(i)))]);
  }
  for (std::size_t i = rest.internal.size(); i-- > 0 && left > 0;) {
    if (rest.internal[i].r > left) continue;
    left -= rest.internal[i].r;
    part.internal.push_back(rest.internal[i]);
    rest.internal.erase(rest.internal.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (left > 0) return false;
  std::vector<int> leaves;
  for (int h = 0; h <= rest.D; ++h) leaves.insert(leaves.end(), at(rest.leaves[at(h)]), h);
  const int count = size - static_cast<int>(part.internal.size());
  const auto all = static_cast<int>(leaves.size());
  if (count < 0 || count > all || (count == all && !rest.internal.empty())) return false;
  for (int i = 0; i < count; ++i) std::swap(leaves[at(i)], leaves[at(i + random.below(all - i))]);
  std::int64_t lacking = wanted - balls(part);
  for (int i = 0; i < count; ++i) lacking -= leaves[at(i)];
  for (int tries = 0; lacking != 0 && tries < 1000 * all; ++tries) {
    if (count == 0 || count == all) return false;
    int& in = leaves[at(random.below(count))];
    int& out = leaves[at(count + random.below(all - count))];
    if (std::abs(lacking - (out - in)) > std::abs(lacking)) continue;
    lacking -= out - in;
    std::swap(in, out);
  }
  for (int i = 0; i < count; ++i) ++part.leaves[at(leaves[at(i)])], --rest.leaves[at(leaves[at(i)])];
  return lacking == 0;
}

/// A choice of nodes with `size` sends in all, moved from `nodes` to the result; nothing if the choice fails. Nodes with
/// few sends are preferred, more or less strictly: on a circle their items overlap most, and this one has more balls.
std::optional<std::vector<Node>> choose(std::vector<Node>& nodes, int size, Random& random) {
  const int noise = 1 << random.below(5);
  std::vector<std::pair<int, Node>> order;
  for (const Node& node : nodes) order.emplace_back(16 * node.r + random.below(16 * noise), node);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Node> chosen;
  nodes.clear();
  for (const auto& [key, node] : order) {
    if (node.r <= size) {
      size -= node.r;
      chosen.push_back(node);
    } else {
      nodes.push_back(node);
    }
  }
  return size == 0 ? std::optional(std::move(chosen)) : std::nullopt;
}

/// The others as one group with kappa balls for each rank and one of `more` ranks with one ball more each.
std::optional<std::vector<Group>> arrange_others(Tree tree, int L, int kappa, int more, std::int64_t moves,
                                                 Random& random) {
  if (more > L) {
    std::vector<Ring> rings;
    auto part = choose(tree.internal, more, random);
    if (!part) return std::nullopt;
    rings.push_back({std::move(*part), kappa + 1});
    if (!tree.internal.empty()) rings.push_back({tree.internal, kappa});
    return arrange_on_rings(rings, tree.leaves, moves, random);
  }
  Tree part;
  std::vector<Group> groups;
  if (more > 0) {  // a circle smaller than some heights: its leaves must be chosen before
    if (!split(tree, part, more, std::int64_t{kappa + 1} * more, random)) return std::nullopt;
    auto group = arrange_on_circle(part, L, moves, random, false);
    if (!group) return std::nullopt;
    groups.push_back(std::move(*group));
  }
  if (sends(tree) > 0) {
    auto group = arrange_on_rings({{tree.internal, kappa}}, tree.leaves, moves, random);
    if (!group) return std::nullopt;
    groups.push_back(std::move(group->front()));
  }
  return groups;
}

/// The others' colours: early ones along the trees, those of the last L steps permuted within each role so that no step
/// has more of a colour than the trees bring.
class LateColours {
 public:
  LateColours(const std::vector<Group>& groups, int L, int D, int kappa, Random& random)
      : kappa_(kappa), random_(random), surplus_(at(D) * at(kappa), 0) {
    const auto chi = tree_colours(L, kappa, D);
    for (const Group& group : groups) {
      for (int b = 0; b < group.size(); ++b) add_role(group, b, L, D, chi);
    }
  }

  bool anneal(std::int64_t moves) {
    if (!possible_) return false;
    std::vector<std::size_t> movable;
    for (std::size_t q = 0; q < roles_.size(); ++q) {
      const Role& role = roles_[q];
      for (std::size_t i = at(role.early); i < role.steps.size(); ++i) add(role.steps[i], role.colours[i], 1);
      if (static_cast<int>(role.steps.size()) - role.early >= 2) movable.push_back(q);
    }
    for (int s : surplus_) cost_ += std::max(0, s);
    for (std::int64_t i = 0; i < moves && cost_ > 0 && !movable.empty(); ++i) {
      Role& role = roles_[movable[at(random_.below(static_cast<int>(movable.size())))]];
      const int late = static_cast<int>(role.steps.size()) - role.early;
      const auto x = at(role.early + random_.below(late));
      const auto y = at(role.early + random_.below(late));
      if (x == y) continue;
      const int change = exchange(role, x, y);
      const double temperature = 0.5 - 0.3 * static_cast<double>(i) / static_cast<double>(moves);
      if (accept(change, temperature, random_)) {
        cost_ += change;
      } else {
        exchange(role, x, y);
      }
    }
    return cost_ == 0;
  }

  void append_to(Kernel& kernel) const {
    for (const Role& role : roles_) kernel.colours.push_back(role.colours);
  }

 private:
  struct Role {
    std::vector<int> steps;
    std::vector<std::int8_t> colours;  ///< kNone: it has that colour already, or needs none
    int early = 0;
  };

  void add_role(const Group& group, int b, int L, int D, const std::vector<std::int8_t>& chi) {
    Role role{free_receptions(group, D, b), {}, 0};
    std::vector<char> has(at(kappa_), 0);
    for (int tau : role.steps) {
      const int colour = chi[at(tau - D + group.H[at((b + tau) % group.size())])];
      if (tau < D - L) {
        role.colours.push_back(static_cast<std::int8_t>(has[at(colour)] != 0 ? kNone : colour));
        has[at(colour)] = 1;
        ++role.early;
      } else {
        --surplus_[cell(tau, colour)];
      }
    }
    for (int c = 0; c < kappa_; ++c) {
      if (has[at(c)] == 0) role.colours.push_back(static_cast<std::int8_t>(c));
    }
    if (role.colours.size() > role.steps.size()) possible_ = false;
    role.colours.resize(role.steps.size(), kNone);
    roles_.push_back(std::move(role));
  }

  std::size_t cell(int step, int colour) const { return at(step) * at(kappa_) + at(colour); }

  int add(int step, int colour, int by) {
    if (colour == kNone) return 0;
    int& s = surplus_[cell(step, colour)];
    const int before = std::max(0, s);
    s += by;
    return std::max(0, s) - before;
  }

  int exchange(Role& role, std::size_t x, std::size_t y) {
    int change = add(role.steps[x], role.colours[x], -1) + add(role.steps[y], role.colours[y], -1);
    std::swap(role.colours[x], role.colours[y]);
    change += add(role.steps[x], role.colours[x], 1) + add(role.steps[y], role.colours[y], 1);
    return change;
  }

  int kappa_;
  Random& random_;
  bool possible_ = true;
  std::vector<Role> roles_;
  std::vector<int> surplus_;  ///< late receptions of a colour in a step, above what the trees bring
  int cost_ = 0;
};

}  // namespace

std::pair<int, int> base_processors(int L, int more) {
  plan::Growth f(L, 1);
  for (int D = 2 * L;; ++D) {  // receivers f_{D-1}+1 .. f_D
    f.extend_to(D);
    const auto kappa = static_cast<int>(count(f(D), L).k_star);
    if (kappa >= L || kappa < 1) continue;
    if (f.at_label(D - kappa) < root_group_size(L, D) - (L - 1 - kappa)) continue;
    f.extend_to(D + L + more - 1);
    return {static_cast<int>(f(D - 1)) + 2, static_cast<int>(f(D + L + more - 1)) + 1};
  }
}

std::optional<Kernel> search_special(std::int64_t M, std::int64_t L, std::int64_t attempts, std::uint64_t seed) {
  const Counting counting = count(M, L);
  if (!may_be_special(counting)) return std::nullopt;
  const auto latency = static_cast<int>(L);
  const Shape shape = shape_of(counting, 0);
  for (std::int64_t attempt = 0; attempt < attempts; ++attempt) {
    Random random(seed + 0x100000001b3ULL * static_cast<std::uint64_t>(M * 64 + L) +
                  0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(attempt + 1));
    auto tree = random_tree(counting, 0, 0, random, true);
    if (!tree || !balanced(*tree, static_cast<int>(M), latency, shape.kappa)) continue;
    if (!take_frame(*tree, latency, shape.kappa)) continue;
    const auto more = static_cast<int>(counting.slack) - root_group_size(latency, shape.D);
    const auto others = arrange_others(*tree, latency, shape.kappa, more, 2000 * (M + 1), random);
    if (!others) continue;
    LateColours late(*others, latency, shape.D, shape.kappa, random);
    if (!late.anneal(20000 + 200 * M * shape.kappa)) continue;
    Kernel kernel = special_frame(static_cast<int>(M), latency, shape.D, shape.kappa);
    kernel.groups.insert(kernel.groups.end(), others->begin(), others->end());
    late.append_to(kernel);
    return kernel;
  }
  return std::nullopt;
}

}  // namespace chasqui::forge
