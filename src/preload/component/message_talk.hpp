// SPDX-License-Identifier: MIT
// Ranks that make something together, by messages, in a fiber that suspends where it would wait.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mpi/together.hpp"
#include "preload/component/fiber.hpp"

namespace chasqui::preload {

/// Time: one round of messages for each doubling of the ranks.
class MessageTalk final : public mpi::Talk {
 public:
  /// places: in `comm`, of each rank. Nobody else there uses the tag at the same time.
  MessageTalk(MPI_Comm comm, const std::vector<int>& places, int rank, int tag, Fiber& fiber);

  void least(int (&numbers)[2]) override;
  void tell(int root, void* data, std::size_t bytes) override;
  void gather(const void* mine, std::size_t bytes, void* everyones) override;

  /// Would the fiber go on if it were resumed?
  bool goes_on() const;

 private:
  struct Trade;
  void trade(const void* give, int to, void* take, int from, std::size_t bytes);

  MPI_Comm comm_;
  const std::vector<int>& places_;
  int tag_;
  Fiber& fiber_;
  const Trade* waiting_ = nullptr;
};

}  // namespace chasqui::preload
