// SPDX-License-Identifier: MIT
// Plays a program over point-to-point messages; everything that goes by messages goes through here. Between the wake-up
// of a rank and its first message lies nothing but one loop: where latency counts, every line of memory that planning
// touches would be paid again each call.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "chasqui/run/call.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/messages/program.hpp"
#include "run/messages/transport.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

/// Memory of one playing, which may serve the next one.
struct Scratch {
  std::vector<Transport::Ticket> tickets;
  AlignedBuffer memory;

  /// Makes it large enough; nothing happens where it is.
  void fit(const Program& program);
};

/// The caller's memory.
struct Buffers {
  const void* input = nullptr;
  void* output = nullptr;
};
/// What a program reads and writes in a call. REQUIRES a contiguous layout.
Buffers buffers_of(const Call& call, int rank);

class Player final : public Waiting {
 public:
  /// All but the buffers' addresses must outlive this object. The scratch memory serves one player at a time, and fits.
  Player(const Program& program, const Group& group, Buffers buffers, const Operator& op, Scratch& scratch);
  /// Messages that are still under way are abandoned.
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// Goes on as far as it can; true at the end, and once at each step on the board.
  bool ready() override {
    const auto before = std::pair(next_, ended_);
    const bool stops = go_on();
    // Where waiting blocks, who has moved would look once more before it does, and a look takes time that nothing fills.
    if (before != std::pair(next_, ended_) && !group_.timing.blocks) ++moved_;
    return stops;
  }
  void block() override;
  std::byte* at(Address address) const { return buffers_[static_cast<std::size_t>(address.memory)] + address.offset; }

 private:
  bool go_on();
  bool done(std::size_t ticket);
  bool sent(std::size_t tickets);
  void look_at_sends();
  bool past(double time);

  const Instruction* next_;
  const Instruction* end_;
  const double* times_;
  Transport& transport_;
  const Group& group_;
  const Operator& op_;
  Transport::Ticket* tickets_;  ///< of the posts, then of the sends, each in their order
  std::byte* buffers_[3];       ///< by Memory
  std::size_t posted_ = 0;      ///< tickets given out to posts
  std::size_t begun_;           ///< tickets given out, counted as if all posts had theirs
  std::size_t ended_;           ///< sends that are done with, counted alike
  std::size_t waits_ = 0;       ///< ticket
  double origin_ = 0;           ///< when the plan's time 0 was, on the group's clock
  double until_ = 0;            ///< what pause waits for; 0: a ticket is waited for
};

/// Plays a program as a task, with scratch memory of its own.
Task play(Group group, std::shared_ptr<const Program> program, Buffers buffers, Operator op);

}  // namespace chasqui::run
