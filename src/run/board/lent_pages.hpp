// SPDX-License-Identifier: MIT
// Pages that the processes of a node lend each other. Each pair of ranks has a pipe in either direction: the lender puts pages of its memory
// into it without a copy, the reader copies out of them. One copy in all, as when a process reads another's memory, but a rank looks up pages of
// its own, so nobody waits for another at a table of pages (docs/laboratory/all-to-all.md, "Pages that are lent").
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace chasqui::run {

class NodeRanks;

/// One rank's pipes, on a board that spans all ranks.
class LentPages {
 public:
  /// Descriptors of pipes that block nobody, which this object closes: to_rank[r] leads to rank r, and can be read, too. -1: there is none.
  explicit LentPages(std::vector<int> to_rank) : to_rank_(std::move(to_rank)), from_rank_(to_rank_.size(), -1) {}
  ~LentPages();
  LentPages(const LentPages&) = delete;
  LentPages& operator=(const LentPages&) = delete;

  /// What rank `lender` lends comes out of this one.
  void hear_from(int lender, int file) { from_rank_[static_cast<std::size_t>(lender)] = file; }

  /// Lends as much of it as there is room for, and says how many bytes. They stay as they are until `reader` has taken them. Throws Error if
  /// there is no such memory.
  std::size_t lend(int reader, const std::byte* from, std::size_t bytes);
  /// Takes what is there, at most so many bytes, and says how many. Throws Error if the lender has ended.
  std::size_t take(int lender, std::byte* to, std::size_t bytes);
  /// Nobody can take any more what this rank has lent.
  void take_back();

 private:
  std::vector<int> to_rank_, from_rank_;
};

/// What this rank lends in a call: taken back if it leaves before all have taken it.
class Loan {
 public:
  Loan() = default;
  ~Loan() {
    if (pages_ != nullptr) pages_->take_back();
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  void begin(LentPages* pages) { pages_ = pages; }  ///< nullptr: it lends nothing
  void all_have_taken() { pages_ = nullptr; }

 private:
  LentPages* pages_ = nullptr;
};

/// Collective over all nodes. nullptr on every rank unless each has taken a word of each other on its node, all have descriptors
/// to spare, and pipes hold enough pages. Also nullptr where `wanted` is false on any rank, or CHASQUI_LEND is 0.
std::shared_ptr<LentPages> open_lent_pages(NodeRanks& node, bool wanted);

}  // namespace chasqui::run
