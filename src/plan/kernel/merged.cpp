// SPDX-License-Identifier: MIT
#include "plan/kernel/merged.hpp"

#include <string_view>

#include "plan/kernel/codec.hpp"
#include "plan/kernel/special.hpp"

namespace chasqui::plan::kernel {

/// Generated at build time from data/kernel_bases.txt.
extern const char* const kBaseKernels[];
extern const unsigned kBaseKernelChunks;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The special kernels of one latency and one kappa, level by level.
class Family {
 public:
  Family(std::int64_t L, std::int64_t kappa, std::int64_t top) : L_(L), members_(at(top) + 1) {
    for (const TableLine& line : shipped_bases()) {
      if (line.L != L) continue;
      const Counting counting = count(line.P - 1, L);
      if (counting.k_star != kappa || counting.n + 1 > top) continue;
      add(counting.n + 1, line.P - 1);
      bases_.push_back(line);
    }
    for (std::int64_t level = L; level < top; ++level) {
      for (std::int64_t a : members_[at(level - 1)].list) {
        for (std::int64_t b : members_[at(level - L)].list) add(level, a + b);
      }
    }
  }

  std::optional<Kernel> make(std::int64_t level, std::int64_t M) const {
    for (const TableLine& line : bases_) {
      if (line.P == M + 1) return decode(line.text, static_cast<int>(M), static_cast<int>(L_), "shipped bases");
    }
    if (level < L_) return std::nullopt;
    for (std::int64_t a : members_[at(level - 1)].list) {
      if (a >= M || !has(level - L_, M - a)) continue;
      const auto above = make(level - 1, a);
      const auto below = make(level - L_, M - a);
      if (above && below) return merge(*above, *below);
    }
    return std::nullopt;
  }

 private:
  struct Level {
    std::vector<std::int64_t> list;
    std::vector<char> has;
  };

  bool has(std::int64_t level, std::int64_t M) const {
    const Level& members = members_[at(level)];
    return at(M) < members.has.size() && members.has[at(M)] != 0;
  }

  void add(std::int64_t level, std::int64_t M) {
    if (has(level, M)) return;
    Level& members = members_[at(level)];
    if (at(M) >= members.has.size()) members.has.resize(at(M) + 1, 0);
    members.has[at(M)] = 1;
    members.list.push_back(M);
  }

  std::int64_t L_;
  std::vector<Level> members_;
  std::vector<TableLine> bases_;
};

}  // namespace

const std::vector<TableLine>& shipped_bases() {
  static const std::vector<TableLine> table = [] {
    std::vector<TableLine> all;
    for (unsigned i = 0; i < kBaseKernelChunks; ++i) {
      const std::vector<TableLine> lines = parse_table(kBaseKernels[i], "shipped bases");
      all.insert(all.end(), lines.begin(), lines.end());
    }
    return all;
  }();
  return table;
}

std::optional<Kernel> merged_kernel(std::int64_t M, std::int64_t L) {
  if (M < 1 || M > kMergedReceivers || L < 1) return std::nullopt;
  const Counting counting = count(M, L);
  if (!may_be_special(counting)) return std::nullopt;
  return Family(L, counting.k_star, counting.n + 1).make(counting.n + 1, M);
}

}  // namespace chasqui::plan::kernel
