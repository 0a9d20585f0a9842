// SPDX-License-Identifier: MIT
// The memory of the other processes of a node, where the operating system lets one read and write it: long data then
// travels in one copy instead of two. Every call asks the kernel, which locks what it touches, so it pays for long data
// whose pages few ranks want at the same time (docs/laboratory/memory.md).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "chasqui/model/problem.hpp"
#include "run/board/lent_pages.hpp"

namespace chasqui::run {

class NodeRanks;

/// Shorter blocks of a gather or scatter lie in few page tables, where ranks that come for pages take turns: the root serves
/// every other rank over the board meanwhile, (ranks - 1) / 2 of them.
inline constexpr std::size_t kServedBelow = 512 * 1024;

/// One rank's access to the memory of the ranks on its board; ranks are those of the board.
class ProcessMemory {
 public:
  virtual ~ProcessMemory() = default;
  /// `from` is an address of that rank. Throws Error if the rank is gone or has no such memory.
  virtual void read(int rank, void* to, const void* from, std::size_t bytes) = 0;
  /// `to` is an address of that rank. Throws Error likewise.
  virtual void write(int rank, void* to, const void* from, std::size_t bytes) = 0;

  /// What errors call them, where not by their places on the board.
  void name_ranks(std::vector<int> names) { names_ = std::move(names); }

  /// Pages that they lend each other; nullptr: they do not.
  LentPages* lent() const { return lent_.get(); }
  void lend_by(std::shared_ptr<LentPages> pages) { lent_ = std::move(pages); }

 protected:
  int name(int rank) const { return names_.empty() ? rank : names_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<int> names_;
  std::shared_ptr<LentPages> lent_;
};

/// Of these processes: rank r's is processes[r]. What has ended stays so, whoever has its number then. nullptr where the
/// kernel cannot tell (before Linux 5.3).
std::shared_ptr<ProcessMemory> memory_of(const std::vector<int>& processes);

/// Collective over all nodes. nullptr on every rank unless each has read a word of the memory of each other on its node and
/// written one: it may be forbidden (ptrace scope, containers, another user), and a number of a process may mean another
/// one elsewhere. Also nullptr where `wanted` is false on any rank, or CHASQUI_REACH is 0.
std::shared_ptr<ProcessMemory> open_process_memory(NodeRanks& node, bool wanted);

/// Does cross_memory() know this collective? Not a broadcast: all want the same
/// pages at once, and each page is looked up by one rank at a time.
constexpr bool crosses_memory(Kind kind) {
  return kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::allgather || kind == Kind::gather ||
         kind == Kind::scatter || kind == Kind::alltoall || kind == Kind::reduce_scatter;
}

/// Does cross_memory() lend the pages of blocks of so many bytes, where they can be lent? Not to few ranks, who hardly wait for each other at a
/// table of pages, nor of longer blocks, of which a pipe holds too little (docs/laboratory/all-to-all.md, "Pages that are lent").
constexpr bool lends_pages(Kind kind, std::size_t bytes, int ranks) {
  return kind == Kind::alltoall && ranks > 4 && bytes < 128 * 1024;
}

/// The pipes by which it does; nullptr: it does not.
inline LentPages* lent_for(const ProcessMemory& memory, Kind kind, std::size_t bytes, int ranks) {
  return lends_pages(kind, bytes, ranks) ? memory.lent() : nullptr;
}

}  // namespace chasqui::run
