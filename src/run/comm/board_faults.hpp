// SPDX-License-Identifier: MIT
// A board as a channel for failures.
#pragma once

#include "run/board/board.hpp"
#include "run/faults/fault_channel.hpp"

namespace chasqui::run {

class BoardFaults final : public FaultChannel {
 public:
  explicit BoardFaults(Board* board) : board_(board) {}

  /// Nobody uses this rank's buffers afterwards.
  void report(std::uint64_t first, std::uint64_t last, const std::string& why) override {
    board_->report(first, last, why);
    board_->buffers().withdraw();
  }
  void refuse(std::uint64_t number, const std::string&) override { board_->notice().refuse(number); }
  bool failed(std::uint64_t number, const std::vector<std::uint64_t>& own) override {
    return board_->notice().failed(number, own);
  }
  bool broken() const override { return board_->notice().broken(); }
  std::string failure() const override { return board_->notice().why(); }
  void compare_calls(std::uint64_t& seen) const override { board_->compare_calls(seen); }

 private:
  Board* board_;
};

}  // namespace chasqui::run
