// SPDX-License-Identifier: MIT
#include "plan/kernel/merge.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "plan/growth.hpp"
#include "plan/kernel/codec.hpp"

namespace chasqui::plan {
namespace kernel {

/// Generated at build time from data/kernel_bases.txt.
extern const char* const kBaseKernels[];
extern const unsigned kBaseKernelChunks;

namespace {

Group root_group(int L, int D, int kappa) {
  const int m = root_group_size(L, D);
  Group group{std::vector<std::int16_t>(at(m), static_cast<std::int16_t>(kappa)),
              std::vector<std::int16_t>(at(m), kNone)};
  group.H[0] = static_cast<std::int16_t>(D);
  for (int x = 1; x <= L - 1 - kappa; ++x) group.H[at(x)] = static_cast<std::int16_t>(kappa - 1);
  for (int a = L; a <= D; ++a) group.S[at(a % m)] = static_cast<std::int16_t>(D - a);
  return group;
}

/// A role's colours as the trees bring them; a colour it has already is left out.
std::vector<std::int8_t> natural_colours(const Group& group, int D, int role, const std::vector<std::int8_t>& chi) {
  std::vector<std::int8_t> colours;
  for (int tau : free_receptions(group, D, role)) {
    const std::int8_t colour = chi[at(tau - D + group.H[at((role + tau) % group.size())])];
    const bool has = std::find(colours.begin(), colours.end(), colour) != colours.end();
    colours.push_back(has ? static_cast<std::int8_t>(kNone) : colour);
  }
  return colours;
}

/// Appends groups first .. of `from`, whose window begins `shift` steps later than the new one.
void append_groups(Kernel& kernel, const Kernel& from, std::size_t first, int shift) {
  std::size_t role = 0;
  for (std::size_t g = 0; g < from.groups.size(); ++g) {
    const Group& group = from.groups[g];
    const int m = group.size();
    if (g >= first) {
      kernel.groups.push_back(group);
      for (int b = 0; b < m; ++b) kernel.colours.push_back(from.colours[role + at((b + shift) % m)]);
    }
    role += at(m);
  }
}

/// A set of numbers of receivers.
class Members {
 public:
  bool has(std::int64_t M) const { return M >= 0 && M < size() && (bits_[at(M / 64)] >> (M % 64) & 1U) != 0; }
  std::int64_t size() const { return 64 * static_cast<std::int64_t>(bits_.size()); }

  void add(std::int64_t M) {
    if (M >= size()) bits_.resize(at(M / 64) + 1, 0);
    bits_[at(M / 64)] |= std::uint64_t{1} << (M % 64);
  }

  /// All a + M with a in `others`, as far as they are at most `most`. Time: O(size / 64).
  void add_shifted(const Members& others, std::int64_t M, std::int64_t most) {
    if (others.bits_.empty() || M > most) return;
    bits_.resize(std::max(bits_.size(), at(most / 64) + 1), 0);
    for (std::size_t i = 0; i < others.bits_.size(); ++i) {
      const std::size_t to = i + at(M / 64);
      if (to < bits_.size()) bits_[to] |= others.bits_[i] << (M % 64);
      if (M % 64 != 0 && to + 1 < bits_.size()) bits_[to + 1] |= others.bits_[i] >> (64 - M % 64);
    }
  }

 private:
  std::vector<std::uint64_t> bits_;
};

/// The special kernels of one latency and one kappa, level by level.
class Family {
 public:
  Family(std::int64_t L, std::int64_t kappa, std::int64_t top, std::int64_t most) : L_(L), members_(at(top) + 1) {
    for (const TableLine& line : shipped_bases()) {
      if (line.L != L || line.P - 1 > most) continue;
      const Counting counting = count(line.P - 1, L);
      if (counting.k_star != kappa || counting.n + 1 > top) continue;
      members_[at(counting.n + 1)].add(line.P - 1);
      bases_.push_back(line);
    }
    for (std::int64_t level = L; level <= top; ++level) {
      const Members& below = members_[at(level - L)];
      for (std::int64_t b = 1; b < below.size(); ++b) {
        if (below.has(b)) members_[at(level)].add_shifted(members_[at(level - 1)], b, most);
      }
    }
  }

  bool has(std::int64_t level, std::int64_t M) const { return members_[at(level)].has(M); }
  std::int64_t bases(std::int64_t first, std::int64_t last) const {
    return std::count_if(bases_.begin(), bases_.end(),
                         [&](const TableLine& line) { return line.P - 1 >= first && line.P - 1 <= last; });
  }

