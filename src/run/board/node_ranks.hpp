// SPDX-License-Identifier: MIT
// The ranks of this rank's node while they come together: what they say to each other before there is a board. All ranks
// of all nodes ask alike.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace chasqui::run {

class NodeRanks {
 public:
  NodeRanks(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~NodeRanks() = default;
  NodeRanks(const NodeRanks&) = delete;
  NodeRanks& operator=(const NodeRanks&) = delete;

  int rank() const { return rank_; }  ///< among the ranks of the node
  int size() const { return size_; }

  /// The largest that any rank says, on whatever node. Collective over all nodes, as is all of the following.
  virtual int most(int mine) = 0;
  /// Memory that the ranks of the node share and nobody else can open: `bytes` of it, all reserved, so that none is missing
  /// when it is touched first. A descriptor, to be closed; -1 where there is none. `bytes` counts at rank 0, and is 0 where
  /// there shall be none.
  virtual int open_memory(std::size_t bytes) = 0;
  /// Bytes that a board may take.
  virtual std::size_t free_memory() const = 0;

  bool agreed(bool mine) { return most(mine ? 0 : 1) == 0; }  ///< do all say yes, on every node?
  /// What each of the node says, `count` values from everybody.
  template <typename T>
  std::vector<T> gather(const T* mine, std::size_t count = 1) {
    std::vector<T> all(count * static_cast<std::size_t>(size_));
    gather_bytes(mine, count * sizeof(T), all.data());
    return all;
  }

 private:
  virtual void gather_bytes(const void* mine, std::size_t bytes, void* all) = 0;

  int rank_, size_;
};

}  // namespace chasqui::run