  /// REQUIRES has(level, M).
  Kernel make(std::int64_t level, std::int64_t M) const {
    for (const TableLine& line : bases_) {
      if (line.P == M + 1) return decode(line.text, static_cast<int>(M), static_cast<int>(L_), "shipped bases");
    }
    for (std::int64_t b = 1; b < M; ++b) {
      if (has(level - L_, b) && has(level - 1, M - b)) return merge(make(level - 1, M - b), make(level - L_, b));
    }
    throw Error("merged kernels: M={} L={} is not reached", M, L_);
  }

 private:
  std::int64_t L_;
  std::vector<Members> members_;
  std::vector<TableLine> bases_;
};

}  // namespace

std::vector<std::int8_t> tree_colours(int L, int kappa, int length) {
  constexpr std::int64_t kWeight = std::int64_t{1} << 48;  // of the first item, at least
  constexpr std::int64_t kEqual = std::int64_t{1} << 12;
  const Growth f(L, kWeight);
  std::vector<std::int64_t> share(at(kappa), 0);
  std::vector<std::int8_t> chi;
  for (int a = 0; a < length; ++a) {
    int colour = std::min(a, kappa - 1);
    if (a > L - 2) {
      const std::int64_t least = *std::min_element(share.begin(), share.end());
      for (colour = kappa - 1; share[at(colour)] > least + kEqual;) --colour;
      if (L == 3 && kappa == 2 && a == 7) colour = 0;  // as the shipped bases have it
    }
    share[at(colour)] += f(f.last() - a);
    chi.push_back(static_cast<std::int8_t>(colour));
  }
  return chi;
}

bool may_be_special(const Counting& c) {
  const std::int64_t m = c.n + 2 - c.L;
  return c.k_star >= 1 && c.k_star < c.L && m >= c.L - c.k_star && c.slack >= m && c.M > m + 1;
}

Kernel special_frame(int M, int L, int D, int kappa) {
  const auto chi = tree_colours(L, kappa, D);
  Kernel kernel{M, L, 0, {{{static_cast<std::int16_t>(kappa)}, {kNone}}, root_group(L, D, kappa)}, {}};
  for (const Group& group : kernel.groups) {
    for (int b = 0; b < group.size(); ++b) kernel.colours.push_back(natural_colours(group, D, b, chi));
  }
  return kernel;
}

Kernel merge(const Kernel& a, const Kernel& b) {
  const Shape of_a = shape_of(count(a.M, a.L), 0);
  const Shape of_b = shape_of(count(b.M, b.L), 0);
  const int D = of_a.D + 1;
  CHASQUI_CHECK(a.L == b.L && of_a.kappa == of_b.kappa && of_b.D == D - a.L, "levels {} and {}", of_a.D, of_b.D);
  Kernel kernel = special_frame(a.M + b.M, a.L, D, of_a.kappa);
  append_groups(kernel, a, kRootGroup + 1, 1);
  append_groups(kernel, b, kRootGroup, a.L);
  return kernel;
}

const std::vector<TableLine>& shipped_bases() {
  static const std::vector<TableLine> table = parse_chunks(kBaseKernels, kBaseKernelChunks, "shipped bases");
  return table;
}

std::optional<Kernel> merged_kernel(std::int64_t M, std::int64_t L) {
  if (M < 1 || M > kMergedReceivers || L < 1) return std::nullopt;
  const Counting counting = count(M, L);
  if (!may_be_special(counting)) return std::nullopt;
  const std::int64_t level = counting.n + 1;
  const Family family(L, counting.k_star, level, M);
  return family.has(level, M) ? std::optional(family.make(level, M)) : std::nullopt;
}

}  // namespace kernel

std::vector<MergedLevel> merged_coverage(std::int64_t L, std::int64_t most) {
  const kernel::Counting counting = kernel::count(most, L);
  const std::int64_t top = counting.n + 1;
  std::vector<kernel::Family> families;
  for (std::int64_t kappa = 1; kappa < L; ++kappa) families.emplace_back(L, kappa, top, most);
  std::vector<MergedLevel> levels;
  for (std::int64_t level = L; level <= top; ++level) {
    MergedLevel row{level, counting.f(level - 1) + 1, counting.f(level), 0, 0};
    if (row.last > most) break;
    for (std::size_t i = 0; i < families.size(); ++i) {
      row.bases += families[i].bases(row.first, row.last);
      for (std::int64_t M = row.first; M <= row.last; ++M) {
        const auto kappa = static_cast<std::int64_t>(i) + 1;
        if (families[i].has(level, M) && kernel::count(M, L).k_star == kappa) ++row.reached;
      }
    }
    if (row.bases > 0 || !levels.empty()) levels.push_back(row);
  }
  return levels;
}

}  // namespace chasqui::plan
